//! The one place that starts git.
//!
//! Arguments are a fixed vector and never pass a shell. Values reach it checked (`BranchName`, `CommitId`,
//! absolute paths, ids) or on standard input, so none can become an option. What surrounds us does not leak
//! in: variables that would point git elsewhere are removed, hooks and signing are off, and nothing asks at
//! a terminal. The user's own configuration stays in force for the rest (filters, line ends, ownership).

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::git::call::Call;
use crate::git::error::GitError;
use crate::git::version::GitVersion;
use crate::git::watching::Watcher;

/// Variables of git's that say how the user's git works, not what it works on.
const ENV_KEPT: [&str; 5] =
    ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "GIT_SSH_COMMAND"];

#[rustfmt::skip]
const ENV_SET: [(&str, &str); 11] = [
    ("LC_ALL", "C"),                        // some of git's words are read, and the hints quote them
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),            // looking must not collide with the agent's own git
    ("GIT_LITERAL_PATHSPECS", "1"),         // a file named `:(exclude)x` is a file
    ("GIT_NO_REPLACE_OBJECTS", "1"),        // I15: a replacement must not change what is counted
    ("GIT_AUTHOR_NAME", "Baton"),
    ("GIT_AUTHOR_EMAIL", "baton@localhost"),
    ("GIT_COMMITTER_NAME", "Baton"),
    ("GIT_COMMITTER_EMAIL", "baton@localhost"),
    ("GIT_EDITOR", "true"),
    ("GIT_MERGE_AUTOEDIT", "no"),
];

/// Settings that hold for every call, before anything in a file.
const SETTINGS: [&str; 13] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    // Agents commit in the same repository at the same time; their locks are held for moments.
    "core.filesRefLockTimeout=5000",
    "core.packedRefsTimeout=5000",
    "advice.detachedHead=false",
    "color.ui=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.commitEncoding=UTF-8",
    "log.showSignature=false",
    "submodule.recurse=false",
];

/// A git that can be called. No repository is opened before it is known to be new enough.
#[derive(Debug, Clone)]
pub struct Git {
    program: OsString,
    env: Vec<(OsString, OsString)>,
    /// Set once it has told its version; clones share it.
    checked: Arc<OnceCell<()>>,
    /// Told how far it is with writing many files.
    watcher: Option<Watcher>,
}

/// What a call works on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At<'a> {
    /// Git looks for the repository itself, and judges whether its owner may be trusted.
    Folder(&'a Path),
    /// A repository already found. Nothing the agent does to its folder can lead git elsewhere.
    Repository(&'a Path),
    /// A worktree: its folder, and the folder in which git keeps its HEAD and index.
    Worktree { git_dir: &'a Path, folder: &'a Path },
}

impl Git {
    /// The git on PATH, looked at now.
    pub async fn find() -> Result<Self, GitError> {
        Self::new("git", Vec::new()).await
    }

    /// The git on PATH, looked at when the first repository is opened: most commands open none.
    pub fn on_path() -> Self {
        Self::unchecked("git".as_ref(), Vec::new())
    }

    /// A git by name or path, with variables of its own (a test's HOME, for one).
    pub async fn new(program: impl AsRef<OsStr>, env: Vec<(OsString, OsString)>) -> Result<Self, GitError> {
        let git = Self::unchecked(program.as_ref(), env);
        git.check().await?;
        Ok(git)
    }

    fn unchecked(program: &OsStr, env: Vec<(OsString, OsString)>) -> Self {
        Self { program: program.to_owned(), env, checked: Arc::default(), watcher: None }
    }

    /// The same git, for a person who wants to see how far it is.
    pub fn watched_by(self, watcher: Watcher) -> Self {
        Self { watcher: Some(watcher), ..self }
    }

    /// Whether it is there and new enough; asked once.
    pub(crate) async fn check(&self) -> Result<(), GitError> {
        self.checked.get_or_try_init(|| self.ask_version()).await.copied()
    }

    async fn ask_version(&self) -> Result<(), GitError> {
        let tried = "ask git for its version";
        let said = self.call(tried, At::Folder(Path::new("/"))).arg("version").line().await?;
        match GitVersion::parse(&said) {
            Some(found) if found < GitVersion::OLDEST => Err(GitError::TooOld { found }),
            Some(_) => Ok(()),
            None => Err(GitError::Garbled { tried, answer: said }),
        }
    }

    /// A call that says what it is for; `tried` completes the sentence "could not …".
    pub(crate) fn call(&self, tried: &'static str, at: At<'_>) -> Call {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") && !ENV_KEPT.contains(&text.as_ref()) {
                command.env_remove(&name);
            }
        }
        command.env_remove("LANGUAGE");
        command.envs(ENV_SET).envs(self.env.iter().map(|(name, value)| (name, value)));
        match at {
            At::Folder(folder) => {
                command.current_dir(folder);
            }
            At::Repository(git_dir) => {
                command.current_dir(git_dir).env("GIT_DIR", git_dir);
            }
            At::Worktree { git_dir, folder } => {
                command.current_dir(folder).env("GIT_DIR", git_dir).env("GIT_WORK_TREE", folder);
            }
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        // Its own process group: Ctrl-C in a terminal ends Baton in order, not git in the middle of a write.
        command.process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Call::new(self.program.to_string_lossy().into_owned(), tried, command)
            .watched_by(self.watcher.clone())
    }
}
