//! The watchdog ends the processes of a killed Baton, and no others.

use std::process::Command;

use crate::bench::{Bench, wait_until};
use crate::killed_driver::{Bystander, FAMILY, KilledDriver, agent_identity, is_pid_running, write_script};

fn is_ready(bench: &Bench) -> bool {
    bench.path("ready").exists()
}

fn kill(pid: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

#[test]
fn the_whole_tree_of_an_agent_ends_with_a_killed_baton() {
    let bench = Bench::new();
    let mut bystander = Bystander::new();
    write_script(&bench, "script.json", &format!(r#"["ignore_term", {FAMILY}, {{"say": "ready"}}, "hang"]"#));
    let driver = KilledDriver::watched(&bench);
    wait_until("the agent is ready", || is_ready(&bench));
    wait_until("the agent and its five grandchildren are seen", || bench.alive().len() == 6);
    let watchdog = driver.watchdog();
    driver.kill();
    wait_until("nothing of the tree is left", || bench.alive().is_empty());
    wait_until("the watchdog has ended", || !is_pid_running(watchdog));
    assert!(bystander.is_running());
}

#[test]
fn the_tree_of_a_one_shot_command_ends_with_a_killed_baton() {
    let bench = Bench::new();
    let steps = format!(r#"[{FAMILY}, {{"write": {{"path": "ready", "text": ""}}}}, "hang"]"#);
    write_script(&bench, "one-shot.json", &steps);
    let driver = KilledDriver::watched(&bench);
    wait_until("the command is ready", || bench.worktree().join("ready").exists());
    driver.kill();
    wait_until("nothing of the tree is left", || bench.alive().is_empty());
}

#[test]
fn signals_that_end_baton_do_not_end_its_watchdog() {
    let bench = Bench::new();
    write_script(&bench, "script.json", r#"[{"say": "ready"}, "hang"]"#);
    let driver = KilledDriver::watched(&bench);
    wait_until("the agent is ready", || is_ready(&bench));
    let watchdog = driver.watchdog();
    for signal in ["-TERM", "-INT", "-HUP"] {
        kill(watchdog, signal);
    }
    driver.kill();
    wait_until("nothing of the tree is left", || bench.alive().is_empty());
}

#[test]
fn a_watchdog_that_was_killed_is_replaced_with_the_next_start() {
    let bench = Bench::new();
    write_script(&bench, "script.json", &format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    let driver = KilledDriver::watched(&bench);
    wait_until("the agent is ready", || is_ready(&bench));
    let first = driver.watchdog();
    kill(first, "-KILL");
    wait_until("the first watchdog is gone", || !is_pid_running(first));
    wait_until("the agent and its five grandchildren are seen", || bench.alive().len() == 6);

    write_script(&bench, "one-shot.json", r#"[{"write": {"path": "ready", "text": ""}}, "hang"]"#);
    wait_until("the command is ready", || bench.worktree().join("ready").exists());
    driver.kill();
    wait_until("the agent's tree and the command are gone", || bench.alive().is_empty());
}

#[test]
fn without_work_the_watchdog_ends_with_baton() {
    let bench = Bench::new();
    write_script(&bench, "script.json", r#"[{"say": "ready"}, "hang"]"#);
    let driver = KilledDriver::watched(&bench);
    wait_until("the agent is ready", || is_ready(&bench));
    let watchdog = driver.watchdog();
    kill(agent_identity(&bench).pid, "-KILL");
    driver.wait();
    wait_until("the watchdog has ended", || !is_pid_running(watchdog));
}
