//! Every way an attempt ends, and its result.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use baton_agents::driver::AgentEvent;
use baton_agents::driver::run_result::{EndReason, ProcessExit};
use baton_agents::process::environment::AgentEnvironment;
use baton_core::task::attempt::{AttemptResult, BlockReason, ErrorCause};

use crate::bench::{Bench, FinishedRun, has_text, run, run_until, wait_until};
use crate::gate::Gate;

fn own(message: &str) -> AttemptResult {
    AttemptResult::Error { cause: ErrorCause::Own, message: message.to_owned() }
}

fn systemic_message(ran: &FinishedRun) -> String {
    match &ran.ended.reported.result {
        AttemptResult::Error { cause: ErrorCause::Systemic, message } => message.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn exit_code_0_without_a_result_is_complete_with_the_text_as_output() {
    let bench = Bench::new();
    let ran = run(bench.shell("read -r prompt; echo \"got: $prompt\"; pwd")).await;
    assert_eq!(ran.ended.reason, EndReason::Finished);
    assert_eq!(ran.ended.exit, Some(ProcessExit::Code(0)));
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    let worktree = bench.worktree().canonicalize().unwrap();
    assert_eq!(ran.ended.reported.output, format!("got: the prompt\n{}", worktree.display()));
    assert_eq!(ran.ended.problems, [] as [&str; 0]);
    assert!(matches!(&ran.events[0], AgentEvent::Started(identity) if identity.started.is_some()));
}

#[tokio::test]
async fn a_reported_result_has_priority() {
    let bench = Bench::new();
    let ran = run(bench.steps(
        r#"[{"say": "thinking"}, {"turns": 2}, {"usage": {"input_tokens": 5, "cost_usd": 0.5}},
            {"usage": {"input_tokens": 6, "output_tokens": 1}},
            {"outcome": {"outcome": "complete", "description": "all of it"}},
            {"plan": [{"title": "one"}]},
            {"result": {"status": "INCOMPLETE", "output": "half of it"}}]"#,
    ))
    .await;
    let ended = ran.ended;
    assert_eq!(ended.reported.result, AttemptResult::Incomplete);
    assert_eq!(ended.reported.output, "half of it");
    assert!(ended.reported.plan_submitted);
    assert_eq!(ended.plan.unwrap().items[0].title, "one");
    assert_eq!(ended.outcome.as_ref().unwrap().name, "complete");
    assert_eq!(ended.outcome.unwrap().description.as_deref(), Some("all of it"));
    assert_eq!((ended.turns, ended.input_tokens, ended.output_tokens), (2, 11, 1));
    assert_eq!(ended.cost_micro_usd, 500_000);
    let turns: Vec<&AgentEvent> =
        ran.events.iter().filter(|event| matches!(event, AgentEvent::Turn(_))).collect();
    assert_eq!(turns, [&AgentEvent::Turn(1), &AgentEvent::Turn(2)]);
    assert!(ran.events.iter().any(|event| has_text(event, "thinking")));
}

#[tokio::test]
async fn a_question_ends_the_attempt_at_once() {
    let bench = Bench::new();
    let ran = run(bench.steps(
        r#"[{"spawn": {"count": 2}}, {"ask": {"question": "Which one?", "options": ["A", "B"]}},
            {"result": {"status": "COMPLETE"}}, "hang"]"#,
    ))
    .await;
    assert_eq!(ran.ended.reason, EndReason::Finished);
    let AttemptResult::Asked { question } = ran.ended.reported.result else { panic!("{:?}", ran.ended) };
    assert_eq!(question.text.as_str(), "Which one?");
    assert_eq!(question.options.len(), 2);
    assert!(ran.events.iter().any(|event| matches!(event, AgentEvent::Asked(_))));
    assert_eq!(bench.alive(), [] as [&str; 0]);
}

