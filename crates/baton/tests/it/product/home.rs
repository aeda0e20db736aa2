//! First use in a repository, completions, manual pages, backups and `baton watch`.

use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::engine::test_repo::TestRepo;
use crate::gate::Gate;

/// A repository without settings.
fn new_repository(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let git = Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status().unwrap();
    assert!(git.success());
    folder
}

fn stdout(folder: &TempDir, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_baton"))
        .args(arguments)
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("PATH", "/usr/bin:/bin")
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout)
        .unwrap()
        .replace(&folder.path().canonicalize().unwrap().display().to_string(), "HERE")
}

#[test]
fn init_fits_the_repository_and_overwrites_nothing() {
    let folder =
        new_repository(&[("go.mod", "module x\n"), ("Makefile", "docs: ## Build the book\n\ttrue\n")]);
    let printed = stdout(&folder, &["init"]);
    for expected in ["found go.mod, Makefile", ".agent/baton.toml  written", "baton up"] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    let tasks = stdout(&folder, &["tasks"]);
    for expected in ["test", "lint", "docs", "Build the book"] {
        assert!(tasks.contains(expected), "{expected}: {tasks}");
    }
    let settings = fs::read_to_string(folder.path().join(".agent/baton.toml")).unwrap();
    assert!(settings.contains("checks = [\"test\", \"lint\"]"), "{settings}");
    stdout(&folder, &["config"]);

    fs::write(folder.path().join(".agent/baton.toml"), "max_agents = 2\n").unwrap();
    assert!(stdout(&folder, &["init"]).contains("exists, left alone"));
    stdout(&folder, &["init", "--force"]);
    let kept = fs::read_to_string(folder.path().join(".agent/baton.toml.before")).unwrap();
    assert_eq!(kept, "max_agents = 2\n");
}

#[test]
fn a_backup_made_beside_a_running_server_is_restored() {
    let repo = TestRepo::with_agent("", "");
    // The agent is not finished before the backup is.
    let gate = Gate::closed(repo.home.join("gate"));
    repo.set_agent(&format!("{}; work", gate.wait()));
    let up = repo.up();
    let task = repo.add("Build it", &[]);
    let copy = repo.home.join("copy.db");
    let copy = copy.to_str().unwrap();
    repo.stdout(&["backup", copy]);
    assert_eq!(repo.output(&["backup", copy]).status.code(), Some(4), "nothing is overwritten");
    gate.open();
    repo.until_queue(&task, "provisional");
    let in_use = repo.output(&["restore", copy, "--replace"]);
    let error = String::from_utf8_lossy(&in_use.stderr).into_owned();
    assert!(!in_use.status.success() && error.contains("is in use"), "{error}");
    // A backup can be restored into another namespace.
    repo.stdout(&["restore", copy, "--namespace", "before"]);
    assert_eq!(repo.json(&["task", "show", &task, "--namespace", "before"])["task_id"], task.as_str());
    up.end();
    assert_eq!(repo.output(&["restore", copy]).status.code(), Some(4), "a store exists");
    let printed = repo.stdout(&["restore", copy, "--replace"]);
    assert!(printed.contains(".db.before"), "{printed}");
    assert_ne!(repo.queue(&task), "provisional", "the state of the backup");
    fs::write(repo.home.join("not-a-store"), "words").unwrap();
    let bad = repo.home.join("not-a-store");
    assert!(!repo.output(&["restore", bad.to_str().unwrap(), "--replace"]).status.success());
    assert_eq!(repo.show(&task)["task_id"], task.as_str(), "the store is unchanged");
}

