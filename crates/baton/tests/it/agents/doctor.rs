//! `baton doctor`: what is installed, which agents work, and how to fix what does not.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use super::fake;
use crate::engine::test_repo::TestRepo;
use crate::terminal::TerminalProcess;

fn report(repo: &TestRepo) -> (bool, Value) {
    let output = repo.output(&["--json", "doctor"]);
    (output.status.success(), serde_json::from_slice(&output.stdout).unwrap())
}

fn of<'a>(report: &'a Value, list: &str, key: &str, name: &str) -> &'a Value {
    report[list].as_array().unwrap().iter().find(|one| one[key] == name).unwrap_or(&Value::Null)
}

#[test]
fn an_agent_with_a_handshake_is_ok_and_a_broken_one_is_explained() {
    let repo = fake::repo(&json!({ "turns": [] }), "", "");
    let (is_well, found) = report(&repo);
    assert!(is_well, "{found:#}");
    let agent = of(&found, "agents", "name", "fake");
    assert_eq!((&agent["condition"], &agent["greeting"]), (&json!("ok"), &json!("fake 1")));
    assert_eq!(of(&found, "findings", "what", "git")["condition"], "ok");
    assert_eq!(of(&found, "findings", "what", "store")["condition"], "ok");

    let script = json!({ "stderr": "error: libfoo.so.3 is missing", "exit": 127 });
    std::fs::write(repo.home.join("acp.json"), script.to_string()).unwrap();
    let (is_well, found) = report(&repo);
    let agent = of(&found, "agents", "name", "fake");
    assert!(!is_well && agent["problem"].as_str().unwrap().contains("libfoo.so.3 is missing"), "{agent:#}");
    assert!(agent["mend"].is_string());
}

#[test]
fn a_missing_agent_is_reported_with_how_to_install_it() {
    let repo = TestRepo::of(|_| "default_agent = \"kimi\"\n".to_owned());
    let output = repo.output(&["doctor"]);
    assert!(!output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.contains("✗ kimi") && printed.contains("install kimi, and check that `kimi` is on PATH"),
        "{printed}"
    );
}

#[test]
fn invalid_settings_and_a_trusted_taskfile_are_reported() {
    let repo = TestRepo::of(|_| "max_agent = 3\n".to_owned());
    std::fs::write(repo.folder.join(".agent/Taskfile.yml"), "version: '3'\ntasks: {}\n").unwrap();
    let (is_well, found) = report(&repo);
    assert!(!is_well);
    assert!(of(&found, "findings", "what", "settings")["detail"].as_str().unwrap().contains("max_agents"));
    assert!(
        of(&found, "findings", "what", "user tasks")["detail"]
            .as_str()
            .unwrap()
            .ends_with("runs with your permissions")
    );
}

/// The agent does not answer the handshake before the test opens the gate.
#[test]
fn a_terminal_shows_progress_and_erases_it() {
    let repo = TestRepo::of(|home| {
        let gate = home.join("gate");
        assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
        std::fs::write(home.join("agent.sh"), format!("read line < {}\n", gate.display())).unwrap();
        let script = home.join("agent.sh");
        let agent = format!("[agents.late]\nkind = \"acp\"\ncommand = [\"sh\", \"{}\"]\n", script.display());
        format!("default_agent = \"late\"\n{agent}")
    });
    let mut doctor = TerminalProcess::start(repo.baton(&["doctor"]));
    doctor.until("Checking … ");
    std::fs::write(repo.home.join("gate"), "go\n").unwrap();
    let (_, shown) = doctor.end();
    let (before, after) = shown.split_once("✓ git").unwrap();
    assert!(before.ends_with("\r\x1b[K") && !after.contains("Checking"), "{shown:?}");
    // Without a terminal there is no progress bar.
    std::fs::write(repo.home.join("agent.sh"), "true\n").unwrap();
    let output = repo.output(&["doctor"]);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("Checking"));
}

#[test]
fn missing_settings_are_reported_as_missing() {
    let repo = TestRepo::of(|_| String::new());
    let detail =
        || of(&report(&repo).1, "findings", "what", "settings")["detail"].as_str().unwrap().to_owned();
    assert!(detail().ends_with("/.agent/baton.toml"));
    std::fs::remove_file(repo.folder.join(".agent/baton.toml")).unwrap();
    assert!(detail().starts_with("no file at /") && detail().ends_with("; create one: baton init"));
}

#[test]
fn a_password_that_others_can_read_is_a_problem() {
    let store = "store = \"postgres://mia:secret@/no?host=/nowhere/at/all\"\n";
    let repo = TestRepo::of(|_| store.to_owned());
    let file = repo.folder.join(".agent/baton.toml");
    let readable_by = |mode: u32| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let (_, found) = report(&repo);
        assert!(!found.to_string().contains("secret"), "{found:#}");
        of(&found, "findings", "what", "password").clone()
    };
    let found = readable_by(0o644);
    assert_eq!(found["condition"], "broken");
    assert!(found["mend"].as_str().unwrap().starts_with("chmod 600"), "{found:#}");
    assert_eq!(readable_by(0o600)["condition"], "note");
    std::fs::write(&file, store.replace(":secret", "")).unwrap();
    assert_eq!(readable_by(0o644), Value::Null, "it contains no password");
}
