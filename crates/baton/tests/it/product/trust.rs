//! Trust in a folder: what came with a clone starts nothing before a person has allowed it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Somebody else's repository, and a clone of it.
struct Clone {
    _scratch: TempDir,
    home: PathBuf,
    source: PathBuf,
    folder: PathBuf,
}

impl Clone {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        let (source, folder) = (home.join("source"), home.join("clone"));
        std::fs::create_dir_all(source.join(".agent")).unwrap();
        let clone = Self { _scratch: scratch, home, source, folder };
        git(&clone.source, &["init", "-q", "-b", "main"]);
        clone.commit("first");
        git(&clone.home, &["clone", "-q", "source", "clone"]);
        clone
    }

    /// Commits settings whose agent leaves a file of this name when it is started.
    fn commit(&self, name: &str) {
        let started = self.home.join(name);
        let settings = format!(
            "default_agent = \"mine\"\n[agents.mine]\nkind = \"acp\"\ncommand = [\"sh\", \"-c\", \"touch {}\"]\n",
            started.display()
        );
        std::fs::write(self.source.join(".agent/baton.toml"), settings).unwrap();
        git(&self.source, &["add", "-A"]);
        git(&self.source, &["commit", "-q", "-m", "Settings"]);
    }

    fn baton(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command.env("HOME", &self.home).env_remove("XDG_CONFIG_HOME").env_remove("BATON_STORE");
        command.output().unwrap()
    }

    fn has_started(&self, name: &str) -> bool {
        self.home.join(name).exists()
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=eve", "-c", "user.email=eve@example.org"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_fresh_clone_starts_nothing_before_a_person_has_allowed_it() {
    let clone = Clone::new();
    let doctor = text(&clone.baton(&["doctor"]));
    assert!(doctor.contains("nobody has allowed") && doctor.contains("baton trust"), "{doctor}");
    for start in [&["up", "--listen", "127.0.0.1:0"][..], &["chat", "Hello"]] {
        let refused = clone.baton(start);
        assert_eq!(refused.status.code(), Some(4), "{start:?}: {}", text(&refused));
        assert!(text(&refused).contains("agents.mine: sh -c touch "), "{}", text(&refused));
    }
    assert!(!clone.has_started("first"));
    // Reading and adding start nothing.
    assert!(clone.baton(&["task", "add", "Work"]).status.success());

    let allowed = text(&clone.baton(&["trust"]));
    assert!(allowed.contains("agents.mine: sh -c touch "), "{allowed}");
    clone.baton(&["doctor"]);
    assert!(clone.has_started("first"));
    assert!(text(&clone.baton(&["trust"])).contains("Nothing has to be allowed"));

    // Another version needs another word.
    clone.commit("second");
    git(&clone.folder, &["pull", "-q"]);
    clone.baton(&["doctor"]);
    assert!(!clone.has_started("second"));
}

#[test]
fn what_git_has_never_seen_is_the_persons_own_and_stays_so() {
    let clone = Clone::new();
    let mine = clone.home.join("mine");
    std::fs::create_dir_all(mine.join(".agent")).unwrap();
    git(&mine, &["init", "-q", "-b", "main"]);
    git(&mine, &["remote", "add", "origin", "../source"]);
    git(&mine, &["commit", "-q", "--allow-empty", "-m", "Start"]);
    std::fs::copy(clone.source.join(".agent/baton.toml"), mine.join(".agent/baton.toml")).unwrap();
    let clone = Clone { folder: mine, ..clone };
    clone.baton(&["doctor"]);
    assert!(clone.has_started("first"), "written here");
    // Committing it changes nothing.
    std::fs::remove_file(clone.home.join("first")).unwrap();
    git(&clone.folder, &["add", "-A"]);
    git(&clone.folder, &["commit", "-q", "-m", "My settings"]);
    clone.baton(&["doctor"]);
    assert!(clone.has_started("first"), "committed");
}

