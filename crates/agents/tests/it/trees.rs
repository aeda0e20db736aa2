//! A process tree is ended as a whole, whatever its members do.

use std::time::Duration;

use baton_agents::driver::Driver;
use baton_agents::driver::run_result::{EndReason, ProcessExit};
use baton_agents::protocols::command::CommandAgent;
use baton_core::task::attempt::AttemptResult;
use tokio::sync::{mpsc, watch};

use crate::bench::{Bench, clock, run, run_until, says, wait_until};
use crate::gate::Gate;

const NOBODY: [&str; 0] = [];

/// Some stay in the group, some leave it, and some of each do not care for TERM.
const FAMILY: &str = r#"{"spawn": {"count": 2}}, {"spawn": {"count": 2, "detached": true}},
    {"spawn": {"count": 1, "ignore_term": true}}, {"spawn": {"count": 1, "detached": true, "ignore_term": true}}"#;

#[tokio::test]
async fn nothing_is_left_after_a_cancel() {
    let bench = Bench::new();
    let launch = bench.steps(&format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    let ran = run_until(launch, |event| says(event, "ready")).await;
    assert_eq!(ran.ended.reason, EndReason::Cancelled);
    assert_eq!(bench.alive(), NOBODY);
    assert_eq!(ran.ended.problems, NOBODY);
}

#[tokio::test]
async fn nothing_is_left_after_a_timeout() {
    let bench = Bench::new();
    let mut launch = bench.steps(&format!(r#"[{FAMILY}, "hang"]"#));
    launch.limits.timeout = Some(Duration::from_millis(500));
    let ran = run(launch).await;
    assert_eq!(ran.ended.reason, EndReason::TimedOut);
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn nothing_is_left_after_a_normal_end_and_open_pipes_do_not_hold_it_up() {
    let bench = Bench::new();
    let ran = run(bench.steps(&format!(r#"[{FAMILY}, {{"say": "done"}}]"#))).await;
    assert_eq!((ran.ended.reason, ran.ended.exit), (EndReason::Finished, Some(ProcessExit::Code(0))));
    assert_eq!(
        (ran.ended.reported.result, ran.ended.reported.output.as_str()),
        (AttemptResult::Complete, "done")
    );
    assert_eq!(bench.alive(), NOBODY);
    assert_eq!(ran.ended.problems, NOBODY);
}

#[tokio::test]
async fn term_ignored_is_killed_after_the_grace() {
    let bench = Bench::new();
    let launch = bench.steps(r#"["ignore_term", {"say": "ready"}, "hang"]"#);
    let ran = run_until(launch, |event| says(event, "ready")).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Signal(9)));
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn term_heeded_has_its_last_word() {
    let bench = Bench::new();
    let mut launch =
        bench.shell("trap 'echo bye; exit 0' TERM; echo ready; tail -f /dev/null & while :; do wait; done");
    launch.limits.grace = Duration::from_secs(20);
    let ran = run_until(launch, |event| says(event, "ready")).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Code(0)));
    assert_eq!(ran.ended.reported.output, "ready\nbye");
}

#[tokio::test]
async fn a_stopped_agent_is_ended_too() {
    let bench = Bench::new();
    let mut launch = bench.shell("echo ready; kill -STOP $$");
    launch.limits.idle_timeout = Some(Duration::from_millis(300));
    let ran = run(launch).await;
    assert_eq!(ran.ended.reason, EndReason::Idle);
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn an_agent_that_forks_without_end_is_ended() {
    let bench = Bench::new();
    // In the group, out of it, and each with a parent that is gone at once.
    let script =
        "trap '' TERM; echo ready; while :; do tail -f /dev/null & setsid --fork tail -f /dev/null; done";
    let ran = run_until(bench.shell(script), |event| says(event, "ready")).await;
    assert_eq!(ran.ended.problems, NOBODY);
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn a_chain_that_never_stands_still_is_ended() {
    let bench = Bench::new();
    // Each process of the chain starts the next one and ends.
    std::fs::write(bench.worktree().join("hop.sh"), "trap '' TERM\nsleep 0.02\nsetsid --fork sh hop.sh\n")
        .unwrap();
    let ran =
        run_until(bench.shell("sh hop.sh; echo ready; tail -f /dev/null"), |event| says(event, "ready"))
            .await;
    assert_eq!(ran.ended.problems, NOBODY);
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn closed_pipes_are_no_end() {
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
    let ran = run_until(bench.shell(script), |event| says(event, "ready")).await;
    assert_eq!(ran.ended.reason, EndReason::Cancelled);
    let pid = std::fs::read_to_string(bench.worktree().join("pid")).unwrap();
    let is_there = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    assert!(is_there.is_err() || is_there.unwrap().contains(") Z "));
}

#[tokio::test]
async fn a_dropped_attempt_takes_its_tree_with_it() {
    let bench = Bench::new();
    let launch = bench.steps(&format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    let (sender, mut receiver) = mpsc::channel(16);
    let (_cancel, cancelled) = watch::channel(false);
    let agent = CommandAgent::new(clock());
    tokio::select! {
        ended = agent.run(launch, sender, cancelled) => panic!("{ended:?}"),
        () = async { while !says(&receiver.recv().await.unwrap(), "ready") {} } => {}
    }
    wait_until("the killed are gone", || bench.alive().is_empty());
}
