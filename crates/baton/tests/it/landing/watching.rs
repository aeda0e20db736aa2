//! The output of the checks while they run, and what became of accepted work.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{NOT_BOTH, adding_agent, set_settings};
use crate::engine::test_repo::TestRepo;
use crate::gate::Gate;

/// A task that is being checked, and waits at the gate.
fn at_the_gate() -> (TestRepo, String, Gate, crate::engine::test_repo::BatonProcess) {
    let repo = adding_agent("true", "exit 1");
    let path = repo.home.join("gate");
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let check = format!(
        "echo API_KEY=0123456789abcdef at the gate; flock --shared '{}' true; echo past it",
        path.display()
    );
    set_settings(&repo, &settings.replace("'''true'''", &format!("'''{check}'''")));
    let task = repo.add("Add a.txt", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let gate = Gate::closed(path);
    repo.stdout(&["accept", &task, "--no-wait"]);
    repo.until("the check prints", || output(&repo).contains("at the gate"));
    (repo, task, gate, up)
}

/// What the last run has printed.
fn output(repo: &TestRepo) -> String {
    let landing = repo.json(&["landing"]);
    let last = landing["runs"].as_array().unwrap().last().cloned().unwrap_or_default();
    last["output"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_output_of_a_check_is_readable_while_it_runs() {
    let (repo, task, gate, up) = at_the_gate();
    let landing = repo.json(&["landing"]);
    let (lane, run) = (&landing["lanes"][0], landing["runs"].as_array().unwrap().last().unwrap());
    assert_eq!(lane["run"], run["run"], "{landing:#}");
    assert_eq!(lane["tip"], repo.git(&["rev-parse", "baton/next"]), "{landing:#}");
    assert_eq!((&run["is_running"], &run["base"]), (&json!(true), &lane["tip"]), "{landing:#}");
    assert_eq!(run["task_ids"], json!([task]));
    // Secrets are not shown, and nothing is shown before it was printed.
    assert_eq!(run["output"], "== rules ==\nAPI_KEY=[redacted] at the gate\n", "{landing:#}");

    let mut following = repo.baton(&["landing", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines().map_while(Result::ok);
    let start = lines.next().unwrap();
    assert!(start.starts_with(&format!("baton/next  checking {task} (")), "{start}");
    assert_eq!(lines.next().unwrap(), "== rules ==");
    assert_eq!(lines.next().unwrap(), "API_KEY=[redacted] at the gate");
    gate.open();
    assert_eq!(lines.next().unwrap(), "past it");
    assert_eq!(lines.next().unwrap(), "== rules: exit code 0 ==");
    let end = lines.next().unwrap();
    assert!(end.starts_with(&format!("{task}  landed at ")) && end.ends_with("  Add a.txt"), "{end}");
    following.kill().unwrap();
    following.wait().unwrap();
    up.end();
}

#[test]
fn landing_shows_what_landed_what_was_sent_back_and_which_checks_ran() {
    let repo = adding_agent(NOT_BOTH, "exit 1");
    let (one, other) = (repo.add("Add a.txt", &[]), repo.add("Add b.txt", &[]));
    repo.work_until(&[(&one, "provisional"), (&other, "provisional")]);
    assert_eq!(repo.output(&["accept", &one, &other]).status.code(), Some(1));
    let landing = repo.json(&["landing"]);
    let end = |task: &str| {
        let recent = landing["recent"].as_array().unwrap();
        recent.iter().find(|entry| entry["task_id"] == task).cloned().unwrap_or_default()
    };
    assert_eq!(end(&one)["end"], "landed", "{landing:#}");
    assert_eq!(end(&one)["commit"], repo.git(&["rev-parse", "baton/next"]), "{landing:#}");
    assert_eq!((&end(&other)["end"], &end(&other)["title"]), (&json!("sent_back"), &json!("Add b.txt")));
    let headline = format!("check fails on baton/next together with {one}: rules");
    assert_eq!(end(&other)["headline"], headline, "{landing:#}");
    assert_eq!(end(&other)["reason"]["checks"][0]["exit_code"], 3, "{landing:#}");
    let verdicts = landing["verdicts"].as_array().unwrap();
    let checks: Vec<&Value> = verdicts.iter().map(|verdict| &verdict["checks"]).collect();
    let check = |exit_code: i32, output: &str| json!([{ "name": "rules", "exit_code": exit_code, "output_tail": output }]);
    assert!(checks.contains(&&check(0, "")), "{landing:#}");
    assert!(checks.contains(&&check(3, "a.txt and b.txt must not both exist\n")), "{landing:#}");
    let printed = repo.stdout(&["landing"]);
    assert!(
        printed.contains(&format!("\nLately:\n  {other}  sent back: {headline}  Add b.txt\n")),
        "{printed}"
    );
}

#[test]
fn without_a_server_there_is_nothing_to_follow() {
    let repo = adding_agent("true", "exit 1");
    let output = repo.output(&["landing", "--follow"]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && printed.contains("no server is running, so no checks run"),
        "{printed}"
    );
}