#[tokio::test]
async fn a_question_counts_if_the_agent_exits_right_after_it() {
    let bench = Bench::new();
    let ran = run(bench.steps(r#"[{"ask": {"question": "Which one?"}}, {"crash": {"exit": 3}}]"#)).await;
    assert!(matches!(ran.ended.reported.result, AttemptResult::Asked { .. }), "{:?}", ran.ended);
}

#[tokio::test]
async fn the_turn_limit_is_exact() {
    let bench = Bench::new();
    for steps in
        [r#"[{"turns": 60}]"#, r#"[{"turns": 7}, "hang"]"#, r#"[{"turns": 7}, {"ask": {"question": "?"}}]"#]
    {
        let mut launch = bench.steps(steps);
        launch.limits.turns_max = 7;
        let ran = run(launch).await;
        assert_eq!(ran.ended.reason, EndReason::TurnLimit);
        assert_eq!(ran.ended.reported.result, AttemptResult::TurnLimit);
        assert_eq!(ran.ended.turns, 7);
    }
    let mut launch = bench.steps(r#"[{"turns": 6}]"#);
    launch.limits.turns_max = 7;
    assert_eq!(run(launch).await.ended.reported.result, AttemptResult::Complete);
}

#[tokio::test]
async fn a_failing_agent_is_reported_with_its_last_output() {
    let bench = Bench::new();
    let ran =
        run(bench.steps(r#"[{"say": "text"}, {"log": "no such table"}, {"crash": {"exit": 3}}]"#)).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Code(3)));
    assert_eq!(ran.ended.reported.result, own("the agent exited with code 3\nno such table"));
    assert_eq!(ran.ended.reported.output, "text");

    let ran = run(bench.steps(r#"[{"crash": {"signal": "KILL"}}]"#)).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Signal(9)));
    assert_eq!(ran.ended.reported.result, own("the agent was ended by signal 9"));
}

#[tokio::test]
async fn reported_success_and_a_failing_exit_code_is_an_error() {
    let bench = Bench::new();
    let ran = run(bench.steps(r#"[{"result": {"status": "COMPLETE"}}, {"crash": {"exit": 1}}]"#)).await;
    let message = "the agent reported success, but exited with code 1";
    assert_eq!(ran.ended.reported.result, own(message));
    let ran = run(bench.steps(r#"[{"result": {"status": "BLOCKED"}}, {"crash": {"exit": 1}}]"#)).await;
    let blocked = AttemptResult::Blocked { reason: BlockReason::Unstated };
    assert_eq!(ran.ended.reported.result, blocked);
}

#[tokio::test]
async fn an_unreadable_report_is_never_a_success() {
    let bench = Bench::new();
    let bad_result = r#"{"baton":"result","status":"DONE"}"#;
    let ran = run(bench.shell(&format!("echo '{bad_result}'"))).await;
    assert!(matches!(ran.ended.reported.result, AttemptResult::Error { cause: ErrorCause::Own, .. }));
    assert_eq!(ran.ended.reported.output, bad_result);
    assert_eq!(ran.ended.problems.len(), 1);

    let ran = run(bench.shell(r#"echo '{"baton":"ask","question":""}'"#)).await;
    let AttemptResult::Blocked { reason: BlockReason::Other(reason) } = ran.ended.reported.result else {
        panic!("{:?}", ran.ended);
    };
    assert!(reason.contains("the question is blank"), "{reason}");

    let ran = run(bench.shell(r#"echo '{"baton":"wave"}'; echo '{"baton":"turn"'"#)).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(ran.ended.problems.len(), 2);
    assert_eq!(ran.ended.reported.output, "{\"baton\":\"wave\"}\n{\"baton\":\"turn\"");
    assert_eq!(ran.events.iter().filter(|event| matches!(event, AgentEvent::Problem(_))).count(), 2);

    let ran =
        run(bench.shell(&format!(r#"echo '{bad_result}'; echo '{{"baton":"result","status":"COMPLETE"}}'"#)))
            .await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
}

#[tokio::test]
async fn running_too_long_and_being_idle_are_timeouts() {
    let bench = Bench::new();
    let timed_out = AttemptResult::Blocked { reason: BlockReason::Timeout };

    let mut launch = bench.shell("while :; do echo tick; sleep 0.1; done");
    launch.limits.timeout = Some(Duration::from_secs(5));
    let ran = run(launch).await;
    assert_eq!((ran.ended.reason, &ran.ended.reported.result), (EndReason::TimedOut, &timed_out));
    assert!(ran.ended.reported.output.starts_with("tick"));

    let mut launch = bench.steps(r#"[{"say": "ready"}, "hang"]"#);
    launch.limits.idle_timeout = Some(Duration::from_millis(300));
    let ran = run(launch).await;
    assert_eq!((ran.ended.reason, &ran.ended.reported.result), (EndReason::Idle, &timed_out));
    assert_eq!(bench.alive(), [] as [&str; 0]);
}

#[tokio::test]
async fn an_agent_that_keeps_writing_is_not_idle() {
    let bench = Bench::new();
    // Far longer than the pauses between two lines, also on a busy machine.
    let idle = Duration::from_secs(8);
    let gate = bench.path("gate");
    let writes =
        format!("while ! flock --nonblock '{}' true; do echo >&2 busy; sleep 0.2; done", gate.display());
    let mut launch = bench.shell(&writes);
    launch.limits.idle_timeout = Some(idle);
    let gate = Gate::closed(gate);
    let begun = Instant::now();
    std::thread::spawn(move || {
        wait_until("it has written for longer than it may be idle", || begun.elapsed() > idle + idle / 4);
        gate.open();
    });
    assert_eq!(run(launch).await.ended.reported.result, AttemptResult::Complete);
}

#[tokio::test]
async fn a_reported_result_counts_if_the_program_hangs_afterwards() {
    let bench = Bench::new();
    let mut launch = bench.steps(r#"[{"result": {"status": "COMPLETE", "output": "done"}}, "hang"]"#);
    launch.limits.idle_timeout = Some(Duration::from_secs(6));
    let ran = run(launch).await;
    assert_eq!((ran.ended.reason, ran.ended.reported.result), (EndReason::Idle, AttemptResult::Complete));
}

#[tokio::test]
async fn a_cancelled_attempt_is_reported_as_cancelled() {
    let bench = Bench::new();
    let launch = bench.steps(r#"[{"say": "ready"}, "hang"]"#);
    let ran = run_until(launch, |event| has_text(event, "ready")).await;
    assert_eq!(ran.ended.reason, EndReason::Cancelled);
    assert_eq!(ran.ended.reported.output, "ready");
    assert_eq!(bench.alive(), [] as [&str; 0]);
}

#[tokio::test]
async fn a_program_that_cannot_start_is_a_systemic_error_with_the_reason() {
    let bench = Bench::new();
    let ran = run(bench.launch(&["no-such-agent", "--flag"])).await;
    assert_eq!((ran.ended.reason, ran.ended.exit), (EndReason::FailedToStart, None));
    let message = systemic_message(&ran);
    assert!(message.starts_with("cannot start `no-such-agent`: no such program on PATH (/"), "{message}");
    assert!(bench.log().contains("no-such-agent"));

    let file = bench.path("agent.sh");
    fs::write(&file, "#!/no/such/shell\n").unwrap();
    let path = file.to_str().unwrap();
    let message = systemic_message(&run(bench.launch(&[path])).await);
    assert!(message.ends_with("it is not an executable file"), "{message}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let message = systemic_message(&run(bench.launch(&[path])).await);
    assert!(message.ends_with("the interpreter in its first line is missing"), "{message}");

    let mut launch = bench.shell("true");
    launch.worktree = bench.path("nowhere");
    let message = systemic_message(&run(launch).await);
    assert!(message.ends_with("no such folder"), "{message}");

    assert!(systemic_message(&run(bench.launch(&[])).await).contains("command is empty"));
}

#[tokio::test]
async fn variables_that_are_not_allowed_do_not_reach_the_agent() {
    let bench = Bench::new();
    let host = [("PATH", std::env::var("PATH").unwrap()), ("MY_SECRET", "s3cret".to_owned())];
    let host = host.map(|(name, value)| (name.into(), value.into()));
    let mut launch = bench.shell("env");
    launch.environment = AgentEnvironment::allowed(host, &[]);
    launch.environment.set("BATON_TOKEN", "token");
    launch.environment.set("BATON_ATTEMPT_ID", "forged");
    let output = run(launch).await.ended.reported.output;
    assert!(!output.contains("s3cret"), "{output}");
    assert!(output.contains("BATON_TOKEN=token"), "{output}");
    assert!(output.contains(&format!("BATON_ATTEMPT_ID={}", bench.attempt)), "{output}");
}

#[tokio::test]
async fn a_large_prompt_may_be_read_or_ignored() {
    let bench = Bench::new();
    let mut launch = bench.shell("wc -c");
    launch.prompt = "x".repeat(5_000_000);
    assert_eq!(run(launch).await.ended.reported.output.trim(), "5000000");

    let mut launch = bench.shell("exec 0<&-; echo ignored");
    launch.prompt = "x".repeat(5_000_000);
    let ran = run(launch).await;
    assert_eq!(
        (ran.ended.reported.result, ran.ended.reported.output.as_str()),
        (AttemptResult::Complete, "ignored")
    );
}
