//! What a folder is to git, without asking git.

use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderKind {
    /// A repository's files, or a folder among them.
    Checkout,
    /// A repository without files.
    Bare,
    /// Baton has worked here, and the repository is gone.
    Deleted,
    /// In no repository.
    Plain,
}

impl FolderKind {
    pub fn look(folder: &Path) -> Self {
        match () {
            () if folder.ancestors().any(is_checkout) => Self::Checkout,
            () if is_bare(folder) => Self::Bare,
            () if has_state(folder) => Self::Deleted,
            () => Self::Plain,
        }
    }
}

/// The folder that work in `folder` belongs to: the nearest checkout upwards, else the bare repository or the leftover
/// of a deleted one that it is in, else itself.
pub(super) fn find_root(folder: &Path) -> &Path {
    [is_checkout, is_bare, has_state]
        .into_iter()
        .find_map(|is_root| folder.ancestors().find(|above| is_root(above)))
        .unwrap_or(folder)
}

/// As git does, skips a `.git` folder without a repository in it.
fn is_checkout(folder: &Path) -> bool {
    let git = folder.join(".git");
    git.is_file() || is_git_dir(&git)
}

/// A `.git` folder is not a bare repository, although it looks like one.
fn is_bare(folder: &Path) -> bool {
    is_git_dir(folder) && folder.file_name().is_none_or(|name| name != ".git")
}

fn is_git_dir(folder: &Path) -> bool {
    folder.join("HEAD").symlink_metadata().is_ok()
        && folder.join("objects").is_dir()
        && folder.join("refs").is_dir()
}

fn has_state(folder: &Path) -> bool {
    folder.join(".agent/state/.gitignore").is_file()
}
