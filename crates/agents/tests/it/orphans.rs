//! After Baton was killed, the next one ends the processes it left, and no others.

use std::process::Command;
use std::time::Duration;

use baton_agents::process::identity::{ProcessIdentity, ProcessStatus};
use baton_agents::process::tree::end_orphans;

use crate::bench::{Bench, wait_until};
use crate::killed_driver::{Bystander, FAMILY, kill_a_driver};

const NONE: [&str; 0] = [];
const GRACE: Duration = Duration::from_millis(200);

#[tokio::test]
async fn orphans_of_a_killed_driver_are_found_and_ended() {
    let bench = Bench::new();
    let identity =
        kill_a_driver(&bench, &format!(r#"["ignore_term", {FAMILY}, {{"say": "ready"}}, "hang"]"#));
    assert_eq!(identity.status(), ProcessStatus::Alive);
    wait_until("the agent and its five grandchildren are seen", || bench.alive().len() == 6);

    let mut bystander = Bystander::new();
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_eq!(bench.alive(), NONE);
    assert_ne!(identity.status(), ProcessStatus::Alive);
    assert!(bystander.is_running());
}

#[tokio::test]
async fn grandchildren_are_found_after_the_agent_exited() {
    let bench = Bench::new();
    let identity = kill_a_driver(&bench, &format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    assert!(Command::new("kill").args(["-9", &identity.pid.to_string()]).status().unwrap().success());
    wait_until("the agent is gone", || identity.status() != ProcessStatus::Alive);
    wait_until("its five grandchildren are seen", || bench.alive().len() == 5);
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_eq!(bench.alive(), NONE);
}

#[tokio::test]
async fn orphans_are_found_without_a_recorded_identity() {
    let bench = Bench::new();
    kill_a_driver(&bench, &format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    end_orphans(bench.attempt, None, GRACE).await.unwrap();
    assert_eq!(bench.alive(), NONE);
}

#[tokio::test]
async fn a_process_with_a_reused_pid_is_not_ended() {
    let bench = Bench::new();
    let mut bystander = Bystander::new();
    let now = bystander.identity();
    let reused = ProcessIdentity { started: now.started.map(|ticks| ticks - 1), ..now.clone() };
    let of_another_boot = ProcessIdentity { boot_id: Some("another".to_owned()), ..now };
    for identity in [reused, of_another_boot] {
        end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
        assert!(bystander.is_running());
    }
}

#[tokio::test]
async fn the_processes_of_another_attempt_are_not_ended() {
    let bench = Bench::new();
    let other = Bench::new();
    let identity = kill_a_driver(&bench, r#"[{"say": "ready"}, "hang"]"#);
    end_orphans(other.attempt, None, GRACE).await.unwrap();
    assert_eq!(identity.status(), ProcessStatus::Alive);
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_ne!(identity.status(), ProcessStatus::Alive);
}
