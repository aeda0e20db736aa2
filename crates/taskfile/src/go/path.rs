//! Paths as Go's `filepath` joins and cleans them.

use std::path::{Component, Path, PathBuf};

/// Joins and cleans: the result has no `.` and no `..` that could be left out.
pub(crate) fn join(base: &Path, path: &str) -> PathBuf {
    clean(&base.join(path))
}

pub(crate) fn clean(path: &Path) -> PathBuf {
    if is_clean(path.as_os_str().as_encoded_bytes()) {
        return path.to_owned();
    }
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            other => out.push(other),
        }
    }
    if out.as_os_str().is_empty() { PathBuf::from(".") } else { out }
}

/// A quick check that most paths pass; `false` means "not sure".
fn is_clean(path: &[u8]) -> bool {
    path.first() == Some(&b'/')
        && path.last() != Some(&b'/')
        && !path.windows(2).any(|pair| matches!(pair, b"//" | b"/."))
}
