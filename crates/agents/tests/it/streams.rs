//! The native streams of Claude Code and Codex, as recorded from the real programs.

use std::sync::Arc;

use baton_agents::asking::asker::NoAsker;
use baton_agents::asking::permission::PermissionDecision;
use baton_agents::driver::run_result::EndReason;
use baton_agents::driver::setup::AgentSetup;
use baton_agents::driver::tool_server::ToolServer;
use baton_agents::driver::{AgentEvent, Launch, SessionResume};
use baton_agents::failure::FailureKind;
use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::preset::Preset;
use baton_agents::protocols;
use baton_agents::report::stop_reason::StopReason;
use baton_agents::report::usage::UsageKind;
use baton_core::task::attempt::{AttemptResult, BlockReason, ErrorCause};

use crate::bench::{Bench, FinishedRun, clock, drive};

async fn run(kind: AgentKind, launch: Launch, decision: PermissionDecision) -> FinishedRun {
    let preset = Preset { kind, ..Preset::GENERIC };
    let setup = AgentSetup::new(clock(), preset).permissions(Arc::new(decision)).asker(Arc::new(NoAsker));
    drive(protocols::for_kind(kind, setup).as_ref(), launch, |_| false).await
}

/// A program that reads its prompt, writes these lines, and waits for the end of its input.
fn writes(bench: &Bench, lines: &[&str]) -> Launch {
    let lines: Vec<String> = lines.iter().map(|line| format!("printf '%s\\n' '{line}'")).collect();
    bench.shell(&format!("read -r prompt\n{}\ncat >/dev/null", lines.join("\n")))
}

const INIT: &str =
    r#"{"type":"system","subtype":"init","session_id":"s-1","tools":["Bash"],"mcp_servers":[]}"#;
const BASH: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git status"}}]}}"#;
const BASH_RESULT: &str =
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#;
const SUCCESS: &str = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"Done.","total_cost_usd":0.25,"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":5},"permission_denials":[]}"#;

#[tokio::test]
async fn the_stream_of_claude_becomes_events() {
    let bench = Bench::new();
    let done = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#;
    let lines = [r#"{"type":"of_tomorrow"}"#, "Warning: no colour", INIT, BASH, BASH_RESULT, done, SUCCESS];
    let ran = run(AgentKind::Claude, writes(&bench, &lines), PermissionDecision::Allow).await;
    let ended = &ran.ended;
    assert_eq!(
        (ended.reason, &ended.reported.result),
        (EndReason::Finished, &AttemptResult::Complete),
        "{ended:?}"
    );
    assert_eq!(ended.reported.output, "I look.\nDone.");
    assert_eq!((ended.turns, ended.agent_session.as_deref()), (1, Some("s-1")));
    assert_eq!((ended.input_tokens, ended.output_tokens, ended.token_kind), (10, 5, UsageKind::PerTurn));
    assert_eq!((ended.cost_micro_usd, ended.cost_kind), (250_000, UsageKind::PerSession));
    assert!(
        ran.events
            .iter()
            .any(|event| matches!(event, AgentEvent::ToolStarted(call) if call.title == "Bash: git status"))
    );
    assert!(bench.log().contains("not a message: Warning: no colour"));
}

#[tokio::test]
async fn a_success_of_claude_with_errors_is_no_success() {
    let bench = Bench::new();
    let limited =
        r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 429 rate_limit_error"}"#;
    let ran = run(AgentKind::Claude, writes(&bench, &[INIT, limited]), PermissionDecision::Allow).await;
    assert_eq!(ran.ended.failure.as_ref().unwrap().kind, FailureKind::RateLimit);
    assert_eq!(ran.ended.stop_reason, Some(StopReason::Error));

    let denied = r#"{"type":"result","subtype":"success","is_error":false,"permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"git status"}}]}"#;
    let ran = run(AgentKind::Claude, writes(&bench, &[INIT, BASH, denied]), PermissionDecision::Allow).await;
    assert_eq!(ran.ended.refusals, ["Bash: git status"]);
    assert!(matches!(ran.ended.reported.result, AttemptResult::Blocked { reason: BlockReason::Other(_) }));

    let limit = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":4}"#;
    let ran = run(AgentKind::Claude, writes(&bench, &[INIT, limit]), PermissionDecision::Allow).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Incomplete);
}

