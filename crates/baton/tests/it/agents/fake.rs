//! A repository with the fake agent of the Agent Client Protocol, and the sessions that agent recorded.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::engine::test_repo::TestRepo;

/// A repository where the fake agent follows `script`. `agent` is added to the agent's settings, `settings` to the others.
pub(crate) fn repo(script: &Value, agent: &str, settings: &str) -> TestRepo {
    let program = program("fake-acp-agent");
    TestRepo::of(|home| {
        let path = home.join("acp.json");
        std::fs::write(&path, script.to_string()).unwrap();
        format!(
            "default_agent = \"fake\"\n{settings}\n[agents.fake]\nkind = \"acp\"\ncommand = [\"{}\", \"{}\"]\n{agent}\n",
            program.display(),
            path.display()
        )
    })
}

/// A script with tools: one list of steps for each prompt of a session.
#[expect(clippy::needless_pass_by_value, reason = "scripts are written where they are used")]
pub(crate) fn turns(turns: Value) -> Value {
    json!({ "mcp": true, "turns": turns })
}

pub(crate) fn outcome(name: &str) -> Value {
    json!({ "mcp": { "tool": "report_outcome", "arguments": { "outcome": name, "description": "as scripted" } } })
}

/// The lines that the agent recorded of each session, oldest session first.
pub(crate) fn sessions(repo: &TestRepo) -> Vec<Vec<Value>> {
    let folder = repo.home.join("acp.sessions");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|all| all.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    files.sort_by_key(|path| path.metadata().unwrap().created().unwrap_or(SystemTime::UNIX_EPOCH));
    let lines = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        // The last one may still be written.
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    files.iter().map(lines).collect()
}

/// The prompts of a session, in order.
pub(crate) fn prompts(session: &[Value]) -> Vec<String> {
    session.iter().filter_map(|line| line["prompt"].as_str().map(str::to_owned)).collect()
}

/// A test program of the agents crate. Building all tests builds it; when only this crate's tests are built, this does.
pub(crate) fn program(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
    let path = folder.join(name);
    if is_current(&path) {
        return path;
    }
    let profile = folder.file_name().unwrap().to_str().unwrap();
    let profile = if profile == "debug" { "dev" } else { profile };
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--package", "baton-agents", "--bins", "--profile", profile]);
    build.arg("--target-dir").arg(folder.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
    let done = build.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    path
}

fn is_current(program: &Path) -> bool {
    let Ok(made) = program.metadata().and_then(|of| of.modified()) else { return false };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/programs");
    newest(&sources).is_some_and(|changed| changed <= made)
}

fn newest(folder: &Path) -> Option<SystemTime> {
    let of =
        |path: PathBuf| if path.is_dir() { newest(&path) } else { path.metadata().ok()?.modified().ok() };
    std::fs::read_dir(folder).ok()?.filter_map(|entry| of(entry.ok()?.path())).max()
}
