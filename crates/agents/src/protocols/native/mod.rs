//! The streams of two agents as they are, for people who do not want an adapter between.
//!
//! Both write one JSON object to a line. A line of a kind we do not know is left out: they add kinds often.

mod claude;
mod codex;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::driver::run_result::Ended;
use crate::driver::setup::Setup;
use crate::driver::tool_server::TOKEN;
use crate::driver::{Driver, Event, Launch, Running};
use crate::run::conversation::Conversation;
use crate::run::dialogue;
use crate::run::protocol::Tongue;

/// The beginning of a line that is quoted back.
const QUOTED_BYTES_MAX: usize = 200;

/// One line as an object; what is none is kept in the log.
fn read(line: &str, talk: &mut Conversation) -> Option<Value> {
    let object = serde_json::from_str(line).ok().filter(Value::is_object);
    if object.is_none() {
        talk.hearing.reported(&format!("not a message: {line}"));
    }
    object
}

fn too_long(beginning: &str, talk: &mut Conversation) {
    let beginning = &beginning[..beginning.floor_char_boundary(QUOTED_BYTES_MAX)];
    talk.hearing.problem(format!("a message of the agent is too long to be read: {beginning}"));
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// One of them, and what a launch means to it.
pub struct NativeAgent {
    setup: Setup,
    dialect: Dialect,
}

#[derive(Clone, Copy)]
struct Dialect {
    /// Everything that makes it a stream, behind whatever the settings say.
    arguments: fn(&Launch) -> Vec<String>,
    tongue: fn(&Launch) -> Box<dyn Tongue>,
}

impl NativeAgent {
    pub fn claude(setup: Setup) -> Self {
        Self { setup, dialect: Dialect { arguments: claude::arguments, tongue: claude::tongue } }
    }

    pub fn codex(setup: Setup) -> Self {
        Self { setup, dialect: Dialect { arguments: codex::arguments, tongue: codex::tongue } }
    }
}

impl Driver for NativeAgent {
    fn run(&self, launch: Launch, events: mpsc::Sender<Event>, cancel: watch::Receiver<bool>) -> Running<'_> {
        Box::pin(run(self.setup.clone(), launch, self.dialect, events, cancel))
    }
}

impl Dialect {
    fn prepare(self, launch: &mut Launch) -> Box<dyn Tongue> {
        let arguments = (self.arguments)(launch);
        launch.command.extend(arguments);
        if let Some(tools) = &launch.session.tools {
            launch.environment.set(TOKEN, &tools.token);
        }
        (self.tongue)(launch)
    }
}

/// Runs it; when an earlier session is gone, once more in a new one that is told what the old one knew.
async fn run(
    setup: Setup,
    launch: Launch,
    dialect: Dialect,
    events: mpsc::Sender<Event>,
    cancel: watch::Receiver<bool>,
) -> Ended {
    let mut first = launch.clone();
    let tongue = dialect.prepare(&mut first);
    let ended = dialogue::run(setup.clone(), first, tongue, events.clone(), cancel.clone()).await;
    let mut again = launch;
    match again.session.resume.take() {
        // It ended before it took up the session: that is how both say that there is none.
        Some(resume) if ended.agent_session.is_none() && ended.failure.is_some() && !*cancel.borrow() => {
            let said = ended.failure.map(|failure| failure.said).unwrap_or_default();
            again.prompt = resume.prompt_without;
            let tongue = dialect.prepare(&mut again);
            let mut ended = dialogue::run(setup, again, tongue, events, cancel).await;
            ended.problems.insert(0, format!("the agent cannot go on with its earlier session: {said}"));
            ended
        }
        Some(_) | None => ended,
    }
}
