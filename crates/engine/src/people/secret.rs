//! The secret of an access token, and the cookie derived from it.
//!
//! Both contain the person's name, so that the token is found without a search, and 32 random bytes. Only digests are
//! stored. The cookie is a hash of the secret, which cannot be derived from it.

use std::fmt::{self, Write};
use std::str::FromStr;

use baton_core::base::text::PersonName;
use baton_core::people::owner_token::OwnerToken;
use sha2::{Digest, Sha256};

use crate::base::ids::Ids;

/// `baton_<name>.<64 hex digits>`. Secret scanners recognise it by its prefix.
#[derive(Clone, PartialEq, Eq)]
pub struct PersonSecret {
    name: PersonName,
    text: String,
}

/// The value of the cookie: `<name>.<64 hex digits>`.
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserSecret {
    name: PersonName,
    text: String,
}

/// Does not quote the text, which may be another secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid access token; use the one that baton token create printed")]
pub struct InvalidPersonSecret;

const PREFIX: &str = "baton_";
/// Hex digits of the random part.
const RANDOM_CHARS: usize = 64;

impl PersonSecret {
    pub fn generate(name: PersonName) -> Self {
        let text = format!("{PREFIX}{name}.{}", Ids::secret());
        Self { name, text }
    }

    /// Whether a text has the prefix of a secret, valid or not.
    pub fn has_prefix(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    pub fn name(&self) -> &PersonName {
        &self.name
    }

    /// To show it once.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    pub fn digest(&self) -> OwnerToken {
        OwnerToken::from_digest(Sha256::digest(self.text.as_bytes()).into())
    }

    pub fn for_browser(&self) -> BrowserSecret {
        let digest = Sha256::digest(format!("a browser that has shown {}", self.text));
        let mut text = format!("{}.", self.name);
        for byte in digest {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        BrowserSecret { name: self.name.clone(), text }
    }
}

impl BrowserSecret {
    pub fn name(&self) -> &PersonName {
        &self.name
    }

    /// To set the cookie.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    pub fn digest(&self) -> OwnerToken {
        OwnerToken::from_digest(Sha256::digest(self.text.as_bytes()).into())
    }
}

/// The name in `<name>.<64 hex digits>`.
fn parse_name(text: &str) -> Result<PersonName, InvalidPersonSecret> {
    let (name, random) = text.split_once('.').ok_or(InvalidPersonSecret)?;
    let is_random = random.len() == RANDOM_CHARS && random.bytes().all(|b| b.is_ascii_hexdigit());
    match name.parse() {
        Ok(name) if is_random => Ok(name),
        Ok(_) | Err(_) => Err(InvalidPersonSecret),
    }
}

impl FromStr for PersonSecret {
    type Err = InvalidPersonSecret;

    fn from_str(text: &str) -> Result<Self, InvalidPersonSecret> {
        let name = parse_name(text.strip_prefix(PREFIX).ok_or(InvalidPersonSecret)?)?;
        Ok(Self { name, text: text.to_owned() })
    }
}

impl FromStr for BrowserSecret {
    type Err = InvalidPersonSecret;

    fn from_str(text: &str) -> Result<Self, InvalidPersonSecret> {
        Ok(Self { name: parse_name(text)?, text: text.to_owned() })
    }
}

impl fmt::Debug for PersonSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PersonSecret({}.…)", self.name)
    }
}

impl fmt::Debug for BrowserSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrowserSecret({}.…)", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::attempt_secret::AttemptSecret;

    #[test]
    fn secrets_round_trip_and_debug_hides_them() {
        let secret = PersonSecret::generate("ada_2".parse().unwrap());
        let read: PersonSecret = secret.reveal().parse().unwrap();
        assert_eq!((read.name(), read.digest()), (secret.name(), secret.digest()));
        let browser: BrowserSecret = secret.for_browser().reveal().parse().unwrap();
        assert_eq!((browser.name(), browser.digest()), (secret.name(), secret.for_browser().digest()));
        assert_ne!(browser.digest(), secret.digest());
        assert_eq!(format!("{secret:?} {browser:?}"), "PersonSecret(ada_2.…) BrowserSecret(ada_2.…)");
    }

    #[test]
    fn other_tokens_are_refused() {
        let random = "a".repeat(64);
        for bad in ["", "baton_", &random, &format!("ada.{random}"), &format!("baton_Ada.{random}")] {
            assert_eq!(bad.parse::<PersonSecret>().unwrap_err(), InvalidPersonSecret, "{bad}");
        }
        let persons = PersonSecret::generate("ada".parse().unwrap());
        assert!(persons.reveal().parse::<AttemptSecret>().is_err(), "nor an attempt's");
        let cookie = persons.reveal().parse::<BrowserSecret>().unwrap();
        assert_ne!(cookie.name(), persons.name(), "the secret is not the cookie");
    }
}
