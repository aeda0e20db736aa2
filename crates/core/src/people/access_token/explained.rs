//! Why somebody got no token, explained.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::people::access_token::TokenRefusal;

explained! { TokenRefusal {
    Self::Taken(_) => Explanation {
        code: "token_taken",
        means: "There is a good token under this name already.",
        cause: "A name has one token at most, so that what is recorded under it was done by one person.",
        next: "Choose another name, or end the old one first: `baton token revoke NAME`.",
    },
    Self::Over(_) => Explanation {
        code: "token_over",
        means: "The token would have ended before anybody could use it.",
        cause: "The end that was asked for lies in the past.",
        next: "Choose a later end, or none: `baton token create NAME --role viewer`.",
    },
    Self::TooMany(_) => Explanation {
        code: "too_many_tokens",
        means: "No more names can be given a token.",
        cause: "Every name that ever had one is kept, so that the history can be read; there is a limit to them.",
        next: "Use a name whose token is over again; `baton token list` shows them.",
    },
} }
