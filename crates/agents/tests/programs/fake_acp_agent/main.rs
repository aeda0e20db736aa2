//! An agent that speaks the Agent Client Protocol and follows a script, including misbehaviour.
//!
//! It implements the protocol itself, so that it shares no mistake with the code under test. The only argument is the
//! script, a JSON file; see [`Script`]. Sessions are stored beside it.

#![expect(clippy::unwrap_used, reason = "a test program fails by panicking")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it communicates by its streams")]

mod mcp;

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use mcp::Mcp;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is one kind of behaviour")]
struct Script {
    /// Written to standard error before anything else.
    stderr: String,
    /// Exits with this code before the handshake.
    exit: Option<i32>,
    /// Never answers the handshake.
    mute: bool,
    protocol: Option<u16>,
    no_load: bool,
    http: bool,
    modes: Vec<String>,
    models: bool,
    /// Answers `session/new` with this error.
    refuse_new: Option<Value>,
    refuse_load: bool,
    /// Connects to the tools it is given.
    mcp: bool,
    /// Does not exit when its standard input is closed.
    stays: bool,
    /// The steps for each prompt of a session; the last list is used for all later prompts.
    turns: Vec<Vec<Step>>,
    /// The same for the second session, the third and so on; the last one is used for all later sessions. If empty,
    /// `turns` is used for all.
    turns_of_later_sessions: Vec<Vec<Vec<Step>>>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "snake_case")]
enum Step {
    Text(String),
    /// Starts and completes a call.
    Tool(String),
    /// This many calls without reading the input in between.
    Calls(u32),
    /// The same with one id for all of them.
    SameId(u32),
    /// A `tool_call_update` for a call that was never announced.
    Unannounced(String),
    /// Any session update.
    Update(Value),
    /// Asks for permission to run this command, and prints the decision.
    Permission(Value),
    /// Asks the user by a form, and prints the answer.
    Elicit(Value),
    Usage(Value),
    Cost(f64),
    /// Calls one of its tools, and prints the result.
    Mcp {
        tool: String,
        arguments: Value,
    },
    Commit(String),
    /// Writes this file and commits it.
    File {
        path: PathBuf,
        text: String,
        message: String,
    },
    /// Writes a file and commits nothing.
    Write(String),
    Stderr(String),
    /// Hangs until it is cancelled.
    Hang,
    /// Ignores cancels.
    HangForever,
    Exit(i32),
    Error(Value),
    Stop(String),
    Raw(String),
    /// Starts a process that outlives it unless it is ended.
    Spawn,
}

struct Agent {
    script: Script,
    sessions: PathBuf,
    incoming: Receiver<Value>,
    requests: u64,
    is_cancelled: bool,
    calls: u32,
    mcp: Option<Mcp>,
}

fn main() {
    let path = PathBuf::from(std::env::args().nth(1).unwrap());
    let script: Script = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    if !script.stderr.is_empty() {
        eprintln!("{}", script.stderr);
    }
    if let Some(code) = script.exit {
        std::process::exit(code);
    }
    let stays = script.stays;
    let (sender, incoming) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(serde_json::from_str(&line).unwrap()).is_err() {
                return;
            }
        }
        if stays {
            park();
        }
    });
    let sessions = path.with_extension("sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let mut agent =
        Agent { script, sessions, incoming, requests: 0, is_cancelled: false, calls: 0, mcp: None };
    while let Ok(message) = agent.incoming.recv() {
        agent.handle(&message);
    }
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

fn say(message: &Value) {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}").unwrap();
    out.flush().unwrap();
}

