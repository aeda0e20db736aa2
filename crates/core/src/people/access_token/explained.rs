//! Explanations of token refusals.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::people::access_token::TokenRefusal;

explained! { TokenRefusal {
    Self::Taken(_) => Explanation {
        code: "token_taken",
        means: "This name already has a valid token.",
        cause: "A name has at most one token, so that everything recorded under it was done by one person.",
        next: "Choose another name, or revoke the old token first.",
    },
    Self::Over(_) => Explanation {
        code: "token_over",
        means: "The token would have expired before anybody could use it.",
        cause: "The requested expiry is in the past.",
        next: "Choose a later expiry, or none.",
    },
    Self::TooMany(_) => Explanation {
        code: "too_many_tokens",
        means: "No more names can get a token.",
        cause: "Every name that ever had a token is kept, so that the history stays readable, and their number is limited.",
        next: "Reuse a name whose token has expired or was revoked.",
    },
} }
