//! The address of a webhook: http or https, without credentials.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;
use serde::{Serialize, Serializer};

/// How much of an invalid address an error quotes.
const QUOTED_MAX: usize = 200;

/// An address that notices are posted to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook(Url);

impl Serialize for Webhook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWebhook {
    #[error("\"{0}\" is not an address like https://host:port/path")]
    Invalid(String),
    #[error("the address contains a user name or a password; send them with [notify] command instead")]
    Credentials,
}

impl FromStr for Webhook {
    type Err = InvalidWebhook;

    fn from_str(text: &str) -> Result<Self, InvalidWebhook> {
        let invalid = || InvalidWebhook::Invalid(text.chars().take(QUOTED_MAX).collect());
        // The URL parser would drop or escape these; in an address they are a mistake.
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(invalid());
        }
        // It would also accept `http:host`.
        if !text.starts_with("http://") && !text.starts_with("https://") {
            return Err(invalid());
        }
        let mut url: Url = text.parse().map_err(|_| invalid())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidWebhook::Credentials);
        }
        url.set_fragment(None);
        Ok(Self(url))
    }
}

impl fmt::Display for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Webhook {
    pub fn url(&self) -> &Url {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        text.parse::<Webhook>().map(|webhook| webhook.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn http_and_https_addresses_parse() {
        assert_eq!(parse("http://localhost").unwrap(), "http://localhost/");
        assert_eq!(parse("https://example.org/hook").unwrap(), "https://example.org/hook");
        assert_eq!(parse("http://localhost:9000/hook?a=b#c").unwrap(), "http://localhost:9000/hook?a=b");
        assert_eq!(parse("http://[::1]:9000/x").unwrap(), "http://[::1]:9000/x");
        assert_eq!(parse("http://[::1]/x").unwrap(), "http://[::1]/x");
        assert_eq!(parse("http://host?x").unwrap(), "http://host/?x");
    }

    #[test]
    fn bad_addresses_are_refused_with_an_example() {
        for bad in [
            "",
            "localhost",
            "ftp://x",
            "http://",
            "http:host",
            "http://:80/",
            "http://h:port/",
            "http://h/a b",
            "http://h/\r\nX: y",
        ] {
            assert!(parse(bad).unwrap_err().contains("https://host:port/path"), "{bad}");
        }
        assert!(parse("http://me:pw@host/").unwrap_err().contains("password"));
        assert!(parse("https://me@host/").unwrap_err().contains("password"));
    }
}
