//! Finds files by pattern: `*`, `?` and `[…]` in a name, `**` for any directories.

use std::path::{Path, PathBuf};

use crate::shell::CancelScope;

use super::FingerprintError;

/// How many directory entries one pattern may visit.
const MAX_ENTRIES: usize = 1_000_000;
/// How many files one pattern may match.
const MAX_FOUND: usize = 200_000;
/// How many entries are visited between two looks at the time.
const LOOK_EVERY: usize = 256;
/// How deep `**` descends; bounds cycles of symbolic links.
const MAX_DEPTH: usize = 40;

/// Adds the files (not directories) that match a pattern.
pub(super) fn find(
    dir: &Path,
    pattern: &str,
    scope: &CancelScope,
    found: &mut Vec<PathBuf>,
) -> Result<(), FingerprintError> {
    let path = crate::go::path::join(dir, pattern);
    let mut parts: Vec<String> =
        path.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    // Several in a row mean the same as one, and would multiply the work.
    parts.dedup_by(|a, b| a == "**" && b == "**");
    // As in a shell, `**` finds hidden files and a lone `*` does not.
    let hidden = parts.iter().rev().skip(1).any(|p| p == "**");
    let mut walk = GlobWalk { pattern, scope, hidden, entries: 0, found };
    let start = parts.iter().take_while(|p| !is_pattern(p)).count().min(parts.len().saturating_sub(1));
    let base: PathBuf = parts[..start].iter().collect();
    walk.step(&base, &parts[start..], 0)
}

struct GlobWalk<'w> {
    pattern: &'w str,
    scope: &'w CancelScope,
    hidden: bool,
    entries: usize,
    found: &'w mut Vec<PathBuf>,
}

impl GlobWalk<'_> {
    fn step(&mut self, base: &Path, parts: &[String], depth: usize) -> Result<(), FingerprintError> {
        let Some((part, rest)) = parts.split_first() else {
            if base.is_file() {
                self.found.push(base.to_owned());
            }
            if self.found.len() > MAX_FOUND {
                return Err(self.too_many(MAX_FOUND));
            }
            return Ok(());
        };
        if part == "**" && !rest.is_empty() {
            self.step(base, rest, depth)?;
            if depth < MAX_DEPTH {
                for (_, path) in self.list(base)? {
                    if path.is_dir() {
                        self.step(&path, parts, depth + 1)?;
                    }
                }
            }
            return Ok(());
        }
        if !is_pattern(part) {
            return self.step(&base.join(part), rest, depth);
        }
        for (name, path) in self.list(base)? {
            let shown = self.hidden || !name.starts_with('.') || part.starts_with('.');
            if shown && matches(part, &name) {
                self.step(&path, rest, depth)?;
            }
        }
        Ok(())
    }

    /// The entries of a directory; an unreadable one has none.
    fn list(&mut self, dir: &Path) -> Result<Vec<(String, PathBuf)>, FingerprintError> {
        let Ok(entries) = std::fs::read_dir(dir) else { return Ok(Vec::new()) };
        let mut listed = Vec::new();
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(self.too_many(MAX_ENTRIES));
            }
            if self.entries.is_multiple_of(LOOK_EVERY) && self.scope.cancel_reason().is_some() {
                return Err(FingerprintError::Stopped { pattern: self.pattern.to_owned() });
            }
            listed.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
        Ok(listed)
    }

    fn too_many(&self, limit: usize) -> FingerprintError {
        FingerprintError::TooMany { pattern: self.pattern.to_owned(), limit }
    }
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

/// Whether a name matches a pattern without slashes.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(p) {
            Some('*') => {
                back = Some((p, n));
                p += 1;
                continue;
            }
            None if n == name.len() => return true,
            Some(_) if n < name.len() => match_char(&pattern[p..], name[n]),
            _ => None,
        };
        match (step, &mut back) {
            (Some(used), _) => {
                p += used;
                n += 1;
            }
            (None, Some((star, taken))) if *taken < name.len() => {
                *taken += 1;
                (p, n) = (*star + 1, *taken);
            }
            (None, _) => return false,
        }
    }
}

/// The length of the pattern element that matches this character, or `None`.
fn match_char(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '\\' if pattern.len() > 1 => (pattern[1] == c).then_some(2),
        '[' => {
            let Some(end) = pattern.iter().skip(2).position(|p| *p == ']').map(|i| i + 2) else {
                return (c == '[').then_some(1);
            };
            let negated = matches!(pattern[1], '!' | '^');
            let set = &pattern[1 + usize::from(negated)..end];
            let mut inside = false;
            let mut i = 0;
            while i < set.len() {
                if i + 2 < set.len() && set[i + 1] == '-' {
                    inside |= (set[i]..=set[i + 2]).contains(&c);
                    i += 3;
                } else {
                    inside |= set[i] == c;
                    i += 1;
                }
            }
            (inside != negated).then_some(end + 1)
        }
        other => (*other == c).then_some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn names_match_patterns() {
        for (pattern, name, want) in [
            ("*.c", "a.c", true),
            ("*.c", "a.h", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("?.c", "a.c", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a]x", "bx", true),
            ("\\*", "*", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), want, "{pattern} {name}");
        }
    }
}
