//! Why a command got no answer from the server, explained.

use baton_core::explained;
use baton_core::explanation::Explanation;

use crate::client::ClientError;

explained! { ClientError {
    Self::Unreachable(_) => Explanation {
        code: "server_unreachable",
        means: "A server runs for this repository, but does not take the connection.",
        cause: "It is ending or overloaded, or something stands between.",
        next: "See what `baton up` says there; start it again if it is gone.",
    },
    Self::Broken(_) => Explanation {
        code: "connection_broken",
        means: "The server broke off in the middle of its answer: what was asked may have been done or not.",
        cause: "It was ended or killed at that moment.",
        next: "See whether it was done (`baton task list`), then try again.",
    },
    Self::Silent(_) => Explanation {
        code: "server_silent",
        means: "The server took the request and gave no answer in time.",
        cause: "It hangs, or the machine is very busy.",
        next: "See what `baton up` says there; end it and start it again if it hangs. Nothing is lost by that.",
    },
    Self::Garbled(_) => Explanation {
        code: "garbled_answer",
        means: "The server's answer does not read as what this version of Baton expects.",
        cause: "The server is another version than the command.",
        next: "End it and start it again with this version: `baton up`.",
    },
} else {
    Self::Refused(refusal) => refusal.error.explained(),
} }
