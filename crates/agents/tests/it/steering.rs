//! Messages of people to an agent in the middle of its turn.

use std::fs;
use std::sync::Arc;

use baton_agents::asking::permission::PermissionDecision;
use baton_agents::driver::run_result::RunResult;
use baton_agents::driver::setup::AgentSetup;
use baton_agents::driver::{AgentEvent, Launch};
use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::preset::Preset;
use baton_agents::protocols;
use baton_agents::report::stop_reason::StopReason;
use baton_core::task::attempt::AttemptResult;
use tokio::sync::watch;

use crate::bench::{Bench, clock, drive, has_text};

const MESSAGE: &str = "Use port 80.";

/// Runs the agent; the message is said at the first matching event.
async fn run(kind: AgentKind, launch: Launch, says_at: impl Fn(&AgentEvent) -> bool) -> RunResult {
    let (feed, messages) = watch::channel(Vec::new());
    let preset = Preset { kind, ..Preset::GENERIC };
    let allow = Arc::new(PermissionDecision::Allow);
    let setup = AgentSetup::new(clock(), preset).permissions(allow).messages(messages);
    let agent = protocols::for_kind(kind, setup);
    let ran = drive(agent.as_ref(), launch, |event| {
        if says_at(event) && feed.borrow().is_empty() {
            feed.send_modify(|said| said.push(MESSAGE.to_owned()));
        }
        false
    })
    .await;
    let told = ran.events.iter().filter(|event| matches!(event, AgentEvent::MessagesDelivered(1))).count();
    assert_eq!(told, ran.ended.messages_delivered);
    ran.ended
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1"}"#;
const BASH: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git status"}}]}}"#;
const BASH_RESULT: &str =
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#;
const HEARD: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Port 80 then."}]}}"#;
const INTERRUPTED: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true}"#;
const SUCCESS: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done."}"#;

#[tokio::test]
async fn claude_is_interrupted_between_two_tools_and_told_in_the_same_session() {
    let bench = Bench::new();
    let script = format!(
        r"read -r prompt; printf '%s\n' '{INIT}' '{BASH}' '{BASH_RESULT}'
          read -r line; case $line in *interrupt*) printf '%s\n' '{INTERRUPTED}';; *) exit 8;; esac
          read -r line; case $line in *'{MESSAGE}'*) printf '%s\n' '{HEARD}' '{SUCCESS}';; *) exit 9;; esac; cat >/dev/null"
    );
    let says_at = |event: &AgentEvent| matches!(event, AgentEvent::ToolStarted(_));
    let ended = run(AgentKind::Claude, bench.shell(&script), says_at).await;
    assert_eq!(ended.reported.result, AttemptResult::Complete, "{ended:?}");
    assert_eq!((ended.messages_delivered, ended.stop_reason), (1, Some(StopReason::EndTurn)));
    assert_eq!(ended.reported.output, "Port 80 then.");
    assert!(bench.log().contains(MESSAGE));
}

#[tokio::test]
async fn claude_gets_a_message_after_a_turn_that_ended_meanwhile() {
    let bench = Bench::new();
    // The interrupt comes too late: the turn is over, and the conversation is not.
    let script = format!(
        r"read -r prompt; printf '%s\n' '{INIT}' '{BASH}' '{BASH_RESULT}'
          read -r line; printf '%s\n' '{SUCCESS}'
          read -r line; case $line in *'{MESSAGE}'*) printf '%s\n' '{HEARD}' '{SUCCESS}';; *) exit 9;; esac; cat >/dev/null"
    );
    let says_at = |event: &AgentEvent| matches!(event, AgentEvent::ToolEnded(..));
    let ended = run(AgentKind::Claude, bench.shell(&script), says_at).await;
    assert_eq!(ended.reported.result, AttemptResult::Complete, "{ended:?}");
    assert_eq!(ended.messages_delivered, 1);
}

#[tokio::test]
async fn an_agent_of_the_protocol_is_cancelled_and_prompted_in_its_session() {
    let bench = Bench::new();
    let launch =
        bench.acp(r#"{"turns": [[{"text": "I use port 8080.\n"}, "hang"], [{"text": "Port 80 then."}]]}"#);
    let ended = run(AgentKind::Acp, launch, |event| has_text(event, "8080")).await;
    assert_eq!(ended.reported.result, AttemptResult::Complete, "{ended:?}");
    assert_eq!((ended.messages_delivered, ended.stop_reason), (1, Some(StopReason::EndTurn)));
    assert_eq!(ended.reported.output, "I use port 8080.\nPort 80 then.");
    let session = bench.path("acp.sessions").join(ended.agent_session.unwrap());
    let prompts = fs::read_to_string(session).unwrap();
    assert_eq!(prompts.matches(r#"{"prompt""#).count(), 2, "{prompts}");
    assert!(prompts.contains(MESSAGE), "{prompts}");
}

#[tokio::test]
async fn agents_that_cannot_be_reached_leave_the_message_for_their_next_prompt() {
    let bench = Bench::new();
    let thread = r#"{"type":"thread.started","thread_id":"t-1"}"#;
    let turn = r#"{"type":"turn.started"}"#;
    let item =
        r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"I use port 8080."}}"#;
    let end = r#"{"type":"turn.completed","usage":{}}"#;
    let codex = format!(r"cat >/dev/null; printf '%s\n' '{thread}' '{turn}' '{item}' '{end}'");
    let ended = run(AgentKind::Codex, bench.shell(&codex), |event| has_text(event, "8080")).await;
    assert_eq!((ended.reported.result, ended.messages_delivered), (AttemptResult::Complete, 0));
    let bench = Bench::new();
    let command = "cat >/dev/null; echo I use port 8080.";
    let ended = run(AgentKind::Command, bench.shell(command), |event| has_text(event, "8080")).await;
    assert_eq!((ended.reported.result, ended.messages_delivered), (AttemptResult::Complete, 0));
}
