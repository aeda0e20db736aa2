//! What a person should know about their checkout before agents work on it.

use std::path::Path;

use crate::git::{At, Git, Repository};

/// Something about the checkout, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutNote {
    pub about: &'static str,
    pub detail: String,
    pub fix: String,
    /// Work fails until it is fixed.
    pub is_broken: bool,
}

/// Everything worth knowing; nothing if the repository cannot be opened, which others report.
pub async fn examine(root: &Path) -> Vec<CheckoutNote> {
    let mut notes = notable(root).await;
    if let Ok(repository) = Repository::open(&Git::on_path(), root).await {
        notes.extend(identity(&repository, root).await);
        notes.extend(filters(&repository, root).await);
    }
    notes
}

/// What agents do not see of the checkout, for the person who starts them.
pub async fn notable(root: &Path) -> Vec<CheckoutNote> {
    let Ok(repository) = Repository::open(&Git::on_path(), root).await else { return Vec::new() };
    if repository.is_bare() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    notes.extend(detached(&repository, root).await);
    notes.extend(uncommitted(&repository, root).await);
    notes
}

async fn detached(repository: &Repository, root: &Path) -> Option<CheckoutNote> {
    let head = repository.call_at("read HEAD", At::Folder(root)).args(["symbolic-ref", "-q", "HEAD"]);
    if head.find().await.ok()?.is_some() {
        return None;
    }
    let commit = repository.call_at("read HEAD", At::Folder(root)).args(["rev-parse", "--short", "HEAD"]);
    let commit = commit.line().await.ok()?;
    let base = repository.default_branch().await.ok()?;
    Some(CheckoutNote {
        about: "HEAD",
        detail: format!("HEAD is detached at {commit}; work starts from {base}, not from there"),
        fix: "switch to a branch, or create a project with the branch to start from: baton project create"
            .to_owned(),
        is_broken: false,
    })
}

async fn uncommitted(repository: &Repository, root: &Path) -> Option<CheckoutNote> {
    let status = repository.call_at("look for uncommitted changes", At::Folder(root));
    let status = status.args(["status", "--porcelain", "--untracked-files=no", "--ignore-submodules"]);
    let text = status.run().await.ok()?;
    let count = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let files = if count == 1 { "1 file has" } else { "files have" };
    let number = if count == 1 { String::new() } else { format!("{count} ") };
    (count > 0).then(|| CheckoutNote {
        about: "changes",
        detail: format!("{number}{files} uncommitted changes, which agents do not see"),
        fix: "commit them if agents need them".to_owned(),
        is_broken: false,
    })
}

async fn identity(repository: &Repository, root: &Path) -> Option<CheckoutNote> {
    for key in ["user.name", "user.email"] {
        let call = repository.call_at("read the identity", At::Folder(root)).args(["config", "--get", key]);
        if call.find().await.ok()?.is_none() {
            return Some(CheckoutNote {
                about: "identity",
                detail: format!(
                    "git has no {key}; your own commits need one, and agents commit as Baton agent"
                ),
                fix: format!("git config --global {key} \"…\""),
                is_broken: false,
            });
        }
    }
    None
}

/// Filters whose program is missing: files cannot be checked out.
async fn filters(repository: &Repository, root: &Path) -> Vec<CheckoutNote> {
    let call = repository.call_at("read the filters", At::Folder(root));
    let pattern = r"^filter\..*\.(smudge|process)$";
    let Ok(Some(text)) = call.args(["config", "--get-regexp", pattern]).find().await else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut notes = Vec::new();
    for (key, command) in text.lines().filter_map(|line| line.split_once(' ')) {
        let Some(program) = command.split_whitespace().next() else { continue };
        if is_installed(program) {
            continue;
        }
        let name = key.trim_start_matches("filter.").rsplit_once('.').map_or(key, |(name, _)| name);
        let required = repository.call_at("read the filters", At::Folder(root));
        let required = required.args(["config", "--type=bool", "--get", &format!("filter.{name}.required")]);
        let is_broken = required.line().await.is_ok_and(|value| value == "true");
        let note = CheckoutNote {
            about: "filter",
            detail: format!(
                "the filter {name} runs {program}, which is not installed: its files cannot be checked out"
            ),
            fix: format!("install {program}, or remove {key} from the settings of git"),
            is_broken,
        };
        if !notes.iter().any(|known: &CheckoutNote| known.detail == note.detail) {
            notes.push(note);
        }
    }
    notes
}

fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
