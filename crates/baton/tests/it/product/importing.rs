//! Import from other tools, and export.

use std::fmt::Write;
use std::fs;

use serde_json::Value;

use crate::engine::test_repo::TestRepo;

const ISSUES: &str = r#"{"id":"app-1","title":"Log in","description":"With a name.","status":"closed","priority":0}
{"id":"app-2","title":"Log out","status":"open","priority":1,"dependencies":[{"depends_on_id":"app-1","type":"blocks"}]}
{"id":"app-3","title":"Remember me","status":"open","dependencies":[{"depends_on_id":"app-2","type":"blocks"},{"depends_on_id":"gone","type":"blocks"}]}
"#;

fn shop_with_issues() -> TestRepo {
    let repo = TestRepo::with_working_agent("");
    fs::create_dir(repo.folder.join(".beads")).unwrap();
    fs::write(repo.folder.join(".beads/issues.jsonl"), ISSUES).unwrap();
    repo
}

#[test]
fn a_dry_run_previews_and_a_second_import_adds_nothing() {
    let repo = shop_with_issues();
    insta::assert_snapshot!(repo.stdout(&["import", "beads", ".", "--dry-run"]), @r"
    NAME   ARRIVES  PRIO  WAITS ON  TITLE
    app-1  done     P0              Log in
    app-2  open     P1    app-1     Log out
    app-3  open     P2    app-2     Remember me

    3 new, 0 already imported. Nothing was changed.
      app-3 depends on gone, which does not exist; dependency skipped
    ");
    assert_eq!(repo.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 0);
    insta::assert_snapshot!(repo.stdout(&["import", "beads", "."]), @r"
    Imported 3; 0 already there.
      app-3 depends on gone, which does not exist; dependency skipped
    List them: baton task list. Ready to start: baton task ready.
    ");
    let again = repo.json(&["import", "beads", ".beads/issues.jsonl"]);
    assert_eq!((&again["imported"], again["tasks"].as_array().unwrap().len()), (&Value::from(0), 3));
    let ready = repo.json(&["task", "ready"]);
    assert_eq!(ready["tasks"][0]["title"], "Log out");
    assert_eq!(ready["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn an_import_beside_a_running_server_is_seen_by_it() {
    let repo = shop_with_issues();
    let up = repo.up();
    repo.stdout(&["import", "beads", "."]);
    let tasks = repo.json(&["task", "list"])["tasks"].take();
    let last = tasks.as_array().unwrap().iter().find(|task| task["title"] == "Log out").unwrap();
    repo.until_queue(last["task_id"].as_str().unwrap(), "provisional");
    up.end();
}

#[test]
fn bad_sources_are_refused_with_their_position() {
    let repo = TestRepo::with_working_agent("");
    fs::write(repo.folder.join("issues.jsonl"), "{\"id\":\"a\",\"title\":\"ok\"}\nnot json\n").unwrap();
    for (arguments, code, expected) in [
        (vec!["import", "beads", "issues.jsonl"], 2, "issues.jsonl:2: expected"),
        (vec!["import", "backlog", "."], 2, "nothing to import"),
        (vec!["import", "task-master", "nowhere"], 2, "cannot read "),
        (vec!["import", "jira", "."], 2, "invalid value 'jira'"),
        (vec!["import", "beads", ".", "--project", "PROJ-00000000"], 2, "issues.jsonl:2"),
    ] {
        let output = repo.output(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert_eq!(repo.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 0, "nothing was imported");
}

#[test]
fn ten_thousand_issues_are_imported_and_exported() {
    let repo = TestRepo::with_working_agent("");
    let mut lines = String::new();
    for number in 0..10_000 {
        let on = number / 3;
        writeln!(
            lines,
            r#"{{"id":"x-{number}","title":"Task {number}","dependencies":[{{"depends_on_id":"x-{on}"}}]}}"#
        )
        .unwrap();
    }
    fs::write(repo.folder.join("issues.jsonl"), lines).unwrap();
    assert_eq!(repo.json(&["import", "beads", "."])["imported"], 10_000);
    let out = repo.stdout(&["export"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["kind"], "export");
    assert_eq!(lines.iter().filter(|line| line["kind"] == "task").count(), 10_000);
}
