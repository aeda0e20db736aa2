//! An agent driven by the Agent Client Protocol: its events, and every way it ends.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use baton_agents::asking::permission::PermissionDecision;
use baton_agents::driver::run_result::{EndReason, ProcessExit};
use baton_agents::driver::setup::AgentSetup;
use baton_agents::driver::{AgentEvent, Driver, Launch};
use baton_agents::failure::FailureKind;
use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::preset::Preset;
use baton_agents::protocols;
use baton_agents::report::stop_reason::StopReason;
use baton_agents::report::tool_call::{ToolKind, ToolOutcome};
use baton_agents::report::usage::UsageKind;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt::{AttemptResult, BlockReason, ErrorCause};

use crate::bench::{Bench, FinishedRun, clock, drive, has_text};

pub(crate) fn agent(preset: Preset) -> Box<dyn Driver> {
    let setup = AgentSetup::new(clock(), preset).permissions(Arc::new(PermissionDecision::Allow));
    protocols::for_kind(AgentKind::Acp, setup)
}

async fn run(launch: Launch) -> FinishedRun {
    drive(agent(Preset::GENERIC).as_ref(), launch, |_| false).await
}

fn systemic(ran: &FinishedRun) -> &str {
    match &ran.ended.reported.result {
        AttemptResult::Error { cause: ErrorCause::Systemic, message } => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_turn_becomes_events_and_an_end() {
    let bench = Bench::new();
    bench.init_git();
    let ran = run(bench.acp_steps(
        r#"[{"text": "I will "}, {"text": "begin.\n"}, {"tool": "git commit"}, {"commit": "by the agent"},
            {"unannounced": "x"}, {"cost": 0.25}, {"cost": 0.5}, {"text": "Done."},
            {"usage": {"inputTokens": 90, "cachedReadTokens": 10, "outputTokens": 20, "totalTokens": 120}}]"#,
    ))
    .await;
    let ended = &ran.ended;
    assert_eq!((ended.reason, &ended.stop_reason), (EndReason::Finished, &Some(StopReason::EndTurn)));
    assert_eq!(ended.reported.result, AttemptResult::Complete);
    assert_eq!(ended.reported.output, "I will begin.\nDone.");
    assert_eq!((ended.turns, ended.input_tokens, ended.output_tokens), (2, 100, 20));
    assert_eq!((ended.cost_micro_usd, ended.cost_kind), (500_000, UsageKind::PerSession));
    assert_eq!(ended.exit, Some(ProcessExit::Code(0)), "it ends by itself when its input is closed");
    assert_eq!(ended.problems, [] as [&str; 0]);
    assert!(ended.agent_session.as_deref().unwrap().starts_with("session-"));
    assert_eq!(bench.git(&["log", "-1", "--format=%s"]), "by the agent");

    assert!(matches!(ran.events[0], AgentEvent::Started(_)));
    assert!(
        matches!(&ran.events[1], AgentEvent::Session(session) if Some(session) == ended.agent_session.as_ref())
    );
    let has = |wanted: fn(&AgentEvent) -> bool| ran.events.iter().any(wanted);
    assert!(has(|event| has_text(event, "I will begin.")));
    assert!(has(
        |event| matches!(event, AgentEvent::ToolStarted(call) if call.title == "git commit" && call.kind == ToolKind::Execute)
    ));
    assert!(has(|event| matches!(event, AgentEvent::ToolEnded(ended) if ended.outcome == ToolOutcome::Done)));
    assert!(has(
        |event| matches!(event, AgentEvent::Usage(UsageKind::PerTurn, usage) if usage.input_tokens == 100)
    ));
    assert!(has(|event| matches!(event, AgentEvent::Stopped(StopReason::EndTurn))));
    let log = bench.log();
    for line in
        ["out I will begin.", "rep tool (execute): git commit", "out Done.", "*** the turn ended (end_turn)"]
    {
        assert!(log.contains(line), "{line} is not in:\n{log}");
    }
}

#[tokio::test]
async fn thoughts_plans_and_the_output_of_tools_are_kept_for_people() {
    let bench = Bench::new();
    let ran = run(bench.acp_steps(
        r#"[{"update": {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Look "}}},
            {"update": {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "first."}}},
            {"update": {"sessionUpdate": "plan", "entries": [{"content": "Test", "priority": "high", "status": "completed"}, 7]}},
            {"update": {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "npm test", "kind": "execute", "rawInput": {"command": "npm test"}}},
            {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed", "content": [
                {"type": "content", "content": {"type": "text", "text": "12 passed"}},
                {"type": "diff", "path": "a.txt", "oldText": "old", "newText": "new"},
                {"type": "of tomorrow"}, "what is this"]}},
            {"text": "Done."}]"#,
    ))
    .await;
    assert_eq!((ran.ended.turns, ran.ended.reported.output.as_str()), (1, "Done."));
    let log = bench.log();
    for activity in [
        r#"{"did":"thought","text":"Look first."}"#,
        r#"{"did":"todo","items":[{"text":"Test","state":"completed"}]}"#,
        r#"{"did":"tool","id":"c1","title":"npm test","kind":"execute"}"#,
        r#"{"did":"input","id":"c1","text":"npm test"}"#,
        r#"{"did":"output","id":"c1","text":"12 passed"}"#,
        r#"{"did":"change","id":"c1","path":"a.txt","old":"old","new":"new"}"#,
        r#"{"did":"tool_end","id":"c1","ok":true}"#,
    ] {
        assert!(log.contains(&format!(" act {activity}")), "{activity} is not in:\n{log}");
    }
}

