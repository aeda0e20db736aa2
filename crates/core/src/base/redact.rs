//! Removes secrets from agent output before it is stored.
//!
//! Agents print what they see: the header of a failed request, a line of an `.env` file, a remote URL with its
//! password. Anything in a known secret format is replaced by [`MARK`]. This is best effort: a secret that looks like
//! an ordinary word passes.

use std::borrow::Cow;

/// Replaces a secret.
pub const MARK: &str = "[redacted]";

/// Prefixes of well-known services' tokens.
#[rustfmt::skip]
const PREFIXES: [&str; 20] = [
    "sk-", "sk_live_", "sk_test_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "xoxb-", "xoxp-", "xoxa-", "xoxs-", "AKIA", "ASIA", "AIza", "npm_", "eyJ",
];
/// Fewer characters after the prefix are an ordinary word.
const TOKEN_LEN_MIN: usize = 16;

/// Keys whose value is a secret: `API_KEY=…`, `"password": "…"`.
#[rustfmt::skip]
const NAMES: [&str; 10] = [
    "token", "secret", "password", "passwd", "api_key", "apikey", "api-key", "access_key", "private_key",
    "auth_key",
];
/// Shorter values are words such as `none`, not secrets.
const VALUE_LEN_MIN: usize = 8;

/// Redacts text line by line, because a private key spans several lines.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    is_in_key: bool,
}

/// Redacts a whole text.
pub fn redact(text: &str) -> Cow<'_, str> {
    if !may_hold_secrets(text) {
        return Cow::Borrowed(text);
    }
    let mut redactor = Redactor::default();
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(|line| redactor.line(line)).collect();
    Cow::Owned(lines.join("\n"))
}

/// A cheap test that most lines pass without further work.
fn may_hold_secrets(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    text.contains("-----BEGIN")
        || text.contains("://")
        || lower.contains("authorization")
        || lower.contains("bearer ")
        || PREFIXES.iter().any(|prefix| text.contains(prefix))
        || NAMES.iter().any(|name| lower.contains(name))
}

impl Redactor {
    pub fn line<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        if self.is_in_key {
            self.is_in_key = !line.contains("-----END");
            return Cow::Borrowed(MARK);
        }
        if !may_hold_secrets(line) {
            return Cow::Borrowed(line);
        }
        if let Some(start) = line.find("-----BEGIN").filter(|_| line.contains("PRIVATE KEY")) {
            self.is_in_key = !line.contains("-----END");
            return Cow::Owned(format!("{}{MARK}", &line[..start]));
        }
        let line = without_header(line);
        let line = without_passwords_in_addresses(&line);
        let line = without_tokens(&line);
        Cow::Owned(without_named_values(&line))
    }
}

/// `Authorization: Basic …` to the end of the line or the closing quote, and any `Bearer …`.
fn without_header(line: &str) -> String {
    let mut out = line.to_owned();
    for name in ["authorization:", "authorization\": \"", "authorization\":\"", "bearer "] {
        let lower = out.to_ascii_lowercase();
        let Some(found) = lower.find(name) else { continue };
        let start = found + name.len();
        let value = &out[start..];
        let skipped = value.len() - value.trim_start().len();
        let end = value[skipped..].find(['"', '\'', '`']).map_or(value.len(), |at| at + skipped);
        // "bearer " is also an ordinary word; a token is long and has no space in it.
        if name == "bearer " {
            let token = value[skipped..end].split_whitespace().next().unwrap_or_default();
            if token.len() < TOKEN_LEN_MIN {
                continue;
            }
            let from = start + skipped;
            out.replace_range(from..from + token.len(), MARK);
        } else if end > skipped {
            out.replace_range(start + skipped..start + end, MARK);
        }
    }
    out
}

/// `https://mia:secret@example.org` keeps the user name and loses the password.
fn without_passwords_in_addresses(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(found) = rest.find("://") {
        let (head, tail) = rest.split_at(found + 3);
        out.push_str(head);
        let authority_len = tail
            .find(|c: char| c == '/' || c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>'))
            .unwrap_or(tail.len());
        let authority = &tail[..authority_len];
        match authority.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?, host))) {
            Some(((name, _), host)) => {
                out.push_str(name);
                out.push(':');
                out.push_str(MARK);
                out.push('@');
                out.push_str(host);
            }
            None => out.push_str(authority),
        }
        rest = &tail[authority_len..];
    }
    out + rest
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Words with a known token prefix that are long enough to be one.
fn without_tokens(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(is_token_char) {
        let (gap, tail) = rest.split_at(start);
        let len = tail.find(|c: char| !is_token_char(c)).unwrap_or(tail.len());
        let (word, after) = tail.split_at(len);
        let is_token = PREFIXES
            .iter()
            .filter_map(|prefix| word.strip_prefix(prefix))
            .any(|behind| behind.len() >= TOKEN_LEN_MIN && behind.bytes().any(|b| b.is_ascii_digit()));
        out.push_str(gap);
        out.push_str(if is_token { MARK } else { word });
        rest = after;
    }
    out + rest
}

