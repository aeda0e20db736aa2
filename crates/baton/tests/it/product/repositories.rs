//! Repositories as they are: each kind gets one true message, and no store is written outside of one.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

struct Folder {
    path: PathBuf,
    _scratch: TempDir,
}

impl Folder {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        Self { path: scratch.path().canonicalize().unwrap(), _scratch: scratch }
    }

    /// With one commit.
    fn repository() -> Self {
        let folder = Self::new();
        folder.git(&["init", "-q", "-b", "main"]);
        folder.git(&["config", "user.name", "mia"]);
        folder.git(&["config", "user.email", "mia@example.org"]);
        std::fs::write(folder.path.join("file.txt"), "one\n").unwrap();
        folder.git(&["add", "-A"]);
        folder.git(&["commit", "-q", "-m", "Begin"]);
        folder
    }

    fn git(&self, arguments: &[&str]) {
        let status = self.command("git", Path::new(".")).args(arguments).status().unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    fn command(&self, program: &str, below: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path.join(below)).env("HOME", &self.path).env("XDG_CONFIG_HOME", &self.path);
        for name in ["BATON_ROOT", "BATON_STATE_DIR", "BATON_STORE", "BATON_TOKEN", "GIT_CONFIG_GLOBAL"] {
            command.env_remove(name);
        }
        command.env("GIT_CONFIG_SYSTEM", "/dev/null");
        command
    }

    fn baton_in(&self, below: &str, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_baton"), Path::new(below)).args(arguments).output().unwrap()
    }

    fn refuses(&self, below: &str, arguments: &[&str], message: &str) {
        let output = self.baton_in(below, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(message), "{arguments:?}: {said}");
    }

    fn doctor(&self) -> String {
        let output = self.baton_in(".", &["doctor"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn files(&self) -> Vec<PathBuf> {
        let listed = self.command("find", Path::new(".")).args([".", "-name", "*.db"]).output().unwrap();
        String::from_utf8(listed.stdout).unwrap().lines().map(PathBuf::from).collect()
    }
}

#[test]
fn an_empty_git_folder_above_is_no_repository_and_no_store_is_written() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path.join(".git")).unwrap();
    std::fs::create_dir_all(folder.path.join("a/b/c")).unwrap();
    for arguments in
        [&["task", "list"][..], &["task", "add", "x"], &["questions"], &["project", "list"], &["up"]]
    {
        folder.refuses("a/b/c", arguments, "a/b/c is not in a git repository");
    }
    assert_eq!(folder.files(), Vec::<PathBuf>::new());
    assert!(folder.doctor().contains("is not in a git repository"));
    // Written where the person is, and not into the folder with the empty `.git`.
    assert!(folder.baton_in("a/b/c", &["init"]).status.success());
    assert!(folder.path.join("a/b/c/.agent/baton.toml").is_file() && !folder.path.join(".agent").exists());
}

#[test]
fn a_bare_repository_is_refused_with_one_hint() {
    let folder = Folder::new();
    folder.git(&["init", "-q", "--bare"]);
    for arguments in [&["init"][..], &["task", "add", "x"], &["up"], &["task", "list"]] {
        folder.refuses(".", arguments, "is a bare repository, without files to work on");
    }
    assert!(folder.doctor().contains("is a bare repository"));
    assert!(!folder.path.join(".agent").exists());
}

#[test]
fn nobody_is_sent_to_a_command_that_is_refused_in_a_bare_repository() {
    let folder = Folder::new();
    folder.git(&["init", "-q", "--bare"]);
    let told = folder.doctor();
    assert!(told.contains("bare repository") && !told.contains("baton init"), "{told}");
}

#[test]
fn the_first_commit_is_the_first_thing_to_do_in_a_repository_without_any() {
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    let next = |folder: &Folder| {
        let told = String::from_utf8(folder.baton_in(".", &["init"]).stdout).unwrap();
        told.split("Next:\n").nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    assert!(next(&folder).contains("git commit"), "{}", next(&folder));
    assert!(!next(&Folder::repository()).contains("git commit"));
}

#[test]
fn a_deleted_repository_is_called_deleted() {
    let folder = Folder::repository();
    assert!(folder.baton_in(".", &["task", "add", "Work"]).status.success());
    std::fs::remove_dir_all(folder.path.join(".git")).unwrap();
    folder.refuses(".", &["task", "list"], "is gone: it has no .git any more");
    assert!(folder.doctor().contains("is gone: it has no .git any more"));
}

#[test]
fn a_taskfile_below_the_root_is_named_and_not_used() {
    let folder = Folder::repository();
    let below = folder.path.join("services/api/.agent");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(
        below.join("Taskfile.yml"),
        "version: '3'\ntasks: {hi: {desc: d, cmds: [pwd], silent: true}}\n",
    )
    .unwrap();
    for arguments in [&["tasks"][..], &["do", "hi"]] {
        folder.refuses("services/api", arguments, "services/api/.agent/Taskfile.yml is not used");
    }
    // What the hint says works.
    std::fs::create_dir(folder.path.join(".agent")).unwrap();
    let include = "version: '3'\nincludes: {api: {taskfile: ../services/api/.agent/Taskfile.yml, dir: ../services/api}}\n";
    std::fs::write(folder.path.join(".agent/Taskfile.yml"), include).unwrap();
    let output = folder.baton_in("services/api", &["do", "api:hi"]);
    let root = folder.path.join("services/api").display().to_string();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), root);
    // A folder of a repository as the root is not outside of one.
    let output = folder.baton_in("services/api", &["--root", ".", "doctor"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("not in a git repository"));
}

