//! The address of the store: a file, or a PostgreSQL server that several machines share.

use std::fmt;
use std::str::FromStr;

use baton_store::PostgresStore;
use serde::{Deserialize, Serialize, Serializer};

use crate::base::error::EngineError;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum StoreAddress {
    /// One file in the state folder.
    #[default]
    File,
    /// `postgres://user@host/database`
    Postgres { url: SecretUrl },
}

/// A URL that may contain a password, so `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretUrl(String);

impl SecretUrl {
    /// The whole URL, to connect with.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl StoreAddress {
    /// The namespaces of a shared server; empty for a file.
    pub async fn namespaces(&self) -> Result<Vec<String>, EngineError> {
        match self {
            Self::File => Ok(Vec::new()),
            Self::Postgres { url } => Ok(PostgresStore::namespaces(url.expose()).await?),
        }
    }

    /// Whether the address itself contains a password, rather than for example the path of a password file.
    pub fn has_password(&self) -> bool {
        let Self::Postgres { url } = self else { return false };
        let (_, rest) = url.0.split_once("://").unwrap_or_default();
        let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
        let has_userinfo_password = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
        has_userinfo_password || query.split('&').any(|pair| pair.starts_with("password="))
    }

    /// Whether other machines may use it too.
    pub const fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres { .. })
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://…")
    }
}

/// Does not quote the address, which may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a store address must look like postgres://USER@HOST/DATABASE; without one, the store is a file")]
pub struct InvalidStoreAddress;

impl StoreAddress {
    /// The address without user, password and options: safe to print.
    pub fn without_credentials(&self) -> String {
        let Self::Postgres { url } = self else { return "file".to_owned() };
        let rest = url.0.split_once("://").map_or(url.0.as_str(), |(_, rest)| rest);
        let rest = rest.split('?').next().unwrap_or_default();
        format!("postgres://{}", rest.rsplit_once('@').map_or(rest, |(_, host)| host))
    }
}

impl Serialize for StoreAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.without_credentials())
    }
}

impl FromStr for StoreAddress {
    type Err = InvalidStoreAddress;

    fn from_str(text: &str) -> Result<Self, InvalidStoreAddress> {
        if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            Ok(Self::Postgres { url: SecretUrl(text.to_owned()) })
        } else {
            Err(InvalidStoreAddress)
        }
    }
}

impl TryFrom<String> for StoreAddress {
    type Error = InvalidStoreAddress;

    fn try_from(text: String) -> Result<Self, InvalidStoreAddress> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_parsed_and_its_password_never_printed() {
        let address: StoreAddress = "postgres://mia:secret@db/work".parse().unwrap();
        assert!(!format!("{address:?}").contains("secret"));
        assert_eq!(address.without_credentials(), "postgres://db/work");
        let address: StoreAddress = "postgresql://db:5432/work?user=mia&password=secret".parse().unwrap();
        assert_eq!(address.without_credentials(), "postgres://db:5432/work");
        for (text, has_password) in [
            ("postgres://mia:secret@db/work", true),
            ("postgres://db/work?user=mia&password=secret", true),
            ("postgres://mia@db:5432/work?passfile=/home/mia/.pgpass", false),
            ("postgres://db:5432/work", false),
        ] {
            assert_eq!(text.parse::<StoreAddress>().unwrap().has_password(), has_password, "{text}");
        }
        for bad in ["", "mysql://x", "./file.db", "host=localhost password=secret"] {
            let error = bad.parse::<StoreAddress>().unwrap_err();
            assert!(!error.to_string().contains("secret"));
        }
    }
}