#[test]
fn the_shell_completes_ids_and_words() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Build it", &[]);
    let offered = |words: &[&str]| {
        let mut arguments = vec!["--", "baton"];
        arguments.extend(words);
        let last = words.len().to_string();
        let output = repo
            .baton(&arguments)
            .env("COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", last)
            .env("_CLAP_COMPLETE_COMP_TYPE", "9")
            .env("_CLAP_COMPLETE_SPACE", "false")
            .env("_CLAP_IFS", "\n")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(offered(&["task", "show", ""]).contains(&task));
    assert!(offered(&["recipe", "show", "pl"]).contains("plan-execute-review"));
    assert!(offered(&["imp"]).contains("import"));
    for shell in ["bash", "zsh", "fish", "elvish"] {
        assert!(repo.stdout(&["completions", shell]).contains("COMPLETE"), "{shell}");
    }
}

#[test]
fn completions_are_installed_once_for_the_users_shell() {
    let folder = new_repository(&[]);
    for (shell, place) in [
        ("bash", ".local/share/bash-completion/completions/baton"),
        ("zsh", ".zshrc"),
        ("fish", ".config/fish/completions/baton.fish"),
        ("elvish", ".config/elvish/rc.elv"),
    ] {
        assert!(stdout(&folder, &["completions", shell, "--install"]).contains(place), "{shell}");
        let installed = fs::read_to_string(folder.path().join(place)).unwrap();
        assert!(
            stdout(&folder, &["completions", shell, "--install"]).contains("already installed"),
            "{shell}"
        );
        assert_eq!(fs::read_to_string(folder.path().join(place)).unwrap(), installed);
    }
    let own = |shell: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(["completions", "--install"]).env("HOME", folder.path()).env("SHELL", shell);
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME").output().unwrap()
    };
    let again = String::from_utf8(own("/usr/bin/fish").stdout).unwrap();
    assert!(again.contains("already installed") && again.contains("baton.fish"), "{again}");
    let unknown = own("/usr/sbin/nologin");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("baton completions bash --install"));
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = new_repository(&[]);
    assert!(stdout(&folder, &["man"]).contains(".TH baton"));
    stdout(&folder, &["man", "--into", "pages"]);
    for page in ["baton.1", "baton-task-add.1", "baton-import.1", "baton-doctor.1"] {
        assert!(folder.path().join("pages").join(page).is_file(), "{page}");
    }
}

#[test]
fn watch_prints_the_state_again_after_a_change() {
    use std::io::{BufRead, BufReader};
    let repo = TestRepo::with_working_agent("");
    let mut watching = repo.baton(&["watch", "--json"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["ready"].as_array().unwrap().len(), 0);
    repo.add("Build it", &[]);
    // What is written before the task, such as its project, may be shown first.
    while next()["ready"][0]["title"] != "Build it" {}
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn up_without_settings_lists_its_assumptions() {
    use std::io::{BufRead, BufReader};
    let folder = new_repository(&[("go.mod", "module x\n")]);
    let git = [
        "-c",
        "user.name=mia",
        "-c",
        "user.email=mia@example.org",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "Begin",
    ];
    assert!(Command::new("git").args(git).current_dir(folder.path()).status().unwrap().success());
    // A program with the name of an agent.
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("goose"), "#!/bin/sh\nexit 1\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(programs.join("goose"), mode).unwrap();
    let mut up = Command::new(env!("CARGO_BIN_EXE_baton"))
        .args(["up", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
        .env_remove("XDG_CONFIG_HOME")
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = String::new();
    for line in BufReader::new(up.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        let is_last = line.contains("Listening on");
        printed += &(line + "\n");
        if is_last {
            break;
        }
    }
    assert!(Command::new("kill").args(["-TERM", &up.id().to_string()]).status().unwrap().success());
    assert!(up.wait().unwrap().success());
    for wanted in [
        "No .agent/baton.toml",
        "agent   goose (installed)",
        "baton/",
        "baton init would run test and lint",
        ".agent/state (ignored by git)",
        "baton init",
    ] {
        assert!(printed.contains(wanted), "{wanted}: {printed}");
    }
    // `baton init` writes the settings.
    stdout(&folder, &["init"]);
    assert!(folder.path().join(".agent/baton.toml").exists());
}
