//! Whether there is what `[worktree]` says is to be brought into each worktree.

use std::path::Path;

use crate::reports::doctor::Finding;
use crate::settings::Settings;

/// What is not there is left out, because it may come later; nobody is told when an attempt starts.
pub(super) fn check_worktree(root: &Path, settings: &Settings) -> Option<Finding> {
    let wanted = &settings.worktree;
    let missing: Vec<&str> = wanted
        .copy
        .iter()
        .chain(&wanted.reuse)
        .map(String::as_str)
        .filter(|path| root.join(path).symlink_metadata().is_err())
        .collect();
    if missing.is_empty() {
        return None;
    }
    let detail = format!("not in your checkout, so worktrees do not get it: {}", missing.join(", "));
    Some(Finding::note("worktree", detail, "make it, or take it out of copy and reuse in [worktree]"))
}
