//! The door: who may speak to this server at all.
//!
//! A page in the human's browser can send requests to this machine, and a name under a stranger's control can be
//! made to lead here. So on loopback only loopback's own names are answered, and nowhere a page of another origin.
//! Off loopback there is no such thing as "this machine", and every request needs the token.
//!
//! A browser cannot put the token into every request it makes: not into a stream of events, nor into a link. So it
//! shows the token once and gets a cookie for it, which scripts cannot read and other sites cannot send.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName};
use baton_engine::people::BrowserSecret;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::error::{ApiError, Code};

/// A secret. It is compared and handed on, and never shown.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Shorter ones can be guessed.
    pub const LEN_MIN: usize = 16;

    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For the file that the commands of the same user read, and nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// In constant time for texts of the same length, so that timing tells a guesser nothing but the length.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// How long a browser stays known: a month, which is longer than most servers run.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// Whom the door lets in.
#[derive(Debug, Clone)]
pub struct Guard {
    is_loopback: bool,
    token: Option<Token>,
    /// With the port in it: cookies are shared by all servers of a machine, and there may be another Baton.
    cookie_name: String,
    cookie: Option<Cookie>,
}

/// What a browser shows instead of the server's own token. It is made from the token, so it is good as long as that is, and the
/// token cannot be had from it.
#[derive(Debug, Clone)]
struct Cookie(Token);

impl Cookie {
    fn of(token: &Token) -> Self {
        let digest = Sha256::digest(format!("a browser that has shown {}", token.0));
        let value = digest.iter().fold(String::new(), |mut hex, byte| {
            // Writing to a text cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Self(Token(value))
    }
}

impl Guard {
    /// For a server that listens at `address`. A token that is given is always required.
    pub fn new(address: SocketAddr, token: Option<Token>) -> Self {
        let cookie = token.as_ref().map(Cookie::of);
        let cookie_name = format!("baton_{}", address.port());
        Self { is_loopback: address.ip().is_loopback(), token, cookie_name, cookie }
    }

    /// What a browser is told to keep that has shown the token; none where no token is needed.
    pub fn cookie(&self) -> Option<String> {
        self.cookie.as_ref().map(|cookie| self.kept(cookie.0.reveal()))
    }

    /// The same for a person who has shown a token of their own.
    pub fn cookie_of(&self, secret: &BrowserSecret) -> String {
        self.kept(secret.reveal())
    }

    fn kept(&self, value: &str) -> String {
        let name = &self.cookie_name;
        format!("{name}={value}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict")
    }

    /// What makes it forget.
    pub fn no_cookie(&self) -> String {
        format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", self.cookie_name)
    }

    /// Every value our cookie came with.
    fn cookies<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie_name).map(|(_, value)| value)
    }

    /// What a person's browser shows; it counts where there is no token in a header.
    pub fn persons_cookie(&self, headers: &HeaderMap) -> Option<BrowserSecret> {
        if headers.contains_key(AUTHORIZATION) {
            return None;
        }
        self.cookies(headers).find_map(|value| value.parse().ok())
    }

    /// The names by which this server may be called.
    pub fn check_host(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = text(headers, &HOST)
            .ok_or_else(|| forbidden("the request names no Host", "send the Host header, once"))?;
        let (name, _) = split_port(host);
        if !self.is_loopback || is_loopback_name(name) {
            Ok(())
        } else {
            Err(forbidden(
                "this server does not answer to that Host",
                "use the address that baton up printed; to serve others, start it with --listen and a token",
            ))
        }
    }

    /// A browser says where the page is from that sends the request. It must be one of ours.
    pub fn check_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        if !headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let host = text(headers, &HOST).unwrap_or_default();
        let own = text(headers, &ORIGIN)
            .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")))
            .is_some_and(|origin| origin.eq_ignore_ascii_case(host));
        if own {
            Ok(())
        } else {
            Err(forbidden("pages of another origin may not use this server", "open the server's own page"))
        }
    }

    pub fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// The token in its header; the cookie counts where there is no such header.
    pub fn check_token(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let is_known = |cookie: &Cookie| self.cookies(headers).any(|value| cookie.0.is(value));
        if !headers.contains_key(AUTHORIZATION) && self.cookie.as_ref().is_some_and(is_known) {
            return Ok(());
        }
        self.check_given(bearer(headers))
    }

    /// The same for a token that came another way.
    pub fn check_given(&self, given: Option<&str>) -> Result<(), ApiError> {
        let Some(token) = &self.token else { return Ok(()) };
        if given.is_some_and(|given| token.is(given)) {
            Ok(())
        } else {
            Err(ApiError::new(
                Code::Unauthorized,
                "the token is missing or wrong",
                "send Authorization: Bearer TOKEN; the token is in the server file of the state directory",
            ))
        }
    }
}

