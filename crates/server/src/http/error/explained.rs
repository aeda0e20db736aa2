//! `baton explain` texts for the API's error codes.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::http::error::Code;

explained! { Code {
    Self::InvalidInput => Explanation {
        code: "INVALID_INPUT",
        means: "400: the request is invalid; sending it again unchanged does not help.",
        cause: "A field is missing, unknown, blank or malformed; a parameter is unknown to this call; an id is \
                mistyped.",
        next: "Follow message and hint. GET /api/openapi.json describes every call with its fields and a real example.",
    },
    Self::Unauthorized => Explanation {
        code: "UNAUTHORIZED",
        means: "401: the server needs a token, and it is missing or invalid.",
        cause: "It listens on more than loopback, or was started with a token.",
        next: "Send Authorization: Bearer TOKEN. The token is the value of BATON_SERVER_TOKEN, else it is in \
               <namespace>.server.json in the state folder. Pages ask for it once.",
    },
    Self::Forbidden => Explanation {
        code: "FORBIDDEN",
        means: "403: the request is not allowed.",
        cause: "It comes from a page of another origin, uses another name of this machine, or the token's role or \
                attempt does not allow it.",
        next: "Use the address `baton up` prints. Behind a proxy, start Baton with a token and let the proxy pass the Host header on.",
    },
    Self::NotFound => Explanation {
        code: "NOT_FOUND",
        means: "404: no such call, or no such id.",
        cause: "A mistyped path or id, or one of another namespace.",
        next: "Get the list first; it contains the valid ids.",
    },
    Self::MethodNotAllowed => Explanation {
        code: "METHOD_NOT_ALLOWED",
        means: "405: the path exists, but not for this method.",
        cause: "For example GET instead of POST.",
        next: "GET /api/openapi.json lists the methods of each path.",
    },
    Self::Conflict => Explanation {
        code: "CONFLICT",
        means: "409: the request is valid, but conflicts with the current state.",
        cause: "A merge conflict, a dependency cycle, a reused idempotency key, or a rule; `reason` says which.",
        next: "Look up the reason (`baton explain REASON`), read the current state and decide again.",
    },
    Self::InvalidStatus => Explanation {
        code: "INVALID_STATUS",
        means: "409: the task, run or loop is in a state that does not allow this.",
        cause: "It changed since you read it, or the call is meant for another state.",
        next: "Read it again (GET /api/tasks/{id}); `baton explain states` says what each state allows.",
    },
    Self::AlreadyAnswered => Explanation {
        code: "ALREADY_ANSWERED",
        means: "409: the question was already answered; the first answer counts.",
        cause: "Another person, a policy or the question's default was first.",
        next: "Read the question again: it contains the answer and who gave it.",
    },
    Self::TooLarge => Explanation {
        code: "TOO_LARGE",
        means: "413: the body is too large.",
        cause: "Every request is limited to protect the server.",
        next: "Send less; put long texts into files in the repository and refer to them.",
    },
    Self::TooManyRequests => Explanation {
        code: "TOO_MANY_REQUESTS",
        means: "429: too many requests from this address.",
        cause: "A client polls in a loop or does not wait for responses.",
        next: "Wait as long as Retry-After says, then retry.",
    },
    Self::Internal => Explanation {
        code: "INTERNAL",
        means: "500: the request is valid, but Baton failed.",
        cause: "A problem with git, the disk, the settings or the store, or a bug in Baton; `reason` \
                says which.",
        next: "Read message, hint and reason, and run `baton doctor`. Report a bug if it finds nothing.",
    },
    Self::Unavailable => Explanation {
        code: "UNAVAILABLE",
        means: "503: temporarily unavailable; retrying may help.",
        cause: "The store is busy, full or unreachable, git took too long, or the server is shutting down.",
        next: "Wait as long as Retry-After says, then retry; /api/health says what is wrong.",
    },
} }
