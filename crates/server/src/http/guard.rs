//! Who may talk to this server.
//!
//! Any web page can make the browser send requests to loopback, and an attacker's DNS name can resolve to it. So on
//! loopback only loopback names are accepted as `Host`, and requests from pages of other origins are always refused.
//! Off loopback every request needs the token.
//!
//! A browser cannot send the token with links or event streams. So it presents the token once and gets a cookie that
//! scripts cannot read and other sites cannot send.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName};
use baton_engine::people::BrowserSecret;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::http::error::{ApiError, Code};

/// The server's own token. Never printed by `Debug`.
#[derive(Clone)]
pub struct ServerToken(String);

impl ServerToken {
    /// Shorter tokens could be guessed.
    pub const LEN_MIN: usize = 16;

    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Only for the server file, which the same user's commands read.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time, so that timing reveals nothing but the length.
    pub fn matches(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl std::fmt::Debug for ServerToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// How long a browser stays logged in: a week. Cookies know no ports, so other servers of the host see it.
const COOKIE_SECONDS: u32 = 7 * 24 * 60 * 60;

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Checks `Host`, `Origin` and token of a request.
#[derive(Debug, Clone)]
pub struct HttpGuard {
    is_loopback: bool,
    token: Option<ServerToken>,
    /// Contains the port: all servers on a host share its cookies.
    cookie_name: String,
    cookie: Option<LoginCookie>,
}

/// The cookie a browser sends instead of the server's token. It is derived from the token by a hash: it is valid as long
/// as the token is, and does not reveal it.
#[derive(Debug, Clone)]
struct LoginCookie(ServerToken);

impl LoginCookie {
    fn from_token(token: &ServerToken) -> Self {
        let digest = Sha256::digest(format!("a browser that has shown {}", token.0));
        let value = digest.iter().fold(String::new(), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Self(ServerToken(value))
    }
}

impl HttpGuard {
    /// For a server that listens on `address`. If a token is given, every request needs it.
    pub fn new(address: SocketAddr, token: Option<ServerToken>) -> Self {
        let cookie = token.as_ref().map(LoginCookie::from_token);
        let cookie_name = format!("baton_{}", address.port());
        Self { is_loopback: address.ip().is_loopback(), token, cookie_name, cookie }
    }

    /// The `Set-Cookie` value for a browser that presented the token; none if no token is needed.
    pub fn cookie(&self) -> Option<String> {
        self.cookie.as_ref().map(|cookie| self.set_cookie(cookie.0.reveal()))
    }

    /// The same for a person's own token.
    pub fn person_cookie(&self, secret: &BrowserSecret) -> String {
        self.set_cookie(secret.reveal())
    }

    fn set_cookie(&self, value: &str) -> String {
        let name = &self.cookie_name;
        format!("{name}={value}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict")
    }

    /// The `Set-Cookie` value that deletes the cookie.
    pub fn clear_cookie(&self) -> String {
        format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", self.cookie_name)
    }

    /// All values of our cookie in the request.
    fn cookies<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie_name).map(|(_, value)| value)
    }

    /// A person's browser secret from the cookie. An `Authorization` header takes precedence.
    pub fn browser_secret(&self, headers: &HeaderMap) -> Option<BrowserSecret> {
        if headers.contains_key(AUTHORIZATION) {
            return None;
        }
        self.cookies(headers).find_map(|value| value.parse().ok())
    }

    /// On loopback, only loopback names are accepted.
    pub fn check_host(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = text(headers, &HOST)
            .ok_or_else(|| forbidden("the Host header is missing", "send exactly one Host header"))?;
        let (name, _) = split_port(host);
        if !self.is_loopback || is_loopback_name(name) {
            Ok(())
        } else {
            Err(forbidden(
                "this server does not accept that Host",
                "use the address that baton up printed; to serve others, start it with --listen and a token",
            ))
        }
    }

    /// Refuses requests from pages of other origins.
    pub fn check_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        if !headers.contains_key(ORIGIN) {
            // Browsers say so themselves. A link from elsewhere to a page is no request of that page's.
            let says = |name: &HeaderName, value: &str| text(headers, name) == Some(value);
            let is_foreign = says(&SEC_FETCH_SITE, "cross-site") && !says(&SEC_FETCH_MODE, "navigate");
            return if is_foreign { Err(foreign_page()) } else { Ok(()) };
        }
        let host = text(headers, &HOST).unwrap_or_default();
        let own = text(headers, &ORIGIN)
            .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")))
            .is_some_and(|origin| origin.eq_ignore_ascii_case(host));
        if own { Ok(()) } else { Err(foreign_page()) }
    }

    /// Whether the request shows a token or a cookie, valid or not.
    pub fn has_credentials(&self, headers: &HeaderMap) -> bool {
        headers.contains_key(AUTHORIZATION) || self.cookies(headers).next().is_some()
    }

    pub fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks the `Authorization` header, or the cookie if there is none.
    pub fn check_token(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let is_known = |cookie: &LoginCookie| self.cookies(headers).any(|value| cookie.0.matches(value));
        if !headers.contains_key(AUTHORIZATION) && self.cookie.as_ref().is_some_and(is_known) {
            return Ok(());
        }
        self.check_token_text(bearer(headers))
    }

    /// The same for a token sent otherwise.
    pub fn check_token_text(&self, given: Option<&str>) -> Result<(), ApiError> {
        let Some(token) = &self.token else { return Ok(()) };
        if given.is_some_and(|given| token.matches(given)) {
            Ok(())
        } else {
            Err(ApiError::new(
                Code::Unauthorized,
                "missing or invalid token",
                "send Authorization: Bearer TOKEN; the token is in the server file of the state directory",
            ))
        }
    }
}

fn foreign_page() -> ApiError {
    forbidden("requests from pages of other origins are refused", "open the server's own page")
}

fn forbidden(message: &str, hint: &str) -> ApiError {
    ApiError::new(Code::Forbidden, message, hint)
}

/// The bearer token of the `Authorization` header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    text(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")).map(str::trim)
}

/// A header that was sent exactly once; duplicates are treated as missing, because they may be an attack.
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

    fn local() -> HttpGuard {
        HttpGuard::new("127.0.0.1:5678".parse().unwrap(), None)
    }

    #[test]
    fn only_loopback_hosts_are_accepted() {
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
    fn other_origins_are_refused() {
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
    fn duplicate_hosts_are_refused() {
        let mut two = headers(&[(HOST, "localhost")]);
        two.append(HOST, "evil.example".parse().unwrap());
        assert!(local().check_host(&two).is_err());
    }

    #[test]
    fn only_the_right_token_or_cookie_is_accepted() {
        let guard =
            HttpGuard::new("0.0.0.0:5678".parse().unwrap(), Some(ServerToken::new("correct-horse-battery")));
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