#[tokio::test]
async fn the_turn_limit_is_exact() {
    let bench = Bench::new();
    // It sends all calls before it reads. One agent obeys the cancel, others do not, and one just finishes.
    for (steps, how, turns) in [
        (r#"[{"calls": 60}, "hang"]"#, EndReason::TurnLimit, 3),
        (r#"[{"calls": 60}, "hang_forever"]"#, EndReason::TurnLimit, 3),
        (r#"[{"same_id": 60}, "hang"]"#, EndReason::TurnLimit, 3),
        (r#"[{"calls": 3}, {"text": "done"}]"#, EndReason::Finished, 3),
    ] {
        let mut launch = bench.acp_steps(steps);
        launch.limits.turns_max = 3;
        let ran = run(launch).await;
        assert_eq!((ran.ended.reason, ran.ended.turns), (how, turns), "{steps}");
        let result =
            if how == EndReason::TurnLimit { AttemptResult::TurnLimit } else { AttemptResult::Complete };
        assert_eq!(ran.ended.reported.result, result);
        assert_eq!(bench.alive(), [] as [&str; 0]);
        let counted = ran.events.iter().filter(|event| matches!(event, AgentEvent::ToolStarted(_))).count();
        assert_eq!(counted, 3);
    }
}

#[tokio::test]
async fn a_cancelled_agent_is_asked_to_stop_and_then_killed_with_its_processes() {
    let bench = Bench::new();
    for steps in [r#"[{"text": "ready\n"}, "hang"]"#, r#"["spawn", {"text": "ready\n"}, "hang_forever"]"#] {
        let launch = bench.acp_steps(steps);
        let ran = drive(agent(Preset::GENERIC).as_ref(), launch, |event| has_text(event, "ready")).await;
        assert_eq!(ran.ended.reason, EndReason::Cancelled);
        assert_eq!(ran.ended.reported.output, "ready");
        assert!(ran.ended.agent_session.is_some());
        assert_eq!(bench.alive(), [] as [&str; 0]);
    }
    // The first one obeyed the cancel.
    assert!(bench.log().contains("the turn ended (cancelled)"), "{}", bench.log());
}

#[tokio::test]
async fn running_too_long_and_being_idle_are_timeouts() {
    let bench = Bench::new();
    let timed_out = AttemptResult::Blocked { reason: BlockReason::Timeout };
    let mut launch = bench.acp_steps(r#"["hang"]"#);
    launch.limits.idle_timeout = Some(Duration::from_secs(5));
    let ran = run(launch).await;
    assert_eq!((ran.ended.reason, &ran.ended.reported.result), (EndReason::Idle, &timed_out));

    let mut launch = bench.acp_steps(r#"["hang_forever"]"#);
    launch.limits.timeout = Some(Duration::from_secs(3));
    let ran = run(launch).await;
    assert_eq!((ran.ended.reason, &ran.ended.reported.result), (EndReason::TimedOut, &timed_out));
    assert_eq!(bench.alive(), [] as [&str; 0]);
}

#[tokio::test]
async fn stop_reasons_become_results() {
    let bench = Bench::new();
    let incomplete = AttemptResult::Incomplete;
    for (stop, result) in [
        ("max_tokens", incomplete.clone()),
        ("max_turn_requests", incomplete.clone()),
        ("cancelled", incomplete),
        (
            "refusal",
            AttemptResult::Blocked { reason: BlockReason::Other("the model refused to continue".to_owned()) },
        ),
        ("a_future_reason", AttemptResult::Complete),
    ] {
        let ran = run(bench.acp_steps(&format!(r#"[{{"tool": "x"}}, {{"stop": "{stop}"}}]"#))).await;
        assert_eq!(ran.ended.reported.result, result, "{stop}");
    }
}

#[tokio::test]
async fn an_agent_that_does_not_start_is_reported_with_its_stderr() {
    let bench = Bench::new();
    let ran = run(bench.acp(r#"{"stderr": "Cannot find module 'left-pad'", "exit": 7}"#)).await;
    let message = systemic(&ran);
    assert!(message.contains("before it received its prompt (exited with code 7)"), "{message}");
    assert!(message.contains("Cannot find module 'left-pad'"), "{message}");
    assert_eq!(ran.ended.failure.as_ref().unwrap().kind, FailureKind::CrashAtStart);

    let ran =
        run(bench.acp(r#"{"refuse_new": {"code": -32000, "message": "Authentication required"}}"#)).await;
    let message = systemic(&ran);
    assert!(message.contains("Log in with a browser"), "{message}");
    assert_eq!(ran.ended.failure.as_ref().unwrap().kind, FailureKind::Authentication);
    assert_eq!(ran.ended.reason, EndReason::FailedToStart);

    let ran = run(bench.acp(r#"{"protocol": 2}"#)).await;
    assert!(systemic(&ran).contains("protocol version 2"), "{}", systemic(&ran));

    let mut launch = bench.acp(r#"{"mute": true, "stderr": "downloading itself"}"#);
    launch.limits.startup_timeout = Duration::from_secs(6);
    let ran = run(launch).await;
    assert!(systemic(&ran).contains("was not ready within 6s"), "{}", systemic(&ran));
    assert!(systemic(&ran).contains("downloading itself"));
    assert_eq!(bench.alive(), [] as [&str; 0]);

    let ran = run(bench.launch(&["no-such-agent"])).await;
    assert_eq!(ran.ended.reason, EndReason::FailedToStart);
}

#[tokio::test]
async fn a_failed_turn_is_a_systemic_error_with_its_kind_of_failure() {
    let bench = Bench::new();
    let limited = r#"{"code": -32603, "message": "Internal error", "data": {"details": "429 rate limit, try again in 30s"}}"#;
    let ran = run(bench.acp_steps(&format!(r#"[{{"error": {limited}}}]"#))).await;
    let failure = ran.ended.failure.as_ref().unwrap();
    assert_eq!((failure.kind, failure.until.map(Timestamp::ms)), (FailureKind::RateLimit, Some(30_000)));
    assert!(systemic(&ran).contains("try again in 30s"), "{}", systemic(&ran));

    let ran =
        run(bench.acp_steps(r#"[{"text": "half"}, {"stderr": "panicked at main.rs"}, {"exit": 101}]"#)).await;
    assert!(
        systemic(&ran).contains("in the middle of its turn (exited with code 101)"),
        "{}",
        systemic(&ran)
    );
    assert!(systemic(&ran).contains("panicked at main.rs"));
    assert_eq!((ran.ended.failure, ran.ended.reported.output.as_str()), (None, "half"));
}

#[tokio::test]
async fn unknown_messages_are_ignored() {
    let bench = Bench::new();
    let ran = run(bench.acp_steps(
        r#"[{"raw": "Debugger listening"}, {"raw": "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}"},
            {"raw": "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"of_tomorrow\"}}}"},
            {"raw": "{\"id\":5,\"method\":\"fs/read_text_file\",\"params\":{\"path\":\"/etc/passwd\"}}"}, {"text": "fine"}]"#,
    ))
    .await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(ran.ended.reported.output, "fine");
    assert!(bench.log().contains("not a message: Debugger listening"));
}

#[tokio::test]
async fn an_agent_that_does_not_exit_is_ended() {
    let bench = Bench::new();
    let ran = run(bench.acp(r#"{"stays": true, "turns": [[{"text": "done"}]]}"#)).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(bench.alive(), [] as [&str; 0]);
}

#[tokio::test]
async fn mode_and_model_are_set_if_the_agent_has_them() {
    let bench = Bench::new();
    let preset = Preset { mode: Some("agent"), ..Preset::GENERIC };
    let script = r#"{"modes": ["default", "agent"], "models": true, "turns": [[{"text": "done"}]]}"#;
    let mut launch = bench.acp(script);
    launch.session.model = Some("large".to_owned());
    let ran = drive(agent(preset).as_ref(), launch.clone(), |_| false).await;
    assert_eq!(ran.ended.problems, [] as [&str; 0]);
    let session =
        fs::read_to_string(bench.path("acp.sessions").join(ran.ended.agent_session.unwrap())).unwrap();
    assert!(session.contains(r#""modeId":"agent""#), "{session}");
    assert!(
        session.contains(r#""configId":"model-choice""#) && session.contains(r#""value":"large""#),
        "{session}"
    );

    let mut launch = bench.acp(r#"{"turns": [[{"text": "done"}]]}"#);
    launch.session.model = Some("large".to_owned());
    let ran = drive(agent(preset).as_ref(), launch, |_| false).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(
        ran.ended.problems,
        ["the agent has no mode \"agent\"", "the agent has no setting for the model large"]
    );
}
