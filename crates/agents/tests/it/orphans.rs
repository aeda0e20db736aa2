//! After Baton itself was killed, the next one finds what is left, and touches nothing else.

use std::process::Command;
use std::time::Duration;

use baton_agents::process::identity::{ProcessIdentity, ProcessStatus};
use baton_agents::process::tree::end_orphans;

use crate::bench::{Bench, wait_until};
use crate::killed_driver::{FAMILY, Innocent, kill_a_driver};

const NOBODY: [&str; 0] = [];
const GRACE: Duration = Duration::from_millis(200);

#[tokio::test]
async fn orphans_of_a_killed_driver_are_found_and_ended() {
    let bench = Bench::new();
    let identity =
        kill_a_driver(&bench, &format!(r#"["ignore_term", {FAMILY}, {{"say": "ready"}}, "hang"]"#));
    assert_eq!(identity.status(), ProcessStatus::Alive);
    wait_until("the agent and its five grandchildren are seen", || bench.alive().len() == 6);

    let mut innocent = Innocent::new();
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_eq!(bench.alive(), NOBODY);
    assert_ne!(identity.status(), ProcessStatus::Alive);
    assert!(innocent.is_untouched());
}

#[tokio::test]
async fn grandchildren_are_found_when_the_agent_is_gone() {
    let bench = Bench::new();
    let identity = kill_a_driver(&bench, &format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    assert!(Command::new("kill").args(["-9", &identity.pid.to_string()]).status().unwrap().success());
    wait_until("the agent is gone", || identity.status() != ProcessStatus::Alive);
    wait_until("its five grandchildren are seen", || bench.alive().len() == 5);
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn orphans_are_found_when_no_identity_was_written_down() {
    let bench = Bench::new();
    kill_a_driver(&bench, &format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    end_orphans(bench.attempt, None, GRACE).await.unwrap();
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn a_process_that_only_has_the_pid_is_not_touched() {
    let bench = Bench::new();
    let mut innocent = Innocent::new();
    let now = innocent.identity();
    let reused = ProcessIdentity { started: now.started.map(|ticks| ticks - 1), ..now.clone() };
    let of_another_boot = ProcessIdentity { boot_id: Some("another".to_owned()), ..now };
    for identity in [reused, of_another_boot] {
        end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
        assert!(innocent.is_untouched());
    }
}

#[tokio::test]
async fn another_attempt_is_not_touched() {
    let bench = Bench::new();
    let other = Bench::new();
    let identity = kill_a_driver(&bench, r#"[{"say": "ready"}, "hang"]"#);
    end_orphans(other.attempt, None, GRACE).await.unwrap();
    assert_eq!(identity.status(), ProcessStatus::Alive);
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_ne!(identity.status(), ProcessStatus::Alive);
}
