//! Trees end as one, in a fence and below a keeper.

use std::time::Duration;

use baton_agents::driver::AgentEvent;
use baton_agents::driver::run_result::{EndReason, ProcessExit};
use baton_agents::process::identity::TreeGuard;
use baton_core::task::fence::NetworkMode;

use crate::bench::{has_text, run, run_until};
use crate::fence::{Yard, keep};

const NOBODY: [&str; 0] = [];
/// Leaves group, session, environment and parent behind.
const DAEMON: &str = r"(setsid env -i sh -c 'echo $$ > daemon; exec sleep 1000' </dev/null >/dev/null 2>&1 &) ; while [ ! -s daemon ]; do :; done; ";

fn is_running(bench: &crate::bench::Bench) -> bool {
    let pid = std::fs::read_to_string(bench.worktree().join("daemon")).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
    stat.contains("sleep")
}

#[tokio::test]
async fn a_daemon_ends_with_the_agent_below_a_keeper() {
    // M5: it cleared its environment, left the session and lost its parent.
    keep();
    let bench = crate::bench::Bench::new();
    let ran = run(bench.shell(&format!("{DAEMON} exit 7"))).await;
    assert_eq!((ran.ended.reason, ran.ended.exit), (EndReason::Finished, Some(ProcessExit::Code(7))));
    assert!(
        matches!(&ran.events[0], AgentEvent::Started(identity) if identity.guard == Some(TreeGuard::Keeper))
    );
    assert!(!is_running(&bench));
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn a_daemon_ends_with_a_cancel_below_a_keeper() {
    keep();
    let bench = crate::bench::Bench::new();
    let launch = bench.shell(&format!("trap '' TERM; {DAEMON} echo ready; while :; do sleep 100; done"));
    let ran = run_until(launch, |event| has_text(event, "ready")).await;
    assert_eq!(ran.ended.reason, EndReason::Cancelled);
    assert!(!is_running(&bench));
    assert_eq!((bench.alive(), ran.ended.problems), (Vec::<String>::new(), Vec::new()));
}

#[tokio::test]
async fn a_keeper_passes_signals_and_missing_programs_on() {
    keep();
    let bench = crate::bench::Bench::new();
    let ran = run(bench.shell("kill -9 $$")).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Signal(9)));
    let ran = run(bench.launch(&["no-such-agent"])).await;
    assert!(ran.ended.problems[0].contains("no such program on PATH"), "{:?}", ran.ended.problems);
}

#[tokio::test]
async fn a_fence_ends_as_one() {
    let Some(yard) = Yard::new() else { return };
    let script = r"(setsid env -i sleep 4321 </dev/null >/dev/null 2>&1 &); echo ready; ps ax | grep -c watchdog; exit 3";
    let ran = run(yard.launch(&yard.request(NetworkMode::Open), script)).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Code(3)), "{}", yard.bench.log());
    assert_eq!(yard.bench.alive(), NOBODY);
    let mut launch = yard.launch(
        &yard.request(NetworkMode::Open),
        "trap '' TERM; (setsid env -i sleep 4321 &) ; echo ready; while :; do sleep 100; done",
    );
    launch.limits.grace = Duration::from_millis(100);
    let ran = run_until(launch, |event| has_text(event, "ready")).await;
    assert_eq!(ran.ended.reason, EndReason::Cancelled);
    assert_eq!(yard.bench.alive(), NOBODY);
}

#[tokio::test]
async fn processes_outside_the_fence_are_invisible() {
    let Some(yard) = Yard::new() else { return };
    let own = std::process::id();
    let script = format!("cat /proc/{own}/environ; kill -9 {own}; ls /proc | grep -c '^[0-9]'");
    let ran = run(yard.launch(&yard.request(NetworkMode::Open), &script)).await;
    let seen: u32 = ran.ended.reported.output.trim().parse().unwrap();
    assert!(seen < 10, "{seen}");
}
