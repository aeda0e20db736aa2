//! A session continues in another process or is replaced by one with the conversation; how agents reach Baton's tools.

use std::fs;

use baton_agents::driver::tool_server::ToolServer;
use baton_agents::driver::{AgentEvent, SessionResume};
use baton_agents::presets::preset::{Preset, ToolTransport};
use baton_core::task::attempt::AttemptResult;
use serde_json::Value;

use crate::acp::agent;
use crate::bench::{Bench, drive, has_text};

const SCRIPT: &str = r#"{"turns": [[{"tool": "look"}, {"text": "hello"}]]}"#;

fn session_file(bench: &Bench, session: &str) -> Vec<Value> {
    let text = fs::read_to_string(bench.path("acp.sessions").join(session)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn resume(session: &str) -> SessionResume {
    SessionResume { agent_session: session.to_owned(), prompt_without: "everything so far".to_owned() }
}

#[tokio::test]
async fn a_session_is_loaded_into_a_new_process_and_its_replay_is_ignored() {
    let bench = Bench::new();
    let first = drive(agent(Preset::GENERIC).as_ref(), bench.acp(SCRIPT), |_| false).await.ended;
    let session = first.agent_session.unwrap();

    let mut launch = bench.acp(SCRIPT);
    launch.session.resume = Some(resume(&session));
    launch.prompt = "the answer".to_owned();
    let again = drive(agent(Preset::GENERIC).as_ref(), launch, |_| false).await;
    assert_eq!(again.ended.agent_session.as_deref(), Some(session.as_str()));
    assert_eq!(again.ended.reported.output, "hello");
    assert_eq!(again.ended.turns, 1, "the calls of the replay are not counted");
    let started = again.events.iter().filter(|event| matches!(event, AgentEvent::ToolStarted(_))).count();
    assert_eq!(started, 1);
    let prompts: Vec<Value> = session_file(&bench, &session)
        .into_iter()
        .filter_map(|mut line| Some(line.get_mut("prompt")?.take()))
        .collect();
    assert_eq!(prompts, ["the prompt", "the answer"]);
}

#[tokio::test]
async fn a_session_that_cannot_be_loaded_is_replaced_by_one_with_the_conversation() {
    let bench = Bench::new();
    for script in [
        r#"{"refuse_load": true, "turns": [[{"text": "hello"}]]}"#,
        r#"{"no_load": true, "turns": [[{"text": "hello"}]]}"#,
        r#"{"turns": [[{"text": "hello"}]]}"#,
    ] {
        let mut launch = bench.acp(script);
        launch.session.resume = Some(resume("session-of-yesterday"));
        let ran = drive(agent(Preset::GENERIC).as_ref(), launch, |_| false).await;
        assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
        assert_eq!(ran.ended.problems.len(), 1, "{:?}", ran.ended.problems);
        assert!(ran.ended.problems[0].ends_with("starting a new session with the conversation so far"));
        let session = session_file(&bench, &ran.ended.agent_session.unwrap());
        assert_eq!(session[1]["prompt"], "everything so far");
    }
}

#[tokio::test]
async fn tools_are_offered_over_http_or_by_the_shim() {
    let bench = Bench::new();
    let tools = ToolServer {
        name: "baton".to_owned(),
        url: Some("http://127.0.0.1:9/mcp".to_owned()),
        token: "s3cret".to_owned(),
        shim: vec!["/opt/baton".to_owned(), "mcp".to_owned()],
    };
    let shim_only = Preset { tool_transport: ToolTransport::Shim, ..Preset::GENERIC };
    for (script, preset, is_http) in [
        (r#"{"http": true}"#, Preset::GENERIC, true),
        (r#"{"http": false}"#, Preset::GENERIC, false),
        (r#"{"http": true}"#, shim_only, false),
    ] {
        let mut launch = bench.acp(script);
        launch.session.tools = Some(tools.clone());
        launch.environment.set("BATON_TASK_ID", "TASK-1");
        let ran = drive(agent(preset).as_ref(), launch, |_| false).await;
        let opened = &session_file(&bench, &ran.ended.agent_session.unwrap())[0]["opened"];
        assert_eq!(opened["cwd"].as_str().unwrap(), bench.worktree().to_str().unwrap());
        let server = &opened["mcpServers"][0];
        assert_eq!(server["name"], "baton");
        if is_http {
            assert_eq!(server["type"], "http");
            assert_eq!(server["headers"][0]["value"], "Bearer s3cret");
        } else {
            assert_eq!(server["command"], "/opt/baton");
            assert_eq!(server["args"], serde_json::json!(["mcp"]));
            let env = server["env"].to_string();
            assert!(
                env.contains("s3cret") && env.contains("TASK-1") && env.contains(&bench.attempt.to_string())
            );
        }
        assert!(!ran.events.iter().any(|event| has_text(event, "s3cret")));
        assert!(!bench.log().contains("s3cret"));
    }
}
