//! The native streams of Claude Code and Codex, for use without an adapter.
//!
//! Both write one JSON object per line. Unknown kinds of lines are ignored; new ones appear often.

mod claude;
mod codex;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::driver::run_result::RunResult;
use crate::driver::setup::AgentSetup;
use crate::driver::tool_server::TOKEN;
use crate::driver::{AgentEvent, Driver, Launch, RunFuture};
use crate::run::conversation::Conversation;
use crate::run::dialogue;
use crate::run::protocol::Protocol;

/// How much of an oversized line the problem quotes.
const QUOTED_BYTES_MAX: usize = 200;

/// Parses a line as an object; anything else goes to the log.
fn read(line: &str, conversation: &mut Conversation) -> Option<Value> {
    let object = serde_json::from_str(line).ok().filter(Value::is_object);
    if object.is_none() {
        conversation.output.log_report(&format!("not a message: {line}"));
    }
    object
}

fn too_long(beginning: &str, conversation: &mut Conversation) {
    let beginning = &beginning[..beginning.floor_char_boundary(QUOTED_BYTES_MAX)];
    conversation.output.add_problem(format!("dropped an oversized message of the agent: {beginning}"));
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

pub(super) struct NativeAgent {
    setup: AgentSetup,
    stream: NativeStream,
}

#[derive(Clone, Copy)]
struct NativeStream {
    /// Arguments that select the stream, appended to the configured command.
    arguments: fn(&Launch) -> Vec<String>,
    protocol: fn(&Launch) -> Box<dyn Protocol>,
}

impl NativeAgent {
    pub(super) fn claude(setup: AgentSetup) -> Self {
        Self { setup, stream: NativeStream { arguments: claude::arguments, protocol: claude::protocol } }
    }

    pub(super) fn codex(setup: AgentSetup) -> Self {
        Self { setup, stream: NativeStream { arguments: codex::arguments, protocol: codex::protocol } }
    }
}

impl Driver for NativeAgent {
    fn run(
        &self,
        launch: Launch,
        events: mpsc::Sender<AgentEvent>,
        cancel: watch::Receiver<bool>,
    ) -> RunFuture<'_> {
        Box::pin(run(self.setup.clone(), launch, self.stream, events, cancel))
    }
}

impl NativeStream {
    fn prepare(self, launch: &mut Launch) -> Box<dyn Protocol> {
        let arguments = (self.arguments)(launch);
        launch.command.extend(arguments);
        if let Some(tools) = &launch.session.tools {
            launch.environment.set(TOKEN, &tools.token);
        }
        (self.protocol)(launch)
    }
}

/// Runs the agent. If the session to resume is gone, runs it again in a new session with the conversation so far.
async fn run(
    setup: AgentSetup,
    launch: Launch,
    stream: NativeStream,
    events: mpsc::Sender<AgentEvent>,
    cancel: watch::Receiver<bool>,
) -> RunResult {
    let mut first = launch.clone();
    let protocol = stream.prepare(&mut first);
    let ended = dialogue::run(setup.clone(), first, protocol, events.clone(), cancel.clone()).await;
    let mut again = launch;
    match again.session.resume.take() {
        // Both signal a missing session by ending before they resume it.
        Some(resume) if ended.agent_session.is_none() && ended.failure.is_some() && !*cancel.borrow() => {
            let said = ended.failure.map(|failure| failure.message).unwrap_or_default();
            again.prompt = resume.prompt_without;
            let protocol = stream.prepare(&mut again);
            let mut ended = dialogue::run(setup, again, protocol, events, cancel).await;
            ended.problems.insert(0, format!("the agent cannot resume its earlier session: {said}"));
            ended
        }
        Some(_) | None => ended,
    }
}