/// `NAME=value` and `"name": "value"`, where the name marks the value as a secret.
fn without_named_values(line: &str) -> String {
    let mut out = line.to_owned();
    let mut from = 0;
    while let Some(value) = next_named_value(&out, from) {
        from = value.start + MARK.len();
        out.replace_range(value, MARK);
    }
    out
}

/// The next value after a secret's name, at or after `from`.
fn next_named_value(line: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let lower = line.to_ascii_lowercase();
    let mut at = from;
    while let Some(sign) = lower.get(at..)?.find(['=', ':']).map(|found| found + at) {
        at = sign + 1;
        let name = lower[..sign].trim_end_matches(['"', '\'', ' ']);
        if !NAMES.iter().any(|known| name.ends_with(known)) {
            continue;
        }
        let behind = &line[sign + 1..];
        let start = sign + 1 + (behind.len() - behind.trim_start_matches([' ', '"', '\'']).len());
        let len = line[start..]
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '&' | ')' | '}'))
            .unwrap_or(line.len() - start);
        let value = &line[start..start + len];
        // Ordinary words stay (`token: expected`): a secret contains a digit.
        if value.len() >= VALUE_LEN_MIN && !value.contains(MARK) && value.bytes().any(|b| b.is_ascii_digit())
        {
            return Some(start..start + len);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn secrets_are_redacted_and_words_stay() {
        #[rustfmt::skip]
        let table = [
            ("fatal: could not read https://mia:hunter2@example.org/x.git", "fatal: could not read https://mia:[redacted]@example.org/x.git"),
            ("postgres://baton:p%40ss@db:5432/x and http://a@b/", "postgres://baton:[redacted]@db:5432/x and http://a@b/"),
            ("curl -H 'Authorization: Basic bWlhOng='", "curl -H 'Authorization: [redacted]'"),
            ("> authorization: token abc", "> authorization: [redacted]"),
            (r#"{"Authorization": "Bearer abcdefghijklmnop1"}"#, r#"{"Authorization": "[redacted]"}"#),
            ("sent Bearer abcdefghijklmnop1 and waited", "sent Bearer [redacted] and waited"),
            ("key sk-proj-abcdefghijklmnop123 works", "key [redacted] works"),
            ("(ghp_0123456789abcdefABCD)", "([redacted])"),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI7MDENG", "AWS_SECRET_ACCESS_KEY=[redacted]"),
            (r#""password": "correct-horse-9", "x": 1"#, r#""password": "[redacted]", "x": 1"#),
            ("API_KEY=abcdef123456&x=1 token=abcdef123457", "API_KEY=[redacted]&x=1 token=[redacted]"),
            ("error: unexpected token: expected `,`", "error: unexpected token: expected `,`"),
            ("input_tokens: 123456789012", "input_tokens: 123456789012"),
            ("the bearer of news, see https://example.org/a:b@c", "the bearer of news, see https://example.org/a:b@c"),
            ("eyJ is how a JWT begins; sk-learn is a library", "eyJ is how a JWT begins; sk-learn is a library"),
        ];
        for (text, expected) in table {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn a_private_key_is_redacted_completely() {
        let text = "before\n-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nafter";
        assert_eq!(redact(text), "before\n[redacted]\n[redacted]\n[redacted]\nafter");
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIabc";
        assert_eq!(redact(certificate), certificate);
    }

    proptest! {
        #[test]
        fn redacting_never_panics_and_is_idempotent(text in any::<String>(), secret in "[a-zA-Z0-9]{20}1") {
            let once = redact(&text).into_owned();
            prop_assert_eq!(redact(&once).into_owned(), once.clone());
            let planted = redact(&format!("{text} ghp_{secret}")).into_owned();
            prop_assert!(!planted.contains(&secret), "{planted}");
        }
    }
}
