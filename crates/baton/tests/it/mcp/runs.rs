//! Runs of user tasks: concurrent, isolated, with timeouts, long output and progress.

use std::sync::Arc;

use serde_json::json;
use tokio::time::timeout;

use super::{McpRepo, PATIENCE, TASKFILE, call, run};
use crate::gate::Gate;

#[tokio::test]
async fn rapid_calls_one_after_the_other_and_at_once_never_mix_their_output() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    let client = Arc::new(client);
    let expected = |args: &str| {
        format!(
            "Task 'echo' completed successfully. Output:\nout {args}\nout {args}\nError Output:\nerr {args}"
        )
    };
    for number in 0..10 {
        let args = format!("turn-{number}");
        let ran = call(&client, "run_user_task", json!({ "task_name": "echo", "args": args })).await;
        assert_eq!(ran, (expected(&args), false));
    }
    let at_once: Vec<_> = (0..20)
        .map(|number| {
            let client = Arc::clone(&client);
            tokio::spawn(async move {
                let args = format!("at-once-{number}");
                (call(&client, "run_user_task", json!({ "task_name": "echo", "args": args })).await, args)
            })
        })
        .collect();
    for one in at_once {
        let (ran, args) = one.await.unwrap();
        assert_eq!(ran, (expected(&args), false));
    }
}

#[tokio::test]
async fn each_run_is_isolated_from_the_ones_before() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    assert!(run(&client, "wander").await.0.contains("gone"));
    let root = repo.folder.display();
    let expected = format!("Task 'look' completed successfully. Output:\n{root}\n[]\nError Output:\n");
    assert_eq!(run(&client, "look").await, (expected, false));
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_ended_and_reported() {
    let repo = McpRepo::new("[user_tasks]\ntimeout = 5\n");
    repo.write(".agent/Taskfile.yml", TASKFILE);
    let _gate = Gate::closed(repo.folder.join("gate"));
    let (client, _listener, _child) = repo.client().await;
    let (text, is_error) = run(&client, "slow").await;
    assert!(!is_error, "{text}");
    assert!(text.starts_with("Task 'slow' failed. Output:\nbegun\nError Output:\n"), "{text}");
    assert!(text.contains("\nExit Code: 124\n") && text.contains("took longer than 5s"), "{text}");
}

#[tokio::test]
async fn long_output_keeps_its_head_and_its_tail_and_says_where_the_whole_is() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    let (text, _) = run(&client, "count").await;
    assert!(text.contains("Output:\n1\n2\n3\n") && text.contains("\n19999\n20000\n"), "{text}");
    assert!(text.chars().count() < 13_000, "{}", text.chars().count());
    let path = text.split("the whole is in ").nth(1).unwrap().split(" …]").next().unwrap();
    let whole = std::fs::read_to_string(path).unwrap();
    assert!(whole.contains("\n10000\n"), "{path}");
    // The command line prints all of it.
    let output = repo.baton().args(["do", "count"]).output().unwrap();
    assert_eq!(output.stdout.split(|byte| *byte == b'\n').count(), 20_001);
}

#[tokio::test]
async fn a_waiting_call_reports_progress() {
    let repo = McpRepo::with_tasks();
    let gate = Gate::closed(repo.folder.join("gate"));
    let (client, listener, _child) = repo.client().await;
    let progress = async {
        timeout(PATIENCE, listener.progress.notified()).await.unwrap();
        gate.open();
    };
    let (ran, ()) = tokio::join!(run(&client, "slow"), progress);
    assert!(ran.0.starts_with("Task 'slow' completed"), "{}", ran.0);
}
