//! The tools `list_user_tasks` and `run_user_task`, and their exact results.

use serde_json::{Value, json};

use super::{McpRepo, call, run, tools};

#[tokio::test]
async fn list_user_tasks_and_run_user_task_are_available_when_the_taskfile_exists() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    let tools = tools(&client).await;
    assert!(tools.contains(&"list_user_tasks".to_owned()), "{tools:?}");
    assert!(tools.contains(&"run_user_task".to_owned()), "{tools:?}");
}

#[tokio::test]
async fn without_a_taskfile_neither_tool_is_registered() {
    let repo = McpRepo::new("");
    let (client, _listener, _child) = repo.client().await;
    let tools = tools(&client).await;
    assert_eq!(
        tools,
        [
            "get_next_task",
            "list_tasks",
            "get_task",
            "add_task",
            "update_task",
            "set_task_status",
            "chat",
            "list_questions",
            "list_recipes"
        ]
    );
    assert_eq!(call(&client, "get_next_task", json!({})).await, ("No tasks available.".to_owned(), false));
    let (text, is_error) = run(&client, "greet").await;
    assert!(is_error && text.starts_with("unknown tool run_user_task"), "{text}");
}

#[tokio::test]
async fn list_user_tasks_returns_an_accurate_list_in_the_order_of_the_file() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    let (text, is_error) = call(&client, "list_user_tasks", json!({})).await;
    let list: Value = serde_json::from_str(&text).unwrap();
    assert!(!is_error);
    assert_eq!(list["message"], "Successfully listed 11 user-defined tasks from .agent/Taskfile.yml.");
    let names: Vec<&str> =
        list["tasks"].as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "greet",
            "list-current-dir",
            "run-go-tests",
            "deliberate-fail",
            "complain",
            "again",
            "echo",
            "wander",
            "look",
            "count",
            "slow"
        ]
    );
    assert_eq!(list["tasks"][0]["description"], "Prints a simple greeting message.");
}

#[tokio::test]
async fn run_user_task_returns_what_a_simple_task_printed() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    let greeted =
        "Task 'greet' completed successfully. Output:\nHello from your custom Taskfile!\nError Output:\n";
    assert_eq!(run(&client, "greet").await, (greeted.to_owned(), false));
    // It runs in the project's root, not in `.agent`, and shows the command like go-task.
    let (text, _) = run(&client, "list-current-dir").await;
    assert!(text.contains(".git\n") && text.contains(" .agent\n"), "{text}");
    assert!(text.ends_with("\nError Output:\ntask: [list-current-dir] ls -lA"), "{text}");
    // `task` inside a command is Baton's own runner.
    let (text, _) = run(&client, "again").await;
    assert!(text.contains("Hello from your custom Taskfile!"), "{text}");
}

#[tokio::test]
async fn run_user_task_returns_standard_error_separately() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    let expected = "Task 'complain' completed successfully. Output:\ngood\nError Output:\nbad";
    assert_eq!(run(&client, "complain").await, (expected.to_owned(), false));
}

#[tokio::test]
async fn run_user_task_reports_failure_with_the_exit_code() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    let expected = "Task 'deliberate-fail' failed. Output:\nThis task will fail!\nError Output:\n\nExit Code: 1\n\
                Error: task: Failed to run task 'deliberate-fail'";
    assert_eq!(run(&client, "deliberate-fail").await, (expected.to_owned(), false));
}

#[tokio::test]
async fn arguments_reach_the_taskfile_as_words_and_cannot_break_out() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    let with = async |args: &str| {
        call(&client, "run_user_task", json!({ "task_name": "run-go-tests", "args": args })).await.0
    };
    let expected = |words: &str| {
        format!("Task 'run-go-tests' completed successfully. Output:\ntest\n./...\n{words}Error Output:\n")
    };
    assert_eq!(with("-v -race").await, expected("-v\n-race\n"));
    assert_eq!(with("").await, expected(""));
    assert_eq!(with("; touch out.txt").await, expected(";\ntouch\nout.txt\n"));
    assert_eq!(
        with("$(touch out.txt) `touch out.txt` '&&' 'a  b'").await,
        expected("$(touch\nout.txt)\n`touch\nout.txt`\n&&\na  b\n")
    );
    assert!(!repo.folder.join("out.txt").exists());
}

#[tokio::test]
async fn an_empty_or_invalid_name_is_an_error_that_lists_the_names() {
    let repo = McpRepo::with_tasks();
    let (client, _listener, _child) = repo.client().await;
    for name in ["", "gret", "helper", "undescribed"] {
        let (text, is_error) = run(&client, name).await;
        assert!(is_error && text.contains("the tasks are greet, list-current-dir, "), "{text}");
    }
    let (text, is_error) = call(&client, "run_user_task", json!({ "name": "greet" })).await;
    assert!(is_error && text == "unknown argument `name`; this tool takes args, task_name", "{text}");
}
