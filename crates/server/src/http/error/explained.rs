//! The codes of the API, explained.

use baton_core::explained;
use baton_core::explanation::Explanation;

use crate::http::error::Code;

explained! { Code {
    Self::InvalidInput => Explanation {
        code: "INVALID_INPUT",
        means: "400: the request itself is wrong; sending it again unchanged does not help.",
        cause: "A field is missing, unknown, blank or of another form; a parameter is none of this call; an id is \
                mistyped.",
        next: "Do what message and hint say. GET /api/openapi.json has every call with its fields and a real example.",
    },
    Self::Unauthorized => Explanation {
        code: "UNAUTHORIZED",
        means: "401: the server wants to know who asks, and the token is missing or wrong.",
        cause: "It listens for more than this machine, or a token was set.",
        next: "Send Authorization: Bearer TOKEN. The token is what BATON_SERVER_TOKEN says, else what stands in \
               <namespace>.server.json in the state folder. Pages ask for it once.",
    },
    Self::Forbidden => Explanation {
        code: "FORBIDDEN",
        means: "403: the request is understood and not allowed.",
        cause: "It comes from a page of another origin or by another name of this machine, or an agent's token wants \
                what is not its own.",
        next: "Use the address `baton up` prints. Behind a proxy, let Baton listen with a token and the proxy pass Host on as it came.",
    },
    Self::NotFound => Explanation {
        code: "NOT_FOUND",
        means: "404: there is no such call, or nothing under that id.",
        cause: "A mistyped path or id, or another namespace's.",
        next: "GET the list first; every id in it can be asked for.",
    },
    Self::MethodNotAllowed => Explanation {
        code: "METHOD_NOT_ALLOWED",
        means: "405: the path exists, but not for this method.",
        cause: "A GET where a POST is meant, or the reverse.",
        next: "GET /api/openapi.json names the methods of every path.",
    },
    Self::Conflict => Explanation {
        code: "CONFLICT",
        means: "409: the request is right, and the state of things stands in its way.",
        cause: "A merge conflict, a dependency in a circle, a key used for another message, or a rule; `reason` says which.",
        next: "Look up the reason (`baton explain REASON`), read the state anew and decide again.",
    },
    Self::InvalidStatus => Explanation {
        code: "INVALID_STATUS",
        means: "409: what you ask for is not possible in the state the task, the run or the loop is in.",
        cause: "It moved on between your reading and your asking, or the call is meant for another state.",
        next: "Read it again (GET /api/tasks/{id}); `baton explain states` says what each state allows.",
    },
    Self::AlreadyAnswered => Explanation {
        code: "ALREADY_ANSWERED",
        means: "409: the question has its answer; the first one stands.",
        cause: "Somebody else, a policy or the question's own default was faster.",
        next: "Read the question again: it says what was answered and by whom.",
    },
    Self::TooLarge => Explanation {
        code: "TOO_LARGE",
        means: "413: the body is larger than this call takes.",
        cause: "A limit on every request keeps one client from filling the memory.",
        next: "Send less; put long texts into files of the repository and name them.",
    },
    Self::TooManyRequests => Explanation {
        code: "TOO_MANY_REQUESTS",
        means: "429: as many requests are under way as the server takes at once.",
        cause: "Many clients, or one that does not wait for its answers.",
        next: "Wait as long as Retry-After says, then try again.",
    },
    Self::Internal => Explanation {
        code: "INTERNAL",
        means: "500: the request was right and Baton could not do it.",
        cause: "Git, the disk, the settings or the store are not as they should be, or Baton has a mistake; `reason` \
                says which.",
        next: "Read message, hint and reason; `baton doctor` looks at everything. Report it if nothing is wrong there.",
    },
    Self::Unavailable => Explanation {
        code: "UNAVAILABLE",
        means: "503: not now; trying again may help.",
        cause: "The store is busy, full or out of reach, git took too long, or the server is ending.",
        next: "Wait as long as Retry-After says, then try again; /api/health says what is wrong.",
    },
} }
