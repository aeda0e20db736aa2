//! Shell expansion of paths: `~`, variables and braces.

/// How many words brace expansion may produce.
const MAX_WORDS: usize = 10_000;

/// How many pairs of braces are expanded.
const MAX_BRACES: usize = 100;

/// Expands `~` and variables; whitespace and patterns are kept.
pub(crate) fn expand_literal(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    if !text.contains(['~', '$', '\\', '\'', '"']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    if let Some(after) = text.strip_prefix('~')
        && (after.is_empty() || after.starts_with('/'))
        && let Some(home) = lookup("HOME")
    {
        out.push_str(&home);
        rest = after;
    }
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().map(|(_, c)| c)),
            '$' => {
                let after = &rest[at + 1..];
                let (braced, body) = after.strip_prefix('{').map_or((false, after), |b| (true, b));
                let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
                if end == 0 || (braced && !body[end..].starts_with('}')) {
                    out.push('$');
                    continue;
                }
                out.push_str(&lookup(&body[..end]).unwrap_or_default());
                for _ in 0..body[..end].chars().count() + 2 * usize::from(braced) {
                    chars.next();
                }
            }
            _ => out.push(c),
        }
    }
    out
}

/// Expands variables and `{a,b}`.
pub(crate) fn expand_fields(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let text = expand_literal(text, lookup);
    // Each pair of braces takes a part of the stack; patterns in the wild have a few.
    if text.matches('{').count() > MAX_BRACES {
        return vec![text];
    }
    let mut out = Vec::new();
    expand_braces(&text, &mut out);
    out
}

/// Expands the first braces with a comma inside, then those of the results.
fn expand_braces(text: &str, out: &mut Vec<String>) {
    if out.len() >= MAX_WORDS {
        return;
    }
    let Some((open, close, commas)) = find_braces(text) else {
        out.push(text.to_owned());
        return;
    };
    let mut from = open + 1;
    for cut in commas.into_iter().chain([close]) {
        expand_braces(&format!("{}{}{}", &text[..open], &text[from..cut], &text[close + 1..]), out);
        from = cut + 1;
    }
}

/// Positions of the first brace pair and of its top-level commas.
fn find_braces(text: &str) -> Option<(usize, usize, Vec<usize>)> {
    for (open, _) in text.match_indices('{') {
        let (mut depth, mut commas) = (0, Vec::new());
        for (at, c) in text[open..].char_indices().map(|(i, c)| (i + open, c)) {
            match c {
                '{' => depth += 1,
                ',' if depth == 1 => commas.push(at),
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        if commas.is_empty() {
                            break;
                        }
                        return Some((open, at, commas));
                    }
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        (name == "HOME" || name == "A").then(|| "/x".to_owned())
    }

    #[test]
    fn home_variables_and_braces() {
        assert_eq!(expand_literal("~/a b/$A/${A}b/$NOPE", &lookup), "/x/a b//x//xb/");
        assert_eq!(expand_fields("a.{c,h}{1,2}", &lookup), ["a.c1", "a.c2", "a.h1", "a.h2"]);
        assert_eq!(expand_fields("{a}", &lookup), ["{a}"]);
        assert_eq!(expand_fields("{a,{b,c}}", &lookup), ["a", "b", "c"]);
    }
}