impl Agent {
    fn handle(&mut self, message: &Value) {
        let id = &message["id"];
        let params = &message["params"];
        let answer = |result: Value| say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let refuse = |error: &Value| say(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        match message["method"].as_str() {
            Some("initialize") if self.script.mute => {}
            Some("initialize") => answer(json!({
                "protocolVersion": self.script.protocol.unwrap_or(1),
                "agentCapabilities": {
                    "loadSession": !self.script.no_load,
                    "mcpCapabilities": {"http": self.script.http},
                    "aFutureCapability": {"x": 1}
                },
                "agentInfo": {"name": "fake", "version": "1"},
                "authMethods": [{"id": "login", "name": "Log in with a browser"}]
            })),
            Some("session/new") => {
                if let Some(error) = &self.script.refuse_new {
                    return refuse(error);
                }
                let session = format!("session-{}", std::process::id());
                self.record(&session, "opened", params);
                self.connect(params);
                answer(self.opened(Some(&session)));
            }
            Some("session/load") => {
                let session = params["sessionId"].as_str().unwrap();
                let path = self.sessions.join(session);
                if self.script.refuse_load || !path.exists() {
                    return refuse(&json!({"code": -32602, "message": format!("no session {session}")}));
                }
                replay(session, &path);
                self.record(session, "loaded", params);
                self.connect(params);
                answer(self.opened(None));
            }
            Some("session/set_mode" | "session/set_config_option") => {
                self.record(params["sessionId"].as_str().unwrap(), "set", params);
                answer(json!({"configOptions": []}));
            }
            Some("session/prompt") => self.prompt(id, params),
            Some("session/cancel") => self.is_cancelled = true,
            Some(_) | None => {}
        }
    }

    fn connect(&mut self, params: &Value) {
        if self.script.mcp {
            self.mcp = Mcp::connect(params);
        }
    }

    fn opened(&self, session: Option<&str>) -> Value {
        let modes: Vec<Value> =
            self.script.modes.iter().map(|mode| json!({"id": mode, "name": mode})).collect();
        let mut opened = json!({});
        if let Some(session) = session {
            opened["sessionId"] = json!(session);
        }
        if !modes.is_empty() {
            opened["modes"] = json!({"currentModeId": "default", "availableModes": modes});
        }
        if self.script.models {
            let option = |id: &str, category: &str| json!({"id": id, "category": category, "name": id, "type": "select", "currentValue": "a", "options": []});
            opened["configOptions"] =
                json!([option("model-choice", "model"), option("effort", "thought_level")]);
        }
        opened
    }

    /// Appends a line to the session's history.
    fn record(&self, session: &str, what: &str, value: &Value) {
        let path = self.sessions.join(session);
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{}", json!({what: value})).unwrap();
    }

    /// How often the session was prompted, in any process.
    fn prompts_of(&self, session: &str) -> usize {
        let text = std::fs::read_to_string(self.sessions.join(session)).unwrap_or_default();
        text.lines().filter(|line| line.starts_with(r#"{"prompt""#)).count()
    }

    fn steps_of(&self, number: usize) -> Vec<Step> {
        let opened = std::fs::read_dir(&self.sessions).unwrap().count();
        let later = &self.script.turns_of_later_sessions;
        let turns = match opened.checked_sub(2) {
            Some(later_number) => later.get(later_number).or(later.last()).unwrap_or(&self.script.turns),
            None => &self.script.turns,
        };
        turns.get(number).or(turns.last()).cloned().unwrap_or_default()
    }

    fn prompt(&mut self, id: &Value, params: &Value) {
        let session = params["sessionId"].as_str().unwrap().to_owned();
        let steps = self.steps_of(self.prompts_of(&session));
        self.record(&session, "prompt", &params["prompt"][0]["text"]);
        self.is_cancelled = false;
        let mut response = json!({"stopReason": "end_turn"});
        for step in steps {
            self.read_pending();
            if self.is_cancelled {
                break;
            }
            match step {
                Step::Usage(usage) => response["usage"] = usage,
                Step::Stop(reason) => response["stopReason"] = json!(reason),
                Step::Error(error) => return say(&json!({"jsonrpc": "2.0", "id": id, "error": error})),
                step => self.play(&session, step),
            }
        }
        self.read_pending();
        if self.is_cancelled {
            response["stopReason"] = json!("cancelled");
        }
        say(&json!({"jsonrpc": "2.0", "id": id, "result": response}));
    }

    /// Reads the pending input, which can only be a cancel.
    fn read_pending(&mut self) {
        while let Ok(message) = self.incoming.try_recv() {
            self.is_cancelled |= message["method"] == "session/cancel";
        }
    }

    fn play(&mut self, session: &str, step: Step) {
        match step {
            Step::Text(text) => send_text(session, &text),
            Step::Tool(title) => self.tool(session, &title),
            Step::Calls(count) => (0..count).for_each(|number| self.tool(session, &format!("call {number}"))),
            Step::SameId(count) => (0..count).for_each(|_| call(session, "one-for-all", "again")),
            Step::Unannounced(id) => {
                update(
                    session,
                    &json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"}),
                );
            }
            Step::Update(body) => update(session, &body),
            Step::Permission(request) => self.permission(session, &request),
            Step::Elicit(form) => {
                let mut params = json!({"sessionId": session, "mode": "form"});
                params.as_object_mut().unwrap().extend(form.as_object().unwrap().clone());
                if let Some(answer) = self.ask("elicitation/create", &params) {
                    send_text(session, &format!("elicited: {answer}"));
                }
            }
            Step::Cost(usd) => {
                let cost = json!({"amount": usd, "currency": "USD"});
                update(
                    session,
                    &json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost}),
                );
            }
            Step::Mcp { tool, arguments } => {
                self.tool(session, &format!("baton: {tool}"));
                let text = self.mcp.as_mut().and_then(|mcp| mcp.call(&tool, &arguments));
                send_text(
                    session,
                    &format!("{tool}: {}\n", text.as_deref().unwrap_or("there is no such tool")),
                );
            }
            Step::Write(text) => std::fs::write("work.txt", text).unwrap(),
            Step::Commit(message) => {
                // Appends a line, so that there is always something to commit.
                let mut file =
                    std::fs::OpenOptions::new().append(true).create(true).open("work.txt").unwrap();
                writeln!(file, "{message}").unwrap();
                commit(&message);
            }
            Step::File { path, text, message } => {
                std::fs::write(path, text).unwrap();
                commit(&message);
            }
            Step::Stderr(text) => eprintln!("{text}"),
            Step::Hang => {
                while !self.is_cancelled {
                    let message = self.incoming.recv().unwrap_or_else(|_| std::process::exit(0));
                    self.is_cancelled |= message["method"] == "session/cancel";
                }
            }
            Step::HangForever => park(),
            Step::Exit(code) => std::process::exit(code),
            Step::Raw(line) => println!("{line}"),
            Step::Spawn => {
                drop(Command::new("sh").args(["-c", "trap '' TERM; tail -f /dev/null"]).spawn().unwrap());
            }
            Step::Usage(_) | Step::Stop(_) | Step::Error(_) => {}
        }
    }

    fn tool(&mut self, session: &str, title: &str) {
        self.calls += 1;
        let id = format!("call-{}-{}", std::process::id(), self.calls);
        call(session, &id, title);
    }

    fn permission(&mut self, session: &str, request: &Value) {
        self.calls += 1;
        let command = request["command"].as_str().unwrap();
        let call = json!({"toolCallId": format!("asked-{}", self.calls), "title": command, "kind": "execute",
            "rawInput": {"command": command}});
        let mut options = vec![json!({"optionId": "yes", "name": "Yes", "kind": "allow_once"})];
        if request["always"] == true {
            options.push(json!({"optionId": "always", "name": "Always", "kind": "allow_always"}));
        }
        options.push(json!({"optionId": "no", "name": "No", "kind": "reject_once"}));
        let params = json!({"sessionId": session, "toolCall": call, "options": options});
        let Some(answer) = self.ask("session/request_permission", &params) else { return };
        send_text(session, &format!("permission: {}", answer["outcome"]));
        let is_allowed = matches!(answer["outcome"]["optionId"].as_str(), Some("yes" | "always"));
        let status = if is_allowed { "completed" } else { "failed" };
        update(
            session,
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], "status": status}),
        );
    }

    /// Asks the client and waits; none if the turn was cancelled meanwhile.
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.requests += 1;
        let id = format!("ask-{}", self.requests);
        say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.incoming.recv().unwrap_or_else(|_| std::process::exit(0));
            if message["id"] == json!(id) && !self.is_cancelled {
                return Some(message["result"].clone());
            }
            self.is_cancelled |= message["method"] == "session/cancel";
            if message["id"] == json!(id) {
                return None;
            }
        }
    }
}

fn call(session: &str, id: &str, title: &str) {
    update(
        session,
        &json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "execute"}),
    );
    update(session, &json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"}));
    update(session, &json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"}));
}

fn send_text(session: &str, text: &str) {
    update(
        session,
        &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
    );
}

fn update(session: &str, update: &Value) {
    say(
        &json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}),
    );
}

fn replay(session: &str, path: &Path) {
    for (number, line) in std::fs::read_to_string(path).unwrap().lines().enumerate() {
        update(
            session,
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": line}}),
        );
        update(
            session,
            &json!({"sessionUpdate": "tool_call", "toolCallId": format!("old-{number}"), "title": "old"}),
        );
    }
}

fn commit(message: &str) {
    for words in [vec!["add", "."], vec!["commit", "-q", "-m", message]] {
        let identity = ["-c", "user.name=Fake", "-c", "user.email=fake@baton.invalid"];
        assert!(Command::new("git").args(identity).args(words).status().unwrap().success());
    }
}
