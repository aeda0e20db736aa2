//! The scripted model, in a process of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::bench::Bench;

pub(crate) struct Model {
    child: Child,
    pub(crate) port: u16,
    log: std::path::PathBuf,
}

impl Model {
    pub(crate) fn start(bench: &Bench, steps: &Value) -> Self {
        let script = bench.path("model.json");
        fs::write(&script, json!({"steps": steps}).to_string()).unwrap();
        let log = bench.path("model.log");
        let mut child = Command::new(env!("CARGO_BIN_EXE_scripted-model"))
            .args([&script, &log])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap(), log }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The requests of the conversation, without those for titles and the like.
    pub(crate) fn turns(&self) -> Vec<Value> {
        self.requests().into_iter().filter(|one| !one["tools"].as_array().unwrap().is_empty()).collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
