//! Which store to use: a file of this repository's own, or a server that many machines share.

use std::fmt;
use std::str::FromStr;

use baton_store::PostgresStore;
use serde::{Deserialize, Serialize, Serializer};

use crate::base::error::EngineError;

/// Where the rows are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum StoreAddress {
    /// One file in the state folder.
    #[default]
    File,
    /// `postgres://user@host/database`
    Postgres { url: Url },
}

/// An address that may hold a password, and so is never shown whole.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(String);

impl Url {
    /// The whole of it, for whoever connects.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl StoreAddress {
    /// The namespaces there are on a shared server; none are known of a file.
    pub async fn namespaces(&self) -> Result<Vec<String>, EngineError> {
        match self {
            Self::File => Ok(Vec::new()),
            Self::Postgres { url } => Ok(PostgresStore::namespaces(url.expose()).await?),
        }
    }

    /// Whether the address itself holds a password, rather than the place where one is found.
    pub fn has_password(&self) -> bool {
        let Self::Postgres { url } = self else { return false };
        let (_, rest) = url.0.split_once("://").unwrap_or_default();
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let in_front = place.rsplit_once('@').is_some_and(|(who, _)| who.contains(':'));
        in_front || query.split('&').any(|pair| pair.starts_with("password="))
    }

    /// Whether other machines may be on it too.
    pub const fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres { .. })
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://…")
    }
}

/// The text is left out: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a store is given as postgres://USER@HOST/DATABASE; without one it is a file of the repository's own"
)]
pub struct BadStoreAddress;

impl StoreAddress {
    /// Which store it is, without who asks for it and how: what may be written down.
    pub fn plain(&self) -> String {
        let Self::Postgres { url } = self else { return "file".to_owned() };
        let place = url.0.split_once("://").map_or(url.0.as_str(), |(_, rest)| rest);
        let place = place.split('?').next().unwrap_or_default();
        format!("postgres://{}", place.rsplit_once('@').map_or(place, |(_, place)| place))
    }
}

/// Never with the password.
impl Serialize for StoreAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.plain())
    }
}

impl FromStr for StoreAddress {
    type Err = BadStoreAddress;

    fn from_str(text: &str) -> Result<Self, BadStoreAddress> {
        if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            Ok(Self::Postgres { url: Url(text.to_owned()) })
        } else {
            Err(BadStoreAddress)
        }
    }
}

impl TryFrom<String> for StoreAddress {
    type Error = BadStoreAddress;

    fn try_from(text: String) -> Result<Self, BadStoreAddress> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_its_password_never_shown() {
        let address: StoreAddress = "postgres://mia:secret@db/work".parse().unwrap();
        assert!(!format!("{address:?}").contains("secret"));
        assert_eq!(address.plain(), "postgres://db/work");
        let address: StoreAddress = "postgresql://db:5432/work?user=mia&password=secret".parse().unwrap();
        assert_eq!(address.plain(), "postgres://db:5432/work");
        for (text, is_in_it) in [
            ("postgres://mia:secret@db/work", true),
            ("postgres://db/work?user=mia&password=secret", true),
            ("postgres://mia@db:5432/work?passfile=/home/mia/.pgpass", false),
            ("postgres://db:5432/work", false),
        ] {
            assert_eq!(text.parse::<StoreAddress>().unwrap().has_password(), is_in_it, "{text}");
        }
        for bad in ["", "mysql://x", "./file.db", "host=localhost password=secret"] {
            let error = bad.parse::<StoreAddress>().unwrap_err();
            assert!(!error.to_string().contains("secret"));
        }
    }
}
