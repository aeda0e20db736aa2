//! The secret by which an attempt's agent authenticates.
//!
//! It contains the attempt's id, so that the attempt is found without a search, and 32 random bytes. Only its digest is
//! stored.

use std::fmt;
use std::str::FromStr;

use baton_core::base::id::AttemptId;
use baton_core::people::owner_token::OwnerToken;
use sha2::{Digest, Sha256};

use crate::base::ids::Ids;

/// The value of `BATON_TOKEN`: `<attempt>.<64 hex digits>`.
#[derive(Clone, PartialEq, Eq)]
pub struct AttemptSecret {
    attempt: AttemptId,
    text: String,
}

/// Does not quote the text, which may be another secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid attempt token; use the value of BATON_TOKEN")]
pub struct BadSecret;

/// Hex digits of the random part.
const RANDOM_CHARS: usize = 64;

impl AttemptSecret {
    pub fn draw(attempt: AttemptId) -> Self {
        Self { attempt, text: format!("{attempt}.{}", Ids::secret()) }
    }

    pub fn attempt(&self) -> AttemptId {
        self.attempt
    }

    /// For the agent's environment.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    pub fn owner(&self) -> OwnerToken {
        OwnerToken::from_digest(Sha256::digest(self.text.as_bytes()).into())
    }
}

impl FromStr for AttemptSecret {
    type Err = BadSecret;

    fn from_str(text: &str) -> Result<Self, BadSecret> {
        let (attempt, random) = text.split_once('.').ok_or(BadSecret)?;
        let is_random = random.len() == RANDOM_CHARS && random.bytes().all(|b| b.is_ascii_hexdigit());
        match attempt.parse() {
            Ok(attempt) if is_random => Ok(Self { attempt, text: text.to_owned() }),
            Ok(_) | Err(_) => Err(BadSecret),
        }
    }
}

impl fmt::Debug for AttemptSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AttemptSecret({}.…)", self.attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_round_trips_and_debug_hides_it() {
        let secret = AttemptSecret::draw(AttemptId::from_bits(7));
        let read: AttemptSecret = secret.reveal().parse().unwrap();
        assert_eq!((read.attempt(), read.owner()), (AttemptId::from_bits(7), secret.owner()));
        assert_eq!(format!("{secret:?}"), "AttemptSecret(ATT-0000000000000007.…)");
        assert_ne!(AttemptSecret::draw(AttemptId::from_bits(7)).owner(), secret.owner());
    }

    #[test]
    fn anything_else_is_refused() {
        let random = "a".repeat(64);
        for bad in [
            "",
            "x",
            &random,
            &format!("ATT-1.{random}"),
            "ATT-0000000000000007.",
            &format!("ATT-0000000000000007.{}", "g".repeat(64)),
        ] {
            assert_eq!(bad.parse::<AttemptSecret>().unwrap_err(), BadSecret);
        }
    }
}
