//! The official clients of MCP, in Python and TypeScript, against `baton mcp` and against `/mcp`. `scripts/real-agents
//! mcp-python mcp-typescript` installs them; tests of missing ones report that they were skipped.

#![expect(clippy::print_stderr, reason = "a test that was skipped says so on standard error")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::McpRepo;

const TASKFILE: &str = r#"version: '3'
silent: true
tasks:
  greet: {desc: Greets., cmds: [echo Hello]}
  say: {desc: Says it., cmds: ['echo {{.CLI_ARGS}}']}
  wait: {desc: Waits until it is ended., cmds: ['touch marker; tail -f "$PWD/marker"']}
  release: {desc: Waits., cmds: ['touch begun; until test -e released; do sleep 0.05; done; echo it went on']}
"#;

struct OfficialClient {
    /// Its folder below those of the real agents, and the file that tells whether it is installed.
    folder: &'static str,
    installed: &'static str,
    command: fn(&Path) -> Command,
}

const PYTHON: OfficialClient = OfficialClient {
    folder: "mcp-python",
    installed: "bin/python",
    command: |folder| {
        let mut command = Command::new(folder.join("bin/python"));
        command.arg(clients().join("client.py"));
        command
    },
};

const TYPESCRIPT: OfficialClient = OfficialClient {
    folder: "mcp-typescript",
    installed: "node_modules/@modelcontextprotocol/sdk/package.json",
    command: |folder| {
        let mut command = Command::new(folder.join("../node/node_modules/node/bin/node"));
        command.arg(clients().join("client.mjs"));
        command.env("SDK", folder.join("node_modules/@modelcontextprotocol/sdk"));
        command
    },
};

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

fn installed() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/real-agents");
    std::env::var_os("BATON_REAL_AGENTS").map_or(here, PathBuf::from)
}

impl OfficialClient {
    /// Runs all cases; each must hold, and none may be missing.
    fn run(&self, transport: &str, cases: &[&str]) {
        let folder = installed().join(self.folder);
        if !folder.join(self.installed).exists() {
            eprintln!("SKIPPED: {} is not there; `scripts/real-agents {}`", folder.display(), self.folder);
            return;
        }
        let repo = McpRepo::new("");
        repo.write(".agent/Taskfile.yml", TASKFILE);
        let (_up, address) = repo.up();
        let target = match transport {
            "http" => format!("http://{address}/mcp"),
            _ => env!("CARGO_BIN_EXE_baton").to_owned(),
        };
        let mut command = (self.command)(&folder);
        command.args([transport, &target]).current_dir(&repo.folder).stdin(Stdio::null());
        command.env("BATON_FENCE", "off").env("BATON_USER", "mia");
        command.env_remove("BATON_TOKEN").env_remove("BATON_MCP_URL");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let held: Vec<&str> = lines
            .iter()
            .filter(|line| line["ok"] == json!(true))
            .map(|line| line["case"].as_str().unwrap())
            .collect();
        assert_eq!(held, cases, "{lines:#?}\n{said}");
    }
}

const CASES: [&str; 6] = ["listed", "called", "errors", "list_changed", "cancelled", "concurrent"];
const WITH_RESUMPTION: [&str; 7] =
    ["listed", "called", "errors", "list_changed", "cancelled", "concurrent", "resumed"];

#[test]
fn the_python_client_works_over_its_streams() {
    PYTHON.run("stdio", &CASES);
}

#[test]
fn the_python_client_works_over_http() {
    PYTHON.run("http", &CASES);
}

#[test]
fn the_typescript_client_works_over_its_streams() {
    TYPESCRIPT.run("stdio", &WITH_RESUMPTION);
}

#[test]
fn the_typescript_client_works_over_http() {
    TYPESCRIPT.run("http", &WITH_RESUMPTION);
}