#[tokio::test]
async fn claude_asks_for_permission_and_gets_the_answer() {
    let bench = Bench::new();
    let ask = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"git push"}}}"#;
    for (decision, behaviour) in [(PermissionDecision::Allow, "allow"), (PermissionDecision::Deny, "deny")] {
        // It prints the answer it gets.
        let script = format!(
            r#"read -r prompt; printf '%s\n' '{INIT}' '{ask}'; read -r answer
               case $answer in *'"behavior":"{behaviour}"'*) printf '%s\n' '{SUCCESS}';; *) exit 9;; esac; cat >/dev/null"#
        );
        let ran = run(AgentKind::Claude, bench.shell(&script), decision).await;
        assert_eq!(ran.ended.stop_reason, Some(StopReason::EndTurn), "{:?}", ran.ended);
        assert_eq!(ran.ended.refusals.len(), usize::from(decision == PermissionDecision::Deny));
    }
    // Without an answer it is interrupted, and the question is kept.
    let interrupted = r#"{"type":"result","subtype":"error_during_execution","is_error":true}"#;
    let script = format!(
        r"read -r prompt; printf '%s\n' '{INIT}' '{ask}'; read -r answer
           case $answer in *interrupt*) printf '%s\n' '{interrupted}';; *) exit 9;; esac; cat >/dev/null"
    );
    let ran = run(AgentKind::Claude, bench.shell(&script), PermissionDecision::AskHuman).await;
    assert!(matches!(ran.ended.reported.result, AttemptResult::Asked { .. }), "{:?}", ran.ended);
    assert_eq!((ran.ended.reason, ran.ended.stop_reason), (EndReason::Finished, Some(StopReason::Cancelled)));
}

#[tokio::test]
async fn a_lost_session_is_replaced_by_a_new_one() {
    let bench = Bench::new();
    let gone = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: s-0"]}"#;
    let script = format!(
        r#"read -r prompt; case "$*" in *--resume*) printf '%s\n' '{gone}'; exit 1;; esac
           case $prompt in *"everything so far"*) printf '%s\n' '{INIT}' '{SUCCESS}';; esac; cat >/dev/null"#
    );
    let mut launch = bench.shell(&script);
    // The first argument after the script of `sh -c` is `$0`.
    launch.command.push("claude".to_owned());
    launch.session.resume = Some(SessionResume {
        agent_session: "s-0".to_owned(),
        prompt_without: "everything so far".to_owned(),
    });
    let ran = run(AgentKind::Claude, launch, PermissionDecision::Allow).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete, "{:?}", ran.ended);
    assert_eq!(ran.ended.agent_session.as_deref(), Some("s-1"));
    assert!(ran.ended.problems[0].contains("No conversation found"), "{:?}", ran.ended.problems);
}

#[tokio::test]
async fn codex_gets_the_whole_conversation_if_it_starts_a_new_thread() {
    let bench = Bench::new();
    let end = r#"{"type":"turn.completed","usage":{}}"#;
    let message =
        r#"{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"Received."}}"#;
    let script = format!(
        r#"read -r prompt; printf '%s\n' '{THREAD}' '{TURN}'
           case $prompt in *"everything so far"*) printf '%s\n' '{message}';; esac; printf '%s\n' '{end}'; cat >/dev/null"#
    );
    let mut launch = bench.shell(&script);
    launch.session.resume = Some(SessionResume {
        agent_session: "th-0".to_owned(),
        prompt_without: "everything so far".to_owned(),
    });
    let ran = run(AgentKind::Codex, launch, PermissionDecision::Allow).await;
    assert_eq!(ran.ended.reported.output, "Received.", "{:?}", ran.ended);
    assert!(ran.ended.problems[0].contains("there is no session th-0"), "{:?}", ran.ended.problems);
    assert_eq!(ran.ended.agent_session.as_deref(), Some("th-1"));
}