fn forbidden(message: &str, hint: &str) -> ApiError {
    ApiError::new(Code::Forbidden, message, hint)
}

/// The token in its header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    text(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")).map(str::trim)
}

/// A header that came exactly once and is text. Two of them are a trick.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(only), None) => only.to_str().ok(),
        _ => None,
    }
}

/// `[::1]:80` → `::1`; `localhost:80` → `localhost`.
fn split_port(host: &str) -> (&str, Option<&str>) {
    if let Some(bracketed) = host.strip_prefix('[') {
        return bracketed.split_once(']').map_or((host, None), |(name, port)| (name, port.strip_prefix(':')));
    }
    host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)))
}

fn is_loopback_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn local() -> Guard {
        Guard::new("127.0.0.1:5678".parse().unwrap(), None)
    }

    #[test]
    fn only_loopbacks_own_names_are_answered() {
        for good in ["localhost:5678", "LOCALHOST", "127.0.0.1:5678", "127.8.8.8", "[::1]:5678"] {
            assert!(local().check_host(&headers(&[(HOST, good)])).is_ok(), "{good}");
        }
        for bad in [
            "evil.example",
            "localhost.evil.example",
            "192.168.1.2:5678",
            "[::2]",
            "[",
            "",
            "127.0.0.1.nip.io",
        ] {
            assert!(local().check_host(&headers(&[(HOST, bad)])).is_err(), "{bad}");
        }
        assert!(local().check_host(&HeaderMap::new()).is_err());
    }

    #[test]
    fn only_the_servers_own_pages_may_ask() {
        let asked = |origin| local().check_origin(&headers(&[(HOST, "localhost:5678"), (ORIGIN, origin)]));
        assert!(asked("http://localhost:5678").is_ok());
        for foreign in
            ["http://evil.example", "null", "http://localhost:3000", "http://localhost:5678.evil", "file://"]
        {
            assert!(asked(foreign).is_err(), "{foreign}");
        }
        assert!(local().check_origin(&headers(&[(HOST, "localhost")])).is_ok(), "no page at all");
    }

    #[test]
    fn two_hosts_are_none() {
        let mut two = headers(&[(HOST, "localhost")]);
        two.append(HOST, "evil.example".parse().unwrap());
        assert!(local().check_host(&two).is_err());
    }

    #[test]
    fn the_token_has_to_be_the_token() {
        let guard = Guard::new("0.0.0.0:5678".parse().unwrap(), Some(Token::new("correct-horse-battery")));
        let asked = |value| guard.check_token(&headers(&[(AUTHORIZATION, value)]));
        assert!(asked("Bearer correct-horse-battery").is_ok());
        for wrong in ["Bearer correct-horse-batterz", "Bearer correct", "correct-horse-battery", "Bearer "] {
            assert!(asked(wrong).is_err(), "{wrong}");
        }
        assert!(guard.check_token(&HeaderMap::new()).is_err());
        let given = guard.cookie().unwrap();
        assert!(!given.contains("horse") && given.ends_with("; HttpOnly; SameSite=Strict"), "{given}");
        let pair = given.split(';').next().unwrap().to_owned();
        let shown = |cookie: &str| {
            let headers = [(COOKIE, cookie.parse().unwrap())].into_iter().collect::<HeaderMap>();
            guard.check_token(&headers)
        };
        assert!(shown(&pair).is_ok() && shown(&format!("theme=dark; {pair}")).is_ok());
        for wrong in ["baton_5678=", "baton_5678=x", "theme=dark", &pair.replace("5678", "5679")] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
        let both = [(COOKIE, pair.parse().unwrap()), (AUTHORIZATION, "Bearer no".parse().unwrap())];
        assert!(guard.check_token(&both.into_iter().collect()).is_err(), "a wrong token is a wrong token");
        assert_eq!(format!("{guard:?}").matches("correct").count(), 0);
    }
}
