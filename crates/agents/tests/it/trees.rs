//! The whole process tree of an agent is ended, whatever its processes do.

use std::time::Duration;

use baton_agents::driver::Driver;
use baton_agents::driver::run_result::{EndReason, ProcessExit};
use baton_agents::protocols::command::CommandAgent;
use baton_core::task::attempt::AttemptResult;
use tokio::sync::{mpsc, watch};

use crate::bench::{Bench, clock, has_text, run, run_until, wait_until};
use crate::gate::Gate;

const NONE: [&str; 0] = [];

/// Children in the process group and outside of it, some of which ignore TERM.
const FAMILY: &str = r#"{"spawn": {"count": 2}}, {"spawn": {"count": 2, "detached": true}},
    {"spawn": {"count": 1, "ignore_term": true}}, {"spawn": {"count": 1, "detached": true, "ignore_term": true}}"#;

#[tokio::test]
async fn nothing_is_left_after_a_cancel() {
    let bench = Bench::new();
    let launch = bench.steps(&format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    let ran = run_until(launch, |event| has_text(event, "ready")).await;
    assert_eq!(ran.ended.reason, EndReason::Cancelled);
    assert_eq!(bench.alive(), NONE);
    assert_eq!(ran.ended.problems, NONE);
}

#[tokio::test]
async fn nothing_is_left_after_a_timeout() {
    let bench = Bench::new();
    let mut launch = bench.steps(&format!(r#"[{FAMILY}, "hang"]"#));
    launch.limits.timeout = Some(Duration::from_millis(500));
    let ran = run(launch).await;
    assert_eq!(ran.ended.reason, EndReason::TimedOut);
    assert_eq!(bench.alive(), NONE);
}

#[tokio::test]
async fn nothing_is_left_after_a_normal_end_although_pipes_are_open() {
    let bench = Bench::new();
    let ran = run(bench.steps(&format!(r#"[{FAMILY}, {{"say": "done"}}]"#))).await;
    assert_eq!((ran.ended.reason, ran.ended.exit), (EndReason::Finished, Some(ProcessExit::Code(0))));
    assert_eq!(
        (ran.ended.reported.result, ran.ended.reported.output.as_str()),
        (AttemptResult::Complete, "done")
    );
    assert_eq!(bench.alive(), NONE);
    assert_eq!(ran.ended.problems, NONE);
}

#[tokio::test]
async fn an_agent_that_ignores_term_is_killed_after_the_grace_period() {
    let bench = Bench::new();
    let launch = bench.steps(r#"["ignore_term", {"say": "ready"}, "hang"]"#);
    let ran = run_until(launch, |event| has_text(event, "ready")).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Signal(9)));
    assert_eq!(bench.alive(), NONE);
}

#[tokio::test]
async fn the_output_after_term_is_kept() {
    let bench = Bench::new();
    let mut launch =
        bench.shell("trap 'echo bye; exit 0' TERM; echo ready; tail -f /dev/null & while :; do wait; done");
    launch.limits.grace = Duration::from_secs(20);
    let ran = run_until(launch, |event| has_text(event, "ready")).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Code(0)));
    assert_eq!(ran.ended.reported.output, "ready\nbye");
}

#[tokio::test]
async fn an_agent_stopped_by_a_signal_is_ended() {
    let bench = Bench::new();
    let mut launch = bench.shell("echo ready; kill -STOP $$");
    launch.limits.idle_timeout = Some(Duration::from_millis(300));
    let ran = run(launch).await;
    assert_eq!(ran.ended.reason, EndReason::Idle);
    assert_eq!(bench.alive(), NONE);
}

#[tokio::test]
async fn an_agent_that_forks_forever_is_ended() {
    let bench = Bench::new();
    // In the group, outside of it, and with parents that exit at once.
    let script =
        "trap '' TERM; echo ready; while :; do tail -f /dev/null & setsid --fork tail -f /dev/null; done";
    let ran = run_until(bench.shell(script), |event| has_text(event, "ready")).await;
    assert_eq!(ran.ended.problems, NONE);
    assert_eq!(bench.alive(), NONE);
}

#[tokio::test]
async fn a_chain_of_processes_that_replace_each_other_is_ended() {
    let bench = Bench::new();
    // Each process of the chain starts the next one and ends.
    std::fs::write(bench.worktree().join("hop.sh"), "trap '' TERM\nsleep 0.02\nsetsid --fork sh hop.sh\n")
        .unwrap();
    let ran =
        run_until(bench.shell("sh hop.sh; echo ready; tail -f /dev/null"), |event| has_text(event, "ready"))
            .await;
    assert_eq!(ran.ended.problems, NONE);
    assert_eq!(bench.alive(), NONE);
}

#[tokio::test]
async fn an_agent_that_closed_its_pipes_still_runs() {
    let bench = Bench::new();
    let gate = Gate::closed(bench.path("gate"));
    let launch = bench.shell(&format!("exec >&- 2>&-; touch closed; {}; exit 4", gate.wait()));
    let closed = bench.worktree().join("closed");
    std::thread::spawn(move || {
        wait_until("the pipes are closed", || closed.exists());
        gate.open();
    });
    let ran = run(launch).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Code(4)));
}

#[tokio::test]
async fn a_cleared_environment_does_not_hide_a_member_of_the_group() {
    let bench = Bench::new();
    let script = "env -i tail -f /dev/null & echo $! > pid; echo ready; wait";
    let ran = run_until(bench.shell(script), |event| has_text(event, "ready")).await;
    assert_eq!(ran.ended.reason, EndReason::Cancelled);
    let pid = std::fs::read_to_string(bench.worktree().join("pid")).unwrap();
    let is_there = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    assert!(is_there.is_err() || is_there.unwrap().contains(") Z "));
}

#[tokio::test]
async fn dropping_a_run_kills_its_processes() {
    let bench = Bench::new();
    let launch = bench.steps(&format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    let (sender, mut receiver) = mpsc::channel(16);
    let (_cancel, cancelled) = watch::channel(false);
    let agent = CommandAgent::new(clock());
    tokio::select! {
        ended = agent.run(launch, sender, cancelled) => panic!("{ended:?}"),
        () = async { while !has_text(&receiver.recv().await.unwrap(), "ready") {} } => {}
    }
    wait_until("the killed processes are gone", || bench.alive().is_empty());
}
