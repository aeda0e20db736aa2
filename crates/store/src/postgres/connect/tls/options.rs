//! The options in an address that the driver does not know: `sslmode`, `sslrootcert`, `sslcert`, `sslkey` and
//! `passfile`, as in libpq.
//!
//! They are removed from the address before the driver sees it.

use std::path::PathBuf;

/// `sslmode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TlsMode {
    Disable,
    /// Encrypted if the server supports it.
    #[default]
    Prefer,
    /// Encrypted, without verification; with a root certificate, like `VerifyCa`.
    Require,
    /// The certificate must be issued by a trusted CA.
    VerifyCa,
    /// It must also match the host name.
    VerifyFull,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TlsRoots {
    File(PathBuf),
    /// The system's CAs.
    System,
}

/// The client certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientIdentity {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TlsOptions {
    pub(crate) mode: TlsMode,
    pub(crate) roots: Option<TlsRoots>,
    pub(crate) identity: Option<ClientIdentity>,
    pub(crate) passfile: Option<PathBuf>,
}

const WORDS: [&str; 5] = ["sslmode", "sslrootcert", "sslcert", "sslkey", "passfile"];

impl TlsOptions {
    /// Splits an address, a URL or `key=value` pairs, into these options and the rest.
    pub(crate) fn take(address: &str) -> Result<(Self, String), String> {
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| address.starts_with(scheme));
        let (taken, rest) = if is_url { from_url(address)? } else { from_pairs(address) };
        Ok((Self::read(&taken)?, rest))
    }

    fn read(taken: &[(String, String)]) -> Result<Self, String> {
        let said = |word: &str| {
            let found = taken.iter().rev().find(|(name, _)| name == word);
            found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
        };
        let mode = match said("sslmode") {
            None => TlsMode::default(),
            Some("disable") => TlsMode::Disable,
            Some("prefer") => TlsMode::Prefer,
            Some("require") => TlsMode::Require,
            Some("verify-ca") => TlsMode::VerifyCa,
            Some("verify-full") => TlsMode::VerifyFull,
            Some(other) => {
                return Err(format!(
                    "sslmode cannot be \"{other}\"; it is one of disable, prefer, require, verify-ca and verify-full"
                ));
            }
        };
        let roots = said("sslrootcert").map(|value| match value {
            "system" => TlsRoots::System,
            path => TlsRoots::File(path.into()),
        });
        let identity = match (said("sslcert"), said("sslkey")) {
            (Some(certificate), Some(key)) => {
                Some(ClientIdentity { certificate: certificate.into(), key: key.into() })
            }
            (None, None) => None,
            (Some(_), None) => return Err("sslcert is given without its key; add sslkey=FILE".to_owned()),
            (None, Some(_)) => {
                return Err("sslkey is given without its certificate; add sslcert=FILE".to_owned());
            }
        };
        Ok(Self { mode, roots, identity, passfile: said("passfile").map(PathBuf::from) })
    }

    /// Which CAs are trusted and whether the host name must match; `None` for no verification.
    pub(crate) fn verification(&self) -> Result<Option<(TlsRoots, bool)>, String> {
        match (self.mode, &self.roots) {
            (TlsMode::Disable | TlsMode::Prefer | TlsMode::Require, None) | (TlsMode::Disable | TlsMode::Prefer, Some(_)) => {
                Ok(None)
            }
            (TlsMode::Require | TlsMode::VerifyCa, Some(roots)) => Ok(Some((roots.clone(), false))),
            (TlsMode::VerifyFull, Some(roots)) => Ok(Some((roots.clone(), true))),
            (TlsMode::VerifyCa | TlsMode::VerifyFull, None) => Err(
                "sslmode asks for a certificate of a known authority, and none is named; add sslrootcert=FILE, or \
                 sslrootcert=system for those this machine trusts"
                    .to_owned(),
            ),
        }
    }
}

type SplitAddress = (Vec<(String, String)>, String);

fn from_url(url: &str) -> Result<SplitAddress, String> {
    let Some((place, query)) = url.split_once('?') else { return Ok((Vec::new(), url.to_owned())) };
    let (mut taken, mut rest) = (Vec::new(), Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if WORDS.contains(&name) {
            taken.push((name.to_owned(), unescape(value)?));
        } else {
            rest.push(pair);
        }
    }
    let rest = if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
    Ok((taken, rest))
}

