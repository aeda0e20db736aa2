//! Parses and builds URLs as Go's net/url does.

use std::fmt::Write as _;

use indexmap::IndexMap;

use super::super::val::{Result, Val};
use super::ParamType::{Dict, Str};
use super::{Function, FunctionContext, arg, fixed, paths, text, variadic};
use crate::go::literal;

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("urlParse", &[Str], url_parse),
    fixed("urlJoin", &[Dict], url_join),
    variadic("joinUrl", &[], Str, join_url),
];

/// The part of a URL, which decides which characters need no escaping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UrlPart {
    Path,
    Query,
    Fragment,
    User,
}

impl UrlPart {
    fn keeps(self, byte: u8) -> bool {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            return true;
        }
        match self {
            UrlPart::Path => b"$&+,/:;=@".contains(&byte),
            UrlPart::Query => false,
            UrlPart::Fragment => b"$&+,/:;=?@!()*".contains(&byte),
            UrlPart::User => b"$&+,;=".contains(&byte),
        }
    }
}

pub(super) fn escape(whole: &str, part: UrlPart) -> String {
    let mut out = String::with_capacity(whole.len());
    for byte in whole.bytes() {
        if part.keeps(byte) {
            out.push(char::from(byte));
        } else if byte == b' ' && part == UrlPart::Query {
            out.push('+');
        } else {
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn unescape(whole: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(whole.len());
    let mut rest = whole.as_bytes();
    while let [first, after @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
            let shown = String::from_utf8_lossy(rest.get(..3).unwrap_or(rest));
            return Err(format!("invalid URL escape {}", literal::quote(&shown)));
        };
        bytes.push(byte);
        rest = after.get(2..).unwrap_or(&[]);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[derive(Default)]
struct GoUrl {
    scheme: String,
    opaque: String,
    user: Option<String>,
    host: String,
    path: String,
    query: Option<String>,
    fragment: String,
}

impl GoUrl {
    fn parse(whole: &str) -> Result<GoUrl> {
        GoUrl::read(whole).map_err(|message| format!("parse {}: {message}", literal::quote(whole)))
    }

    fn read(whole: &str) -> Result<GoUrl> {
        if whole.chars().any(|c| c.is_ascii_control()) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let mut url = GoUrl::default();
        let (rest, fragment) = whole.split_once('#').unwrap_or((whole, ""));
        url.fragment = unescape(fragment)?;
        let (scheme, rest) = split_scheme(rest)?;
        scheme.to_ascii_lowercase().clone_into(&mut url.scheme);
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query.to_owned())),
            None => (rest, None),
        };
        url.query = query;
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                rest.clone_into(&mut url.opaque);
                return Ok(url);
            }
            if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let authority =
            rest.strip_prefix("//").filter(|_| !url.scheme.is_empty() || !rest.starts_with("///"));
        let path = match authority {
            Some(authority) => {
                let end = authority.find('/').unwrap_or(authority.len());
                url.authority(&authority[..end])?;
                &authority[end..]
            }
            None => rest,
        };
        url.path = unescape(path)?;
        Ok(url)
    }

    fn authority(&mut self, authority: &str) -> Result<()> {
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        if let Some(wrong) = host.chars().find(|c| " \"<>\\^`{}|".contains(*c)) {
            let shown = literal::quote(&wrong.to_string());
            return Err(format!("invalid character {shown} in host name"));
        }
        let port = host.rsplit_once(':').filter(|_| !host.ends_with(']')).map_or("", |(_, port)| port);
        if !port.chars().all(|c| c.is_ascii_digit()) {
            return Err(format!("invalid port {} after host", literal::quote(&format!(":{port}"))));
        }
        self.host = unescape(host)?;
        self.user = user.map(unescape).transpose()?;
        Ok(())
    }

    fn hostname(&self) -> &str {
        let host = match self.host.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => host,
            _ => &self.host,
        };
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    fn text(&self) -> String {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out.push_str(&self.scheme);
            out.push(':');
        }
        if self.opaque.is_empty() {
            let user = self.user.as_deref();
            if !self.host.is_empty()
                || user.is_some()
                || (!self.scheme.is_empty() && self.path.starts_with("//"))
            {
                out.push_str("//");
                if let Some(user) = user {
                    let parts: Vec<String> =
                        user.splitn(2, ':').map(|part| escape(part, UrlPart::User)).collect();
                    out.push_str(&parts.join(":"));
                    out.push('@');
                }
                out.push_str(&self.host);
            }
            let path = escape(&self.path, UrlPart::Path);
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                out.push('/');
            }
            out.push_str(&path);
        } else {
            out.push_str(&self.opaque);
        }
        if let Some(query) = &self.query {
            out.push('?');
            out.push_str(query);
        }
        if !self.fragment.is_empty() {
            out.push('#');
            out.push_str(&escape(&self.fragment, UrlPart::Fragment));
        }
        out
    }
}

