//! A notice by webhook: one HTTP/1.1 POST over a plain connection, taken when the answer is 2xx.
//!
//! Plain on purpose: a local relay or a home server is reached without a TLS stack in every Baton. Where the address
//! is https, the notify command is the way (`curl` does it well).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use baton_core::base::id::EffectId;
use serde::{Serialize, Serializer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// From the connection to the answer's first line.
const PATIENCE: Duration = Duration::from_secs(10);
/// An answer's first line is short; what comes before its end is not read further.
const STATUS_LINE_BYTES_MAX: usize = 1024;

/// An address notices are posted to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    host: String,
    port: u16,
    /// With its question mark and what follows, if there is any.
    path: String,
}

impl Serialize for Webhook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWebhook {
    #[error(
        "https is not spoken here; set [notify] command instead, for example [\"curl\", \"--json\", \"@-\", \"{0}\"]"
    )]
    Https(String),
    #[error("\"{0}\" is not an address like http://host:port/path")]
    NotHttp(String),
    #[error("the address has a name and a password in it; put them into a command of your own")]
    Credentials,
}

impl FromStr for Webhook {
    type Err = BadWebhook;

    fn from_str(text: &str) -> Result<Self, BadWebhook> {
        let not_http = || BadWebhook::NotHttp(text.chars().take(200).collect());
        if text.starts_with("https://") {
            return Err(BadWebhook::Https(text.chars().take(200).collect()));
        }
        let rest = text.strip_prefix("http://").ok_or_else(not_http)?;
        // What could end the request line early, or is no address at all.
        if rest.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(not_http());
        }
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        if authority.contains('@') {
            return Err(BadWebhook::Credentials);
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().map_err(|_| not_http())?),
            Some(_) | None => (authority, 80),
        };
        if host.is_empty() {
            return Err(not_http());
        }
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { host: host.to_owned(), port, path })
    }
}

impl fmt::Display for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}{}", self.host, self.port, self.path)
    }
}

impl Webhook {
    pub async fn post(&self, id: EffectId, body: &str) -> Result<(), String> {
        let failed = |why: &dyn fmt::Display| format!("the webhook {self}: {why}");
        let answer = timeout(PATIENCE, self.exchange(id, body)).await;
        let status = match answer {
            Ok(Ok(status)) => status,
            Ok(Err(error)) => return Err(failed(&error)),
            Err(_) => return Err(failed(&format_args!("no answer within {} s", PATIENCE.as_secs()))),
        };
        // HTTP/1.1 204 No Content
        let code = status.split_whitespace().nth(1).and_then(|code| code.parse::<u16>().ok());
        match code {
            Some(200..=299) if status.starts_with("HTTP/1.") => Ok(()),
            Some(_) | None => Err(failed(&format_args!("the answer was \"{}\"", status.trim()))),
        }
    }

    async fn exchange(&self, id: EffectId, body: &str) -> std::io::Result<String> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let mut stream = TcpStream::connect((host, self.port)).await?;
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Idempotency-Key: {id}\r\nUser-Agent: baton/{}\r\nConnection: close\r\n\r\n",
            self.path,
            self.host,
            self.port,
            body.len(),
            env!("CARGO_PKG_VERSION"),
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        stream.flush().await?;
        let mut line = Vec::new();
        let mut piece = [0_u8; 256];
        while !line.contains(&b'\n') && line.len() < STATUS_LINE_BYTES_MAX {
            match stream.read(&mut piece).await? {
                0 => break,
                read => line.extend_from_slice(&piece[..read]),
            }
        }
        let first = line.split(|b| *b == b'\n').next().unwrap_or_default();
        Ok(String::from_utf8_lossy(first).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse::<Webhook>().map(|webhook| webhook.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn addresses_people_write() {
        assert_eq!(read("http://localhost").unwrap(), "http://localhost:80/");
        assert_eq!(read("http://localhost:9000/hook?a=b#c").unwrap(), "http://localhost:9000/hook?a=b");
        assert_eq!(read("http://[::1]:9000/x").unwrap(), "http://[::1]:9000/x");
        assert_eq!(read("http://[::1]/x").unwrap(), "http://[::1]:80/x");
        assert_eq!(read("http://host?x").unwrap(), "http://host:80/?x");
    }

    #[test]
    fn addresses_that_cannot_be_used_say_what_to_do() {
        assert!(read("https://example.org/hook").unwrap_err().contains("[notify] command"));
        for bad in [
            "",
            "localhost",
            "ftp://x",
            "http://",
            "http://:80/",
            "http://h:port/",
            "http://h/a b",
            "http://h/\r\nX: y",
        ] {
            assert!(read(bad).unwrap_err().contains("http://host:port/path"), "{bad}");
        }
        assert!(read("http://me:pw@host/").unwrap_err().contains("password"));
    }
}
