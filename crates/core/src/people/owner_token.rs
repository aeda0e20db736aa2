//! The owner of an ask cycle, identified by a digest of its attempt's secret.
//!
//! The secret itself never enters core: it is digested where it is issued. The digest is compared and stored, and
//! never logged.

use std::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// The 32-byte digest of an attempt's secret. I6: only its holder may ask in the cycle it owns.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OwnerToken([u8; OwnerToken::BYTES]);

/// A text that is not a token. It is not quoted back, because it may be a misplaced secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an owner token is 64 lower-case hex digits, and this text is not; pass the digest of the secret")]
pub struct InvalidOwnerToken;

impl OwnerToken {
    pub const BYTES: usize = 32;

    pub const fn from_digest(digest: [u8; Self::BYTES]) -> Self {
        Self(digest)
    }
}

impl PartialEq for OwnerToken {
    /// In constant time, so that timing reveals nothing.
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for OwnerToken {}

impl fmt::Debug for OwnerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnerToken(..)")
    }
}

impl TryFrom<String> for OwnerToken {
    type Error = InvalidOwnerToken;

    fn try_from(hex: String) -> Result<Self, InvalidOwnerToken> {
        let digits = hex.as_bytes();
        if digits.len() != Self::BYTES * 2 {
            return Err(InvalidOwnerToken);
        }
        let mut digest = [0u8; Self::BYTES];
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            for digit in pair {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return Err(InvalidOwnerToken),
                };
                *byte = (*byte << 4) | value;
            }
        }
        Ok(Self(digest))
    }
}

impl From<OwnerToken> for String {
    fn from(token: OwnerToken) -> String {
        const DIGITS: [char; 16] =
            ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        token.0.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_token_is_not_logged() {
        assert_eq!(format!("{:?}", OwnerToken::from_digest([0xab; 32])), "OwnerToken(..)");
    }

    #[test]
    fn a_text_that_is_not_a_digest_is_rejected_and_not_quoted() {
        for bad in ["", "hunter2", &"g".repeat(64), &"A".repeat(64), &"a".repeat(63), &"ä".repeat(32)] {
            let refusal = OwnerToken::try_from((*bad).to_owned()).unwrap_err();
            assert!(!refusal.to_string().contains("hunter2"), "{refusal}");
        }
    }

    proptest! {
        #[test]
        fn a_token_round_trips(digest: [u8; 32]) {
            let token = OwnerToken::from_digest(digest);
            let json = serde_json::to_string(&token).unwrap();
            prop_assert_eq!(json.len(), 66);
            prop_assert_eq!(serde_json::from_str::<OwnerToken>(&json).unwrap(), token);
        }

        #[test]
        fn one_different_bit_is_another_owner(digest: [u8; 32], byte in 0usize..32, bit in 0u8..8) {
            let mut other = digest;
            other[byte] ^= 1 << bit;
            prop_assert_ne!(OwnerToken::from_digest(digest), OwnerToken::from_digest(other));
        }
    }
}
