//! Globs over paths of a repository: `*` and `?` within a name, `**` for any number of folders.

/// Whether the path matches. A glob that ends in `/` means everything below it.
pub fn matches(glob: &str, path: &str) -> bool {
    let whole;
    let glob = if glob.ends_with('/') {
        whole = format!("{glob}**");
        &whole
    } else {
        glob
    };
    let glob: Vec<&str> = glob.trim_start_matches('/').split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    match_folders(&glob, &path)
}

/// Why a glob can match nothing, or not what its writer means. None if it is fine.
pub fn objection(glob: &str) -> Option<&'static str> {
    if glob.trim().is_empty() {
        return Some("is empty");
    }
    if glob.contains(['[', ']', '{', '}', '\\']) {
        return Some("has [ ], { } or \\, which mean nothing here: use ?, * and **, or one entry for each");
    }
    if glob.starts_with('!') {
        return Some("begins with !, and nothing can be left out again");
    }
    let is_nowhere = |name: &str| [".", ".."].contains(&name);
    glob.split('/')
        .any(is_nowhere)
        .then_some("has . or .. as a folder: write it from the root of the repository")
}

fn match_folders(glob: &[&str], path: &[&str]) -> bool {
    match glob {
        [] => path.is_empty(),
        // At the end it stands for a file at least.
        ["**"] => !path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|skipped| match_folders(rest, &path[skipped..])),
        [name, rest @ ..] => path.split_first().is_some_and(|(first, below)| {
            match_name(name.as_bytes(), first.as_bytes()) && match_folders(rest, below)
        }),
    }
}

/// Without recursion over the name: only the last star ever has to be taken back.
fn match_name(glob: &[u8], name: &[u8]) -> bool {
    let (mut at, mut seen, mut star) = (0, 0, None);
    while seen < name.len() {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(one) if *one == b'?' || *one == name[seen] => {
                at += 1;
                seen += 1;
            }
            Some(_) | None => {
                let Some((from, taken)) = star else { return false };
                star = Some((from, taken + 1));
                at = from + 1;
                seen = taken + 1;
            }
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_match_nothing_is_objected_to() {
        for glob in ["", " ", "tests/[ab", "*.{rs,py}", "!tests/**", "./tests/**", "../x", "a\\b"] {
            assert!(objection(glob).is_some(), "{glob}");
        }
        for glob in ["tests/**", "/tests/b", "docs/", "*.rs", "**/?id?.tsx", ".agent/**", "a b", "..x"] {
            assert_eq!(objection(glob), None, "{glob}");
        }
    }

    #[test]
    fn globs_match_whole_paths() {
        let cases = [
            ("tests/**", "tests/a.rs", true),
            ("tests/**", "tests/deep/er/a.rs", true),
            ("tests/**", "tests", false),
            ("tests/**", "src/tests/a.rs", false),
            ("**/tests/**", "src/tests/a.rs", true),
            ("**/tests/**", "tests/a.rs", true),
            ("*.lock", "Cargo.lock", true),
            ("*.lock", "sub/Cargo.lock", false),
            ("**/*.lock", "sub/Cargo.lock", true),
            ("**/*.lock", "Cargo.lock", true),
            ("a?c*e", "abcde", true),
            ("a?c*e", "abcdef", false),
            ("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
            (".agent/", ".agent/baton.toml", true),
            ("/Makefile", "Makefile", true),
            ("Makefile", "makefile", false),
            ("", "a", false),
        ];
        for (glob, path, expected) in cases {
            assert_eq!(matches(glob, path), expected, "{glob} {path}");
        }
    }
}