fn split_scheme(rest: &str) -> Result<(&str, &str)> {
    let scheme_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
    match scheme_end {
        Some(0) if rest.starts_with(':') => Err("missing protocol scheme".to_owned()),
        Some(end) if rest[end..].starts_with(':') && rest.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Ok((&rest[..end], &rest[end + 1..]))
        }
        _ => Ok(("", rest)),
    }
}

fn url_parse(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let url = GoUrl::parse(text(args, 0)).map_err(|message| format!("unable to parse url: {message}"))?;
    let hostname = url.hostname().to_owned();
    let user = url.user.as_deref().map_or(String::new(), |user| {
        user.splitn(2, ':').map(|part| escape(part, UrlPart::User)).collect::<Vec<_>>().join(":")
    });
    let entries = [
        ("scheme", url.scheme),
        ("host", url.host),
        ("hostname", hostname),
        ("path", url.path),
        ("query", url.query.unwrap_or_default()),
        ("opaque", url.opaque),
        ("fragment", url.fragment),
        ("userinfo", user),
    ];
    Val::dict(entries.into_iter().map(|(key, value)| (key.to_owned(), Val::text(value))).collect())
}

fn url_join(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let entries: IndexMap<String, Val> = match arg(args, 0) {
        Val::Dict(dict) => dict.entries.borrow().clone(),
        _ => IndexMap::new(),
    };
    let part = |key: &str| match entries.get(key) {
        Some(Val::Str(text)) => Ok(text.to_string()),
        None => Ok(String::new()),
        Some(other) => {
            Err(format!("unable to parse {key} key, must be of type string, but {} found", other.type_name()))
        }
    };
    let user = part("userinfo")?;
    let url = GoUrl {
        scheme: part("scheme")?,
        opaque: part("opaque")?,
        user: if user.is_empty() { None } else { Some(unescape(&user)?) },
        host: part("host")?,
        path: part("path")?,
        query: Some(part("query")?).filter(|query| !query.is_empty()),
        fragment: part("fragment")?,
    };
    Ok(Val::text(url.text()))
}

/// Go's `url.JoinPath`: cleans the path; keeps a trailing slash and the query.
fn join_url(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    if args.is_empty() {
        return Ok(Val::text(""));
    }
    let mut url = GoUrl::parse(text(args, 0))?;
    let relative = !url.path.starts_with('/');
    let base = if relative { format!("/{}", url.path) } else { url.path.clone() };
    let parts: Vec<&str> =
        std::iter::once(base.as_str()).chain((1..args.len()).map(|i| text(args, i))).collect();
    let mut path = paths::join(&parts);
    if relative {
        path.remove(0);
    }
    if parts.last().is_some_and(|last| last.ends_with('/')) && !path.ends_with('/') {
        path.push('/');
    }
    url.path = unescape(&path)?;
    Ok(Val::text(url.text()))
}
