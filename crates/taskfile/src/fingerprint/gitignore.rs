//! Files ignored by git.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::glob::matches;

/// One line of a `.gitignore`.
struct IgnoreRule {
    parts: Vec<String>,
    negated: bool,
    only_directories: bool,
    /// A pattern with a slash before its end applies only from the `.gitignore`'s own directory.
    anchored: bool,
}

/// Removes the files that a `.gitignore` between the root and the file ignores.
pub(super) fn retain(files: &mut Vec<PathBuf>, root: &Path) {
    let mut rules: HashMap<PathBuf, Vec<IgnoreRule>> = HashMap::new();
    files.retain(|file| !is_ignored(file, root, &mut rules));
}

/// A file in an ignored directory is ignored regardless of later rules.
fn is_ignored(file: &Path, root: &Path, rules: &mut HashMap<PathBuf, Vec<IgnoreRule>>) -> bool {
    let Ok(below) = file.strip_prefix(root) else { return false };
    let mut path = root.to_owned();
    let parts: Vec<_> = below.components().collect();
    for (depth, part) in parts.iter().enumerate() {
        path.push(part);
        if is_path_ignored(&path, root, depth + 1 < parts.len(), rules) {
            return true;
        }
    }
    false
}

/// The last matching rule decides; deeper `.gitignore` files come after higher ones.
fn is_path_ignored(
    path: &Path,
    root: &Path,
    is_dir: bool,
    rules: &mut HashMap<PathBuf, Vec<IgnoreRule>>,
) -> bool {
    let mut ignored = false;
    let Some(parent) = path.parent() else { return false };
    let mut dirs: Vec<&Path> = parent.ancestors().take_while(|d| d.starts_with(root)).collect();
    dirs.reverse();
    for dir in dirs {
        let lines = rules.entry(dir.to_owned()).or_insert_with(|| read(&dir.join(".gitignore")));
        let Ok(relative) = path.strip_prefix(dir) else { continue };
        let parts: Vec<String> =
            relative.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
        for rule in lines {
            if (is_dir || !rule.only_directories) && rule.matches(&parts) {
                ignored = !rule.negated;
            }
        }
    }
    ignored
}

fn read(path: &Path) -> Vec<IgnoreRule> {
    std::fs::read_to_string(path).unwrap_or_default().lines().filter_map(IgnoreRule::parse).collect()
}

impl IgnoreRule {
    fn parse(line: &str) -> Option<IgnoreRule> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (negated, line) = line.strip_prefix('!').map_or((false, line), |l| (true, l));
        let line = line.strip_prefix('\\').unwrap_or(line);
        let (only_directories, line) = line.strip_suffix('/').map_or((false, line), |l| (true, l));
        let anchored = line.contains('/');
        let parts = line.trim_start_matches('/').split('/').map(str::to_owned).collect();
        Some(IgnoreRule { parts, negated, only_directories, anchored })
    }

    fn matches(&self, path: &[String]) -> bool {
        if self.anchored {
            return path_matches(&self.parts, path);
        }
        path.last().zip(self.parts.first()).is_some_and(|(name, pattern)| matches(pattern, name))
    }
}

fn path_matches(pattern: &[String], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            (0..=path.len()).any(|skip| path_matches(rest, &path[skip..]))
        }
        (Some((first, rest)), Some((name, below))) => matches(first, name) && path_matches(rest, below),
        _ => false,
    }
}