const THREAD: &str = r#"{"type":"thread.started","thread_id":"th-1"}"#;
const TURN: &str = r#"{"type":"turn.started"}"#;

fn codex(number: u32) -> String {
    format!(
        r#"{{"type":"item.completed","item":{{"id":"item_{number}","type":"command_execution","command":"ls","exit_code":0,"status":"completed"}}}}"#
    )
}

#[tokio::test]
async fn the_stream_of_codex_becomes_events() {
    let bench = Bench::new();
    let started = r#"{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","status":"in_progress"}}"#;
    let message = r#"{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"Done."}}"#;
    let note = r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"a model without a name"}}"#;
    let end = r#"{"type":"turn.completed","usage":{"input_tokens":400,"cached_input_tokens":100,"output_tokens":80}}"#;
    let ran = run(
        AgentKind::Codex,
        writes(&bench, &[THREAD, TURN, note, started, &codex(1), message, r#"{"type":"x"}"#, end]),
        PermissionDecision::Allow,
    )
    .await;
    let ended = &ran.ended;
    assert_eq!(ended.reported.result, AttemptResult::Complete, "{ended:?}");
    assert_eq!((ended.reported.output.as_str(), ended.turns), ("Done.", 1));
    assert_eq!(ended.agent_session.as_deref(), Some("th-1"));
    assert_eq!((ended.input_tokens, ended.output_tokens, ended.token_kind), (400, 80, UsageKind::PerSession));
}

#[tokio::test]
async fn codex_is_ended_at_the_turn_limit_and_its_failures_are_recognised() {
    let bench = Bench::new();
    let many: Vec<String> = (0..20).map(codex).collect();
    let mut lines = vec![THREAD, TURN];
    lines.extend(many.iter().map(String::as_str));
    let mut launch = writes(&bench, &lines);
    launch.limits.turns_max = 3;
    let ran = run(AgentKind::Codex, launch, PermissionDecision::Allow).await;
    assert_eq!((ran.ended.reason, ran.ended.turns), (EndReason::TurnLimit, 3));
    assert_eq!(bench.alive(), [] as [&str; 0]);

    let failed = r#"{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 500 Internal Server Error"}}"#;
    let ran = run(AgentKind::Codex, writes(&bench, &[THREAD, TURN, failed]), PermissionDecision::Allow).await;
    assert_eq!(ran.ended.failure.as_ref().unwrap().kind, FailureKind::Overload);
    assert!(matches!(ran.ended.reported.result, AttemptResult::Error { cause: ErrorCause::Systemic, .. }));
}

#[tokio::test]
async fn both_get_the_tools_and_the_git_folders() {
    let bench = Bench::new();
    let mut launch = bench.shell(r#"printf '%s\n' "$@" "token: $BATON_TOKEN" >&2; exit 3"#);
    launch.command.push("agent".to_owned());
    launch.session.git_folders = vec!["/repo/.git".into()];
    launch.session.effort = Some("high".to_owned());
    launch.session.model = Some("large".to_owned());
    launch.session.tools = Some(ToolServer {
        name: "baton".to_owned(),
        url: Some("http://127.0.0.1:9/mcp".to_owned()),
        token: "s3cret".to_owned(),
        shim: Vec::new(),
    });
    let ran = run(AgentKind::Codex, launch.clone(), PermissionDecision::Allow).await;
    let AttemptResult::Error { message, .. } = ran.ended.reported.result else { panic!() };
    for word in [
        r#"sandbox_workspace_write.writable_roots=["/repo/.git"]"#,
        r#"mcp_servers.baton.url="http://127.0.0.1:9/mcp""#,
        r#"mcp_servers.baton.bearer_token_env_var="BATON_TOKEN""#,
        "mcp_servers.baton.required=true",
        r#"model="large""#,
        r#"model_reasoning_effort="high""#,
        "token: s3cret",
    ] {
        assert!(message.contains(word), "{word} is not in {message}");
    }
    let ran = run(AgentKind::Claude, launch, PermissionDecision::Allow).await;
    let AttemptResult::Error { message, .. } = ran.ended.reported.result else { panic!() };
    for word in [
        "Bearer ${BATON_TOKEN}",
        "mcp__baton",
        "--permission-prompt-tool\nstdio",
        "--model\nlarge",
        "--effort\nhigh",
    ] {
        assert!(message.contains(word), "{word} is not in {message}");
    }
    let log = bench.log();
    let started = log.lines().find(|line| line.contains("started")).unwrap();
    assert!(!started.contains("s3cret"), "a command line is everyone's: {started}");
}

/// The activities in a log, as JSON.
fn activities(log: &str) -> Vec<serde_json::Value> {
    let lines = log.lines().filter_map(|line| line.split_once(" act "));
    lines.map(|(_, activity)| serde_json::from_str(activity).unwrap()).collect()
}

#[tokio::test]
async fn what_claude_did_is_kept_for_people() {
    let bench = Bench::new();
    let thinks =
        r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Look first."}]}}"#;
    let edits = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"a.txt","old_string":"old","new_string":"new"}},{"type":"tool_use","id":"t3","name":"TodoWrite","input":{"todos":[{"content":"Test","status":"in_progress"}]}}]}}"#;
    let failed = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"no such file"}]}]}}"#;
    let lines = [INIT, thinks, BASH, BASH_RESULT, edits, failed, SUCCESS];
    run(AgentKind::Claude, writes(&bench, &lines), PermissionDecision::Allow).await;
    let seen = activities(&bench.log());
    for wanted in [
        serde_json::json!({ "did": "thought", "text": "Look first." }),
        serde_json::json!({ "did": "tool", "id": "t1", "title": "Bash: git status", "kind": "execute" }),
        serde_json::json!({ "did": "input", "id": "t1", "text": "git status" }),
        serde_json::json!({ "did": "output", "id": "t1", "text": "ok" }),
        serde_json::json!({ "did": "tool_end", "id": "t1", "ok": true }),
        serde_json::json!({ "did": "change", "id": "t2", "path": "a.txt", "old": "old", "new": "new" }),
        serde_json::json!({ "did": "todo", "items": [{ "text": "Test", "state": "in_progress" }] }),
        serde_json::json!({ "did": "output", "id": "t2", "text": "no such file" }),
        serde_json::json!({ "did": "tool_end", "id": "t2", "ok": false }),
    ] {
        assert!(seen.contains(&wanted), "{wanted} is not in {seen:#?}");
    }
}