#[test]
fn settings_below_the_root_are_named_and_not_read() {
    let folder = Folder::repository();
    let below = folder.path.join("services/api/.agent");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("baton.toml"), "max_agents = 1\n").unwrap();
    let expected = "services/api/.agent/baton.toml is not read: the settings of this repository are ";
    let doctor = folder.baton_in("services/api", &["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains(expected), "{doctor:?}");
    let config = folder.baton_in("services/api", &["config"]);
    assert!(String::from_utf8_lossy(&config.stderr).contains(expected), "{config:?}");
    let at_root = folder.baton_in(".", &["config"]);
    assert!(!String::from_utf8_lossy(&at_root.stderr).contains("is not read"), "{at_root:?}");
}

#[test]
fn doctor_names_what_agents_do_not_see_and_what_fails_for_them() {
    let folder = Folder::repository();
    folder.git(&["commit", "-q", "--allow-empty", "-m", "Second"]);
    folder.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    std::fs::write(folder.path.join("file.txt"), "two\n").unwrap();
    folder.git(&["config", "--unset", "user.email"]);
    folder.git(&["config", "filter.big.smudge", "no-such-program %f"]);
    folder.git(&["config", "filter.big.required", "true"]);
    let report = folder.doctor();
    for part in [
        "HEAD is detached at",
        "work starts from main, not from there",
        "1 file has uncommitted changes, which agents do not see",
        "git has no user.email; your own commits need one",
        "the filter big runs no-such-program, which is not installed",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn special_and_huge_files_are_refused_without_being_read() {
    let folder = Folder::repository();
    let agent = folder.path.join(".agent");
    std::fs::create_dir_all(agent.join("recipes")).unwrap();
    let link = |to: &str| std::os::unix::fs::symlink("/dev/zero", agent.join(to)).unwrap();
    link("recipes/x.yml");
    let listed = folder.baton_in(".", &["recipe", "list"]);
    assert!(String::from_utf8_lossy(&[listed.stdout, listed.stderr].concat()).contains("not a regular file"));
    link("baton.toml");
    folder.refuses(".", &["config"], "not a regular file");
    let doctor = folder.baton_in(".", &["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("not a regular file"), "{doctor:?}");
    std::fs::remove_file(agent.join("baton.toml")).unwrap();
    // Nobody writes to it.
    let made = std::process::Command::new("mkfifo").arg(agent.join("baton.toml")).status().unwrap();
    assert!(made.success());
    let doctor = folder.baton_in(".", &["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("not a regular file"), "{doctor:?}");
    std::fs::remove_file(agent.join("baton.toml")).unwrap();
    link("Taskfile.yml");
    let doctor = folder.baton_in(".", &["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("not a regular file"), "{doctor:?}");
    std::fs::remove_file(agent.join("Taskfile.yml")).unwrap();
    std::fs::write(agent.join("Taskfile.yml"), "version: '3'\nincludes: {z: /dev/zero}\ntasks: {}\n")
        .unwrap();
    folder.refuses(".", &["tasks"], "not a regular file");
}

#[test]
fn deep_nesting_is_an_error_and_a_wide_pattern_ends_in_time() {
    let folder = Folder::repository();
    std::fs::create_dir(folder.path.join(".agent")).unwrap();
    let deep = format!("echo {}", "$(".repeat(20_000));
    let text = format!(
        "version: '3'\ntasks:\n  deep: {{desc: d, cmds: ['{deep}']}}\n  wide: {{desc: d, sources: ['/**/*'], cmds: [echo]}}\n"
    );
    std::fs::write(folder.path.join(".agent/Taskfile.yml"), text).unwrap();
    folder.refuses(".", &["do", "deep"], "nested more than 200 deep");
    folder.refuses(".", &["do", "--timeout", "1", "wide"], "");
}
