//! The secret a person shows to be let in, and what their browser keeps in its place.
//!
//! Each names its person, so that their token is found without a search, and proves it by 32 bytes. Only digests are
//! ever kept. The browser's is made from the person's, and the person's cannot be had from it.

use std::fmt::{self, Write};
use std::str::FromStr;

use baton_core::base::text::PersonName;
use baton_core::people::owner_token::OwnerToken;
use sha2::{Digest, Sha256};

use crate::base::ids::Ids;

/// `baton_<name>.<64 hex digits>`: it can be told from every other token, also by programs that look for lost ones.
#[derive(Clone, PartialEq, Eq)]
pub struct PersonSecret {
    name: PersonName,
    text: String,
}

/// `<name>.<64 hex digits>`, as it stands in a cookie.
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserSecret {
    name: PersonName,
    text: String,
}

/// A text that is no secret of ours. It is not quoted: it may be somebody else's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not a person's token; pass on what baton token create printed, as it is")]
pub struct BadPersonSecret;

const PREFIX: &str = "baton_";
/// Hex digits of the random part.
const RANDOM_CHARS: usize = 64;

impl PersonSecret {
    pub fn draw(name: PersonName) -> Self {
        let text = format!("{PREFIX}{name}.{}", Ids::secret());
        Self { name, text }
    }

    /// Whether a text means to be one, right or wrong.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    pub fn name(&self) -> &PersonName {
        &self.name
    }

    /// For whoever asked for it, once.
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
            // Writing to a text cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        BrowserSecret { name: self.name.clone(), text }
    }
}

impl BrowserSecret {
    pub fn name(&self) -> &PersonName {
        &self.name
    }

    /// For the cookie, and nowhere else.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    pub fn digest(&self) -> OwnerToken {
        OwnerToken::from_digest(Sha256::digest(self.text.as_bytes()).into())
    }
}

/// The name in `<name>.<64 hex digits>`.
fn named(text: &str) -> Result<PersonName, BadPersonSecret> {
    let (name, random) = text.split_once('.').ok_or(BadPersonSecret)?;
    let is_random = random.len() == RANDOM_CHARS && random.bytes().all(|b| b.is_ascii_hexdigit());
    match name.parse() {
        Ok(name) if is_random => Ok(name),
        Ok(_) | Err(_) => Err(BadPersonSecret),
    }
}

impl FromStr for PersonSecret {
    type Err = BadPersonSecret;

    fn from_str(text: &str) -> Result<Self, BadPersonSecret> {
        let name = named(text.strip_prefix(PREFIX).ok_or(BadPersonSecret)?)?;
        Ok(Self { name, text: text.to_owned() })
    }
}

impl FromStr for BrowserSecret {
    type Err = BadPersonSecret;

    fn from_str(text: &str) -> Result<Self, BadPersonSecret> {
        Ok(Self { name: named(text)?, text: text.to_owned() })
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
    fn it_survives_a_header_and_a_cookie_and_shows_nothing_in_a_log() {
        let secret = PersonSecret::draw("ada_2".parse().unwrap());
        let read: PersonSecret = secret.reveal().parse().unwrap();
        assert_eq!((read.name(), read.digest()), (secret.name(), secret.digest()));
        let browser: BrowserSecret = secret.for_browser().reveal().parse().unwrap();
        assert_eq!((browser.name(), browser.digest()), (secret.name(), secret.for_browser().digest()));
        assert_ne!(browser.digest(), secret.digest());
        assert_eq!(format!("{secret:?} {browser:?}"), "PersonSecret(ada_2.…) BrowserSecret(ada_2.…)");
    }

    #[test]
    fn it_is_nothing_else() {
        let random = "a".repeat(64);
        for bad in ["", "baton_", &random, &format!("ada.{random}"), &format!("baton_Ada.{random}")] {
            assert_eq!(bad.parse::<PersonSecret>().unwrap_err(), BadPersonSecret, "{bad}");
        }
        let persons = PersonSecret::draw("ada".parse().unwrap());
        assert!(persons.reveal().parse::<AttemptSecret>().is_err(), "nor an attempt's");
        let cookie = persons.reveal().parse::<BrowserSecret>().unwrap();
        assert_ne!(cookie.name(), persons.name(), "the secret is no cookie of its person's");
    }
}
