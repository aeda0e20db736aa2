//! JSON logs on standard error: one object on each line.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::engine::test_repo::TestRepo;

#[test]
fn every_log_line_is_json_and_explains_a_stuck_task() {
    let repo = TestRepo::with_working_agent("[roles.implement]\nmax = 0");
    let task = repo.add("Stuck", &[]);
    let mut command = repo.baton(&["up", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    command.env("BATON_LOG", "debug").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut up = command.spawn().unwrap();
    let mut lines = BufReader::new(up.stderr.take().unwrap()).lines().map(|line| {
        let line = line.unwrap();
        serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    });
    let mut has_listened = false;
    let stuck = lines.by_ref().find(|line| {
        has_listened |=
            line["message"].as_str().is_some_and(|printed| printed.starts_with("Listening on http://"));
        line["message"] == "ready, but not claimed"
    });
    let stuck = stuck.expect("it says why");
    assert_eq!((&stuck["task"], &stuck["level"]), (&Value::from(task), &Value::from("DEBUG")), "{stuck}");
    assert!(stuck["reason"].as_str().unwrap().contains("role implement"), "{stuck}");
    assert_eq!(stuck["span"]["name"], "claim");
    assert!(has_listened, "what the program says is JSON too");
    assert!(Command::new("kill").arg(up.id().to_string()).status().unwrap().success());
    // The rest must be JSON, too.
    lines.for_each(drop);
    assert!(up.wait().unwrap().success());
}

#[test]
fn errors_are_json_and_a_mistake_in_the_filter_is_named() {
    let repo = TestRepo::with_working_agent("");
    let refused = |variable: (&str, &str)| {
        let output =
            repo.baton(&["up", "--listen", "192.0.2.1:1"]).env(variable.0, variable.1).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let printed = refused(("BATON_LOG_FORMAT", "json"));
    let last: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    assert_eq!(last["level"], "ERROR");
    assert!(last["message"].as_str().unwrap().contains("192.0.2.1:1"), "{last}");
    assert!(!last["hint"].as_str().unwrap().is_empty(), "{last}");
    let printed = refused(("BATON_LOG", "baton=loud"));
    assert!(printed.contains("BATON_LOG is \"baton=loud\""), "{printed}");
}