/// `%2F` → `/`
fn unescape(text: &str) -> Result<String, String> {
    let bad = || "the address has a % that is not followed by two hex digits".to_owned();
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        if byte == b'%' {
            let digits: Option<String> =
                left.next().zip(left.next()).map(|(a, b)| [a, b].map(char::from).iter().collect());
            let digits = digits.ok_or_else(bad)?;
            bytes.push(u8::from_str_radix(&digits, 16).map_err(|_| bad())?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

/// `host=db sslmode=require password='a b'`, where `\'` and `\\` are escapes.
fn from_pairs(text: &str) -> SplitAddress {
    let (mut taken, mut rest) = (Vec::new(), String::new());
    let mut left = text.trim_start();
    while !left.is_empty() {
        let Some((name, after)) = left.split_once('=') else {
            rest.push_str(left);
            break;
        };
        let after = after.trim_start();
        let (value, len) = pair_value(after);
        let whole = left.len() - after.len() + len;
        let (pair, next) = left.split_at(whole);
        if WORDS.contains(&name.trim()) {
            taken.push((name.trim().to_owned(), value));
        } else {
            rest.push_str(pair);
            rest.push(' ');
        }
        left = next.trim_start();
    }
    (taken, rest.trim_end().to_owned())
}

/// The value at the start of `text`, and its length there.
fn pair_value(text: &str) -> (String, usize) {
    let is_quoted = text.starts_with('\'');
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, c) in text.char_indices().skip(usize::from(is_quoted)) {
        match c {
            _ if is_escaped => {
                value.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '\'' if is_quoted => return (value, at + 1),
            c if !is_quoted && c.is_whitespace() => return (value, at),
            c => value.push(c),
        }
    }
    (value, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(address: &str) -> (TlsOptions, String) {
        TlsOptions::take(address).unwrap()
    }

    #[test]
    fn options_are_removed_from_a_url() {
        let (options, rest) = take(
            "postgres://mia:s%40cret@db/work?sslmode=verify-full&connect_timeout=3&sslrootcert=%2Fa%20b.crt",
        );
        assert_eq!(rest, "postgres://mia:s%40cret@db/work?connect_timeout=3");
        assert_eq!(options.mode, TlsMode::VerifyFull);
        assert_eq!(options.roots, Some(TlsRoots::File("/a b.crt".into())));
        let (options, rest) = take("postgresql://db/work?sslmode=disable");
        assert_eq!((options.mode, rest.as_str()), (TlsMode::Disable, "postgresql://db/work"));
        assert_eq!(take("postgres://db/work"), (TlsOptions::default(), "postgres://db/work".to_owned()));
    }

    #[test]
    fn options_are_removed_from_pairs() {
        let (options, rest) = take(
            r"host=/run/pg user = mia password='it\'s = x' sslmode=require sslrootcert='/a b.crt' dbname=work",
        );
        assert_eq!(rest, r"host=/run/pg user = mia password='it\'s = x' dbname=work");
        assert_eq!(options.mode, TlsMode::Require);
        assert_eq!(options.roots, Some(TlsRoots::File("/a b.crt".into())));
        assert_eq!(take("host=db dbname=work").1, "host=db dbname=work");
    }

    #[test]
    fn invalid_options_are_errors() {
        for (bad, word) in [
            ("postgres://db/x?sslmode=verify", "verify-full"),
            ("postgres://db/x?sslcert=/a", "sslkey=FILE"),
            ("postgres://db/x?sslkey=/a", "sslcert=FILE"),
            ("postgres://db/x?sslrootcert=%2", "hex digits"),
        ] {
            let told = TlsOptions::take(bad).unwrap_err();
            assert!(told.contains(word), "{bad}: {told}");
        }
        let told = take("postgres://db/x?sslmode=verify-ca").0.verification().unwrap_err();
        assert!(told.contains("sslrootcert=system"), "{told}");
    }

    #[test]
    fn verification_follows_mode_and_root_certificate() {
        let checked = |query: &str| take(&format!("postgres://db/x?{query}")).0.verification().unwrap();
        assert_eq!(checked(""), None);
        assert_eq!(checked("sslmode=require"), None);
        assert_eq!(checked("sslmode=require&sslrootcert=system"), Some((TlsRoots::System, false)));
        assert_eq!(checked("sslmode=verify-ca&sslrootcert=system"), Some((TlsRoots::System, false)));
        assert_eq!(checked("sslmode=verify-full&sslrootcert=system"), Some((TlsRoots::System, true)));
    }
}
