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
    assert!(doctor.contains("came with this clone") && doctor.contains("baton trust"), "{doctor}");
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
fn what_a_person_wrote_or_changed_is_theirs() {
    let clone = Clone::new();
    let file = clone.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("max_agents = 2\n{settings}")).unwrap();
    clone.baton(&["doctor"]);
    assert!(clone.has_started("first"), "changed here");
    std::fs::remove_file(clone.home.join("first")).unwrap();
    git(&clone.folder, &["checkout", "-q", "."]);
    git(&clone.folder, &["remote", "remove", "origin"]);
    clone.baton(&["doctor"]);
    assert!(clone.has_started("first"), "a repository of their own");
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
    assert!(doctor.contains("came with this clone"), "{doctor}");

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
    assert!(doctor.contains("came with this clone"), "{doctor}");
    assert!(!clone.has_started("first"));
}
