//! Parses dotenv files.

use indexmap::IndexMap;
use thiserror::Error;

/// An invalid line of a dotenv file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("error reading env file {file}: line {line}: {message}")]
pub struct DotenvError {
    pub file: String,
    pub line: usize,
    pub message: String,
}

/// The variables of a file, in file order. A value may be bare, in single quotes (verbatim) or in double quotes
/// (with `\n`, `\"` and `$NAME`); a name may follow `export`; `#` starts a comment.
pub(crate) fn parse(text: &str, file: &str) -> Result<IndexMap<String, String>, DotenvError> {
    let text = text.replace("\r\n", "\n");
    let mut vars = IndexMap::new();
    let mut rest = text.as_str();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(vars);
        }
        if rest.starts_with('#') {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        let line = text[..text.len() - rest.len()].matches('\n').count() + 1;
        let fail = |message: String| DotenvError { file: file.to_owned(), line, message };
        let statement =
            rest.strip_prefix("export").filter(|r| r.starts_with([' ', '\t'])).map_or(rest, str::trim_start);
        let end = statement.find(['=', ':', '\n']).unwrap_or(statement.len());
        let name = statement[..end].trim();
        if !statement[end..].starts_with(['=', ':']) {
            return Err(fail(format!("expected NAME=value, found {name:?}")));
        }
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-')) {
            return Err(fail(format!("unexpected character in variable name near {name:?}")));
        }
        let after = statement[end + 1..].trim_start_matches([' ', '\t']);
        let (value, left) =
            value(after, &vars).ok_or_else(|| fail(format!("unterminated quoted value of {name}")))?;
        vars.insert(name.to_owned(), value);
        rest = left;
    }
}

/// A value and the text after it; `None` for an unterminated quote.
fn value<'t>(text: &'t str, vars: &IndexMap<String, String>) -> Option<(String, &'t str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote else {
        let (line, left) = text.split_once('\n').unwrap_or((text, ""));
        // A comment needs whitespace before it: `a#b` is a value.
        let cut =
            line.char_indices().find(|(i, c)| *c == '#' && (*i == 0 || line[..*i].ends_with([' ', '\t'])));
        let bare = cut.map_or(line, |(i, _)| &line[..i]).trim();
        return Some((expand(bare, vars), left));
    };
    let body = &text[1..];
    let mut escaped = false;
    let end = body.char_indices().find_map(|(i, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(i)
    })?;
    let inner = &body[..end];
    let left = body[end + 1..].split_once('\n').map_or("", |(_, after)| after);
    Some((if quote == '"' { expand(&unescape(inner), vars) } else { inner.to_owned() }, left))
}

/// Resolves `\n` and `\r`, and drops other backslashes except before a dollar.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('$') => out.push_str("\\$"),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

/// Expands `$NAME` and `${NAME}` from earlier variables; `\$` is a literal dollar.
fn expand(text: &str, vars: &IndexMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        if let Some(before) = rest[..at].strip_suffix('\\') {
            out.push_str(before);
            out.push('$');
            rest = &rest[at + 1..];
            continue;
        }
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (braced, body) = after.strip_prefix('{').map_or((false, after), |b| (true, b));
        let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
        if end == 0 || (braced && !body[end..].starts_with('}')) {
            out.push('$');
            rest = after;
            continue;
        }
        out.push_str(vars.get(&body[..end]).map_or("", String::as_str));
        rest = &body[end + usize::from(braced)..];
    }
    out.push_str(rest);
    out
}
