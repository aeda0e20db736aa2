//! The scripted model, in a process of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::agents::fake::program;

pub(crate) struct Model {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Model {
    pub(crate) fn start(folder: &Path, steps: &Value) -> Self {
        let (script, log) = (folder.join("model.json"), folder.join("model.log"));
        std::fs::write(&script, json!({ "steps": steps }).to_string()).unwrap();
        let mut command = Command::new(program("scripted-model"));
        let mut child =
            command.args([&script, &log]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap(), log }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The requests of the conversation so far, without those for titles and the like.
    pub(crate) fn turns(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let requests = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        requests.filter(|one| !one["tools"].as_array().unwrap().is_empty()).collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
