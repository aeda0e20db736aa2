//! Compares this crate with recorded runs of the real `task`. `scripts/taskfile-conformance --record` makes the record.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
/// Fewer would mean that a list was lost.
const CASES_MIN: usize = 600;

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{CASES}/{name}")).unwrap()
}

/// Exit code, stdout and stderr of one case in a fresh directory.
fn run(case: &Value) -> Value {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    for (path, text) in case["files"].as_object().unwrap() {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.as_str().unwrap()).unwrap();
    }
    let args = case["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let output = Command::new(env!("CARGO_BIN_EXE_baton-task"))
        .args(args)
        .current_dir(&root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs([("HOME", "/nonexistent"), ("LANG", "C.UTF-8"), ("NO_COLOR", "1")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |raw: &[u8]| String::from_utf8_lossy(raw).replace(&root.display().to_string(), "DIR");
    serde_json::json!([output.status.code(), text(&output.stdout), text(&output.stderr)])
}

#[test]
fn recorded_cases_agree() {
    let cases: Vec<Value> = serde_json::from_str(&read("cases.json")).unwrap();
    assert!(cases.len() >= CASES_MIN, "{} cases", cases.len());
    let differences = read("differences.txt");
    let known: BTreeSet<&str> = differences.lines().filter(|line| !line.starts_with("# ")).collect();
    let mut wrong = Vec::new();
    for case in cases.iter().filter(|case| !known.contains(case["id"].as_str().unwrap())) {
        let got = run(case);
        if got != case["expected"] {
            wrong.push(format!("{}\n  go-task {}\n  ours    {got}", case["id"], case["expected"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
