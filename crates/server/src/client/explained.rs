//! `baton explain` texts for client errors.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::client::ClientError;

explained! { ClientError {
    Self::Unreachable(_) => Explanation {
        code: "server_unreachable",
        means: "A server is registered for this repository, but does not accept connections.",
        cause: "It is shutting down or overloaded, or something blocks the connection.",
        next: "Check the output of `baton up`; restart it if it is gone.",
    },
    Self::Broken(_) => Explanation {
        code: "connection_broken",
        means: "The connection broke before the response was complete; the request may or may not have been executed.",
        cause: "The server was stopped or killed at that moment.",
        next: "Check whether it was done (`baton task list`), then retry.",
    },
    Self::Silent(_) => Explanation {
        code: "server_silent",
        means: "The server accepted the request but did not respond in time.",
        cause: "It hangs, or the machine is overloaded.",
        next: "Check the output of `baton up`; restart it if it hangs. Nothing is lost.",
    },
    Self::Garbled(_) => Explanation {
        code: "garbled_answer",
        means: "The server's response is not what this version of Baton expects.",
        cause: "The server and the command have different versions.",
        next: "Restart it with this version: `baton up`.",
    },
} else {
    Self::Refused(refusal) => refusal.error.explained(),
} }