#[test]
fn a_repository_without_a_remote_is_the_persons_own() {
    let clone = Clone::new();
    git(&clone.folder, &["remote", "remove", "origin"]);
    clone.baton(&["doctor"]);
    assert!(clone.has_started("first"));
}

#[test]
fn what_was_allowed_stays_allowed_when_something_else_changes() {
    let clone = Clone::new();
    clone.baton(&["trust"]);
    let file = clone.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("max_agents = 2\n{settings}")).unwrap();
    clone.baton(&["doctor"]);
    assert!(clone.has_started("first"));
    std::fs::write(&file, format!("{settings}\n[notify]\ncommand = [\"true\"]\n")).unwrap();
    let doctor = text(&clone.baton(&["doctor"]));
    assert!(doctor.contains("notify: true") && !doctor.contains("agents.mine:"), "{doctor}");
}

/// However it got into the checkout, what others wrote is not the person's.
#[test]
fn i21_settings_that_git_brought_are_never_taken_for_the_persons_own() {
    type Way = (&'static str, fn(&Clone));
    let ways: [Way; 7] = [
        ("a pull that stopped with a conflict", |clone| {
            std::fs::write(clone.folder.join("README"), "mine\n").unwrap();
            git(&clone.folder, &["add", "README"]);
            git(&clone.folder, &["commit", "-q", "-m", "Mine"]);
            std::fs::write(clone.source.join("README"), "theirs\n").unwrap();
            clone.commit("second");
            fails(&clone.folder, &["pull", "-q", "--no-rebase"]);
        }),
        ("a checkout of the file", |clone| {
            clone.commit("second");
            git(&clone.folder, &["fetch", "-q"]);
            git(&clone.folder, &["checkout", "-q", "origin/main", "--", ".agent"]);
        }),
        ("a reset that keeps the files", |clone| {
            clone.commit("second");
            git(&clone.folder, &["pull", "-q"]);
            git(&clone.folder, &["reset", "-q", "--soft", "HEAD^"]);
        }),
        ("no longer tracked", |clone| {
            clone.commit("second");
            git(&clone.folder, &["pull", "-q"]);
            git(&clone.folder, &["rm", "-q", "--cached", "-r", ".agent"]);
        }),
        ("a branch without history", |clone| {
            clone.commit("second");
            git(&clone.folder, &["pull", "-q"]);
            git(&clone.folder, &["checkout", "-q", "--orphan", "fresh"]);
        }),
        ("other rights", |clone| {
            clone.commit("second");
            git(&clone.folder, &["pull", "-q"]);
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
            std::fs::set_permissions(clone.folder.join(".agent/baton.toml"), mode).unwrap();
        }),
        ("a line of one's own in it", |clone| {
            clone.commit("second");
            git(&clone.folder, &["pull", "-q"]);
            let file = clone.folder.join(".agent/baton.toml");
            let settings = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, format!("# mine\nmax_agents = 2\n{settings}")).unwrap();
        }),
    ];
    for (way, bring) in ways {
        let clone = Clone::new();
        bring(&clone);
        let doctor = text(&clone.baton(&["doctor"]));
        assert!(doctor.contains("nobody has allowed"), "{way}: {doctor}");
        assert!(!clone.has_started("second"), "{way}");
    }
}

fn fails(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
    assert!(!output.status.success(), "git {arguments:?}");
}