#[tokio::test]
async fn what_codex_did_is_kept_for_people() {
    let bench = Bench::new();
    let lines = [
        THREAD,
        TURN,
        r#"{"type":"item.completed","item":{"id":"i1","type":"reasoning","text":"Look first."}}"#,
        r#"{"type":"item.updated","item":{"id":"i2","type":"todo_list","items":[{"text":"Test","completed":true}]}}"#,
        r#"{"type":"item.completed","item":{"id":"i3","type":"command_execution","command":"npm test","aggregated_output":"12 passed","exit_code":0,"status":"completed"}}"#,
        r#"{"type":"item.completed","item":{"id":"i4","type":"file_change","changes":[{"path":"a.txt","kind":"update"}],"status":"completed"}}"#,
        r#"{"type":"turn.completed","usage":{}}"#,
    ];
    run(AgentKind::Codex, writes(&bench, &lines), PermissionDecision::Allow).await;
    let seen = activities(&bench.log());
    for wanted in [
        serde_json::json!({ "did": "thought", "text": "Look first." }),
        serde_json::json!({ "did": "todo", "items": [{ "text": "Test", "state": "completed" }] }),
        serde_json::json!({ "did": "output", "id": "i3", "text": "12 passed" }),
        serde_json::json!({ "did": "output", "id": "i4", "text": "update a.txt" }),
    ] {
        assert!(seen.contains(&wanted), "{wanted} is not in {seen:#?}");
    }
}
