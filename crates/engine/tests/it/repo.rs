//! A git repository in a folder of its own, with its own home and identity, and the room that works on it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{AttemptId, TaskId};
use baton_engine::git::{Checkout, CheckoutBase, CheckoutSpec, Git, GitError, Repository, Setup, Worktrees};
use tempfile::TempDir;

pub(crate) struct TestRepo {
    /// Held: the folder goes with the test.
    _root: TempDir,
    pub(crate) root: PathBuf,
    /// The human's checkout.
    pub(crate) main: PathBuf,
    pub(crate) state: PathBuf,
}

impl TestRepo {
    /// A folder with a home, and a repository without commits.
    pub(crate) fn empty() -> Self {
        Self::named("main checkout")
    }

    pub(crate) fn named(name: &str) -> Self {
        let held = TempDir::new().unwrap();
        let root = fs::canonicalize(held.path()).unwrap();
        let (main, state) = (root.join(name), root.join("state"));
        fs::create_dir_all(root.join("home")).unwrap();
        let config = "[user]\n\tname = Human\n\temail = human@example.org\n[init]\n\tdefaultBranch = main\n\
                      [protocol \"file\"]\n\tallow = always\n";
        fs::write(root.join("home/.gitconfig"), config).unwrap();
        fs::create_dir(&main).unwrap();
        let repo = Self { _root: held, root, main, state };
        repo.git(&repo.main, &["init", "--quiet"]);
        repo
    }

    /// A repository with one commit on `main`.
    pub(crate) fn new() -> Self {
        let repo = Self::empty();
        repo.commit(&repo.main, "README", "hello\n");
        repo
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        let home = self.root.join("home");
        vec![
            ("HOME".into(), home.clone().into()),
            ("GIT_CONFIG_GLOBAL".into(), home.join(".gitconfig").into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ]
    }

    /// What a human or an agent does with git in a folder.
    pub(crate) fn git(&self, folder: &Path, args: &[&str]) -> String {
        let (ok, output) = self.try_git(folder, args);
        assert!(ok, "git {args:?} in {}: {output}", folder.display());
        output
    }

    pub(crate) fn try_git(&self, folder: &Path, args: &[&str]) -> (bool, String) {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        let output = command.args(args).current_dir(folder).envs(self.env()).output().unwrap();
        let text = if output.status.success() { output.stdout } else { output.stderr };
        (output.status.success(), String::from_utf8_lossy(&text).trim_end().to_owned())
    }

    pub(crate) fn commit(&self, folder: &Path, file: &str, text: &str) -> CommitId {
        write(&folder.join(file), text);
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "--message", &format!("Write {file}")]);
        self.head(folder)
    }

    pub(crate) fn head(&self, folder: &Path) -> CommitId {
        self.git(folder, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub(crate) fn tip(&self, full_ref: &str) -> Option<CommitId> {
        // The suffix makes git look for the object, also when the name is that of a commit.
        let name = format!("{full_ref}^{{commit}}");
        let (ok, output) = self.try_git(&self.main, &["rev-parse", "--verify", "--quiet", &name]);
        ok.then(|| output.parse().unwrap())
    }

    pub(crate) async fn with_git(&self) -> Git {
        Git::new("git", self.env()).await.unwrap()
    }

    pub(crate) async fn open(&self) -> Repository {
        Repository::open(&self.with_git().await, &self.main).await.unwrap()
    }

    pub(crate) async fn room(&self) -> Worktrees {
        Worktrees::new(self.open().await, &self.state).unwrap()
    }

    /// The same room, with another program for git.
    pub(crate) async fn room_with(&self, program: &Path) -> Worktrees {
        self.try_room_with(program).await.unwrap()
    }

    pub(crate) async fn try_room_with(&self, program: &Path) -> Result<Worktrees, GitError> {
        let git = Git::new(program, self.env()).await?;
        Worktrees::new(Repository::open(&git, &self.main).await?, &self.state)
    }

    /// The folder an attempt's own worktree lies in.
    pub(crate) fn folder(&self, number: u64) -> PathBuf {
        self.state.join("worktrees").join(attempt(number).to_string())
    }

    /// Everything git finds wrong with the repository.
    pub(crate) fn fsck(&self) -> String {
        self.git(&self.main, &["fsck", "--strict", "--no-dangling", "--no-progress"])
    }
}

pub(crate) fn attempt(number: u64) -> AttemptId {
    AttemptId::from_bits(number)
}

pub(crate) fn branch(name: &str) -> BranchName {
    name.parse().unwrap()
}

pub(crate) fn task_branch(number: u32) -> BranchName {
    BranchName::for_task(TaskId::from_bits(number))
}

pub(crate) fn task_place(number: u32) -> CheckoutBase {
    CheckoutBase::Task { branch: task_branch(number), from: branch("main"), ahead: None }
}

/// The attempt of this number at the task of that number.
pub(crate) fn spec(attempt_number: u64, task_number: u32) -> CheckoutSpec {
    CheckoutSpec {
        attempt: attempt(attempt_number),
        place: task_place(task_number),
        resumes: None,
        setup: Setup::default(),
    }
}

/// The first attempt at the first task, ready for its agent.
pub(crate) async fn ready() -> (TestRepo, Worktrees, Checkout) {
    let repo = TestRepo::new();
    let room = repo.room().await;
    let checkout = room.create(&spec(1, 1)).await.unwrap();
    (repo, room, checkout)
}

pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
