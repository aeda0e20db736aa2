//! A client for the agent's tools: an MCP server that is started as a program.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) struct Mcp {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    requests: u64,
    /// The names of its tools.
    pub(crate) tools: Vec<String>,
}

impl Mcp {
    /// Starts the first server that is a program and lists its tools. None if that fails: many real agents continue without
    /// tools.
    pub(crate) fn connect(params: &Value) -> Option<Self> {
        let servers = params["mcpServers"].as_array()?;
        let server = servers.iter().find(|server| server["command"].is_string())?;
        let words = server["args"].as_array()?.iter().filter_map(Value::as_str);
        let variables = server["env"].as_array()?.iter();
        let variables = variables
            .filter_map(|one| Some((one["name"].as_str()?.to_owned(), one["value"].as_str()?.to_owned())));
        let mut child = Command::new(server["command"].as_str()?)
            .args(words)
            .envs(variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let stdin = child.stdin.take()?;
        let stdout = BufReader::new(child.stdout.take()?);
        let mut mcp = Self { child, stdin, stdout, requests: 0, tools: Vec::new() };
        let client = json!({"name": "fake", "version": "1"});
        mcp.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        )?;
        mcp.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let listed = mcp.request("tools/list", &json!({}))?;
        let names = listed["tools"].as_array()?.iter().filter_map(|tool| tool["name"].as_str());
        mcp.tools = names.map(str::to_owned).collect();
        Some(mcp)
    }

    /// The text of the tool's result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Option<String> {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        Some(result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
    }

    fn say(&mut self, message: &Value) -> Option<()> {
        writeln!(self.stdin, "{message}").ok()?;
        self.stdin.flush().ok()
    }

    fn request(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.requests += 1;
        let id = self.requests;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).ok()?;
            if message["id"] == id && message.get("result").is_some() {
                return Some(message["result"].clone());
            } else if message["id"] == id {
                return None;
            }
        }
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