/// Settings are judged together with the person's own, as they are used; alone they may not even be valid.
#[test]
fn i21_settings_are_judged_together_with_the_persons_own() {
    for (settings, grant) in [
        ("[agents.w]\nmax = 3\n[hooks]\nbefore_attempt = [\"true\"]\n", "hooks.before_attempt: true"),
        ("[agents.w]\nfence = \"off\"\n", "agents.w.fence: off"),
        ("[agents.w]\nenv = [\"MY_SECRET\"]\n", "agents.w.env: MY_SECRET"),
        ("[agents.w]\ncommand = [\"evil\"]\n", "agents.w: evil"),
        (
            "[roles.implement]\nagent = \"w\"\n[notify]\nwebhook = \"http://127.0.0.1:9/x\"\n",
            "notify.webhook: ",
        ),
        ("[telemetry]\notlp = \"http://127.0.0.1:9\"\n", "telemetry.otlp: "),
        ("remote = \"/somewhere/else.git\"\n", "remote: "),
        ("[worktree]\nreuse = [\"node_modules\"]\nreuse_links = true\n", "worktree.reuse_links"),
        ("[worktree]\ncopy = [\".env\"]\n", "worktree.copy: .env"),
    ] {
        let clone = Clone::new();
        let config = clone.home.join(".config/baton");
        std::fs::create_dir_all(&config).unwrap();
        let own = "default_agent = \"w\"\nfence = \"strict\"\nnetwork = \"none\"\n[agents.w]\nkind = \"command\"\ncommand = [\"true\"]\n";
        std::fs::write(config.join("config.toml"), own).unwrap();
        std::fs::write(clone.source.join(".agent/baton.toml"), settings).unwrap();
        git(&clone.source, &["commit", "-q", "-a", "-m", "Other settings"]);
        git(&clone.folder, &["pull", "-q"]);
        let refused = clone.baton(&["up", "--listen", "127.0.0.1:0"]);
        assert_eq!(refused.status.code(), Some(4), "{settings}: {}", text(&refused));
        assert!(text(&refused).contains(grant), "{settings}: {}", text(&refused));
        assert!(!text(&refused).contains("agents.w: true"), "their own: {}", text(&refused));
    }
}

/// A store is told the person's password, and says what is to be done.
#[test]
fn i21_a_store_that_came_with_a_clone_is_not_called() {
    let clone = Clone::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::fs::write(
        clone.source.join(".agent/baton.toml"),
        format!("store = \"postgres://me@{address}/x\"\n"),
    )
    .unwrap();
    git(&clone.source, &["commit", "-q", "-a", "-m", "A store"]);
    git(&clone.folder, &["pull", "-q"]);
    for arguments in [&["task", "list"][..], &["up", "--listen", "127.0.0.1:0"]] {
        let refused = clone.baton(arguments);
        assert_eq!(refused.status.code(), Some(4), "{arguments:?}: {}", text(&refused));
        assert!(text(&refused).contains("store: "), "{}", text(&refused));
        assert!(listener.accept().is_err(), "nobody called: {arguments:?}");
    }
}

#[test]
fn settings_behind_a_committed_link_or_submodule_came_with_the_clone_too() {
    let clone = Clone::new();
    std::fs::rename(clone.source.join(".agent"), clone.source.join("real")).unwrap();
    std::os::unix::fs::symlink("real", clone.source.join(".agent")).unwrap();
    git(&clone.source, &["add", "-A"]);
    git(&clone.source, &["commit", "-q", "-m", "A link"]);
    git(&clone.folder, &["pull", "-q"]);
    let doctor = text(&clone.baton(&["doctor"]));
    assert!(doctor.contains("nobody has allowed"), "{doctor}");

    let module = clone.home.join("module");
    std::fs::create_dir(&module).unwrap();
    git(&module, &["init", "-q", "-b", "main"]);
    std::fs::copy(clone.source.join("real/baton.toml"), module.join("baton.toml")).unwrap();
    git(&module, &["add", "-A"]);
    git(&module, &["commit", "-q", "-m", "Settings"]);
    git(&clone.source, &["rm", "-q", "-r", ".agent", "real"]);
    let allow = ["-c", "protocol.file.allow=always"];
    let address = module.display().to_string();
    git(&clone.source, &[&allow[..], &["submodule", "--quiet", "add", &address, ".agent"]].concat());
    git(&clone.source, &["commit", "-q", "-m", "A submodule"]);
    std::fs::remove_dir_all(&clone.folder).unwrap();
    git(&clone.home, &[&allow[..], &["clone", "-q", "--recurse-submodules", "source", "clone"]].concat());
    let doctor = text(&clone.baton(&["doctor"]));
    assert!(doctor.contains("nobody has allowed"), "{doctor}");
    assert!(!clone.has_started("first"));
}
