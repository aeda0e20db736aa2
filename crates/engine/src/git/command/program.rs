//! Starts git, and nothing else does.
//!
//! Arguments are a fixed vector and never pass through a shell. Values are checked types (`BranchName`, `CommitId`, absolute
//! paths, ids) or go to standard input, so none can become an option. The environment is an allow-list: no secret of the
//! server reaches a filter or a merge driver, and no variable points git elsewhere. Hooks and signing are off, and nothing
//! prompts at a terminal. The user's own configuration stays in force for the rest (filters, line ends, ownership).

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use baton_agents::process::environment::AgentEnvironment;
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::git::command::call::Call;
use crate::git::command::progress::Watcher;
use crate::git::command::version::GitVersion;
use crate::git::error::GitError;
use crate::git::repository::stale_locks::note_process_start;

/// Besides what every agent may see: how the user's git is configured, authenticates and reaches its remotes.
const ENV_ALLOWED: [&str; 13] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH_COMMAND",
    "SSH_AGENT_PID",
    "GNUPGHOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "KRB5CCNAME",
    "KRB5_CONFIG",
    "ALL_PROXY",
    "all_proxy",
    "LD_LIBRARY_PATH",
];

#[rustfmt::skip]
const ENV_SET: [(&str, &str); 11] = [
    ("LC_ALL", "C"),                        // some messages are parsed, and hints quote them
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),            // reading must not take locks
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
const SETTINGS: [&str; 15] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    // An index of Baton's is one file that can be copied.
    "core.splitIndex=false",
    "core.untrackedCache=false",
    // A person may commit at the same time; their locks are held for moments.
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
    /// Set once its version is known; clones share it.
    checked: Arc<OnceCell<()>>,
    /// Receives progress while many files are written.
    watcher: Option<Watcher>,
}

/// What a call works on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At<'a> {
    /// Git looks for the repository itself, and judges whether its owner may be trusted.
    Folder(&'a Path),
    /// A repository that was found before.
    Repository(&'a Path),
    /// A repository's objects and configuration, with files and an index that lie elsewhere. Whatever repository an agent
    /// has in that folder plays no part.
    Files { git_dir: &'a Path, folder: &'a Path, index: &'a Path },
}

impl Git {
    /// The git on PATH, checked now.
    pub async fn find() -> Result<Self, GitError> {
        Self::new("git", Vec::new()).await
    }

    /// The git on PATH, checked when the first repository is opened: most commands open none.
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
        note_process_start();
        Self { program: program.to_owned(), env, checked: Arc::default(), watcher: None }
    }

    /// The same git, reporting progress.
    pub fn watched_by(self, watcher: Watcher) -> Self {
        Self { watcher: Some(watcher), ..self }
    }

    /// Checks once that it exists and is new enough.
    pub(crate) async fn check(&self) -> Result<(), GitError> {
        self.checked.get_or_try_init(|| self.ask_version()).await.copied()
    }

    async fn ask_version(&self) -> Result<(), GitError> {
        let tried = "ask git for its version";
        let answer = self.call(tried, At::Folder(Path::new("/"))).arg("version").line().await?;
        match GitVersion::parse(&answer) {
            Some(found) if found < GitVersion::OLDEST => Err(GitError::TooOld { found }),
            Some(_) => Ok(()),
            None => Err(GitError::Garbled { tried, answer }),
        }
    }

    /// A call that says what it is for; `tried` completes the sentence "could not …".
    pub(crate) fn call(&self, tried: &'static str, at: At<'_>) -> Call {
        let mut command = Command::new(&self.program);
        let allowed = ENV_ALLOWED.map(ToOwned::to_owned);
        command.env_clear().envs(AgentEnvironment::allowed(std::env::vars_os(), &allowed).iter());
        command.env_remove("LANGUAGE");
        command.envs(ENV_SET).envs(self.env.iter().map(|(name, value)| (name, value)));
        match at {
            At::Folder(folder) => {
                command.current_dir(folder);
            }
            At::Repository(git_dir) => {
                command.current_dir(git_dir).env("GIT_DIR", git_dir);
            }
            At::Files { git_dir, folder, index } => {
                command.current_dir(folder).env("GIT_DIR", git_dir);
                command.env("GIT_WORK_TREE", folder).env("GIT_INDEX_FILE", index);
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
