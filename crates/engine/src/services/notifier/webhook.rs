//! Sends a notice as one POST to an http or https URL. A 2xx status means it was delivered.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use baton_core::base::id::EffectId;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use serde::{Serialize, Serializer};

use crate::base::http_client::describe;

/// From connecting to the response.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
/// How much of a bad address an error quotes.
const QUOTED_MAX: usize = 200;

/// An address notices are posted to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook(Url);

impl Serialize for Webhook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWebhook {
    #[error("\"{0}\" is not an address like https://host:port/path")]
    Invalid(String),
    #[error("the address contains a user name or a password; send them with [notify] command instead")]
    Credentials,
}

impl FromStr for Webhook {
    type Err = BadWebhook;

    fn from_str(text: &str) -> Result<Self, BadWebhook> {
        let invalid = || BadWebhook::Invalid(text.chars().take(QUOTED_MAX).collect());
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
            return Err(BadWebhook::Credentials);
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
    pub(super) async fn post(&self, client: &Client, id: EffectId, body: String) -> Result<(), String> {
        let failed = |why: &dyn fmt::Display| format!("webhook {self}: {why}");
        let request = client
            .post(self.0.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("Idempotency-Key", id.to_string())
            .body(body);
        match request.send().await {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(failed(&format_args!("the response was {}", response.status()))),
            Err(error) if error.is_timeout() => {
                Err(failed(&format_args!("no response within {} s", TIMEOUT.as_secs())))
            }
            Err(error) => Err(failed(&describe(&error.without_url()))),
        }
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
