//! What a person's own client may decide in their name.

use serde_json::{Value, json};

use super::{Client, McpRepo, PATIENCE, call, tools};
use crate::wait;

/// Asks first; continued with an answer, it commits. Something dangerous it does not do by itself.
const AGENT: &str = r#"
prompt=$(cat)
case "$prompt" in *'Drop it'*) echo '{"baton":"result","status":"BLOCKED"}'; exit 0 ;; esac
if [ -z "${BATON_RESUME:-}" ]; then echo '{"baton":"ask","question":"Which port?"}'; exit 0; fi
echo work > "$BATON_TASK_ID.txt"; git add -A
git -c user.name=a -c user.email=a@example.org commit -q -m Work
"#;

fn repo() -> McpRepo {
    let repo = McpRepo::new("");
    repo.write("agent.sh", AGENT);
    let command = format!("command = [\"sh\", \"{}\"]", repo.folder.join("agent.sh").display());
    let settings = format!("default_agent = \"mine\"\n[agents.mine]\nkind = \"command\"\n{command}\n");
    repo.write(".agent/baton.toml", &settings);
    repo
}

fn until(repo: &McpRepo, what: &str, is_so: impl Fn() -> bool) {
    wait::until(PATIENCE, is_so, || format!("{what}: {:#}", repo.json(&["task", "list"])));
}

/// A new task, once it has asked; returns it and its question.
fn asking(repo: &McpRepo, title: &str, task_type: &str) -> (String, String) {
    let added = repo.json(&["task", "add", title, "--type", task_type]);
    let task = added["task_id"].as_str().unwrap().to_owned();
    until(repo, "it asks", || repo.json(&["task", "show", &task])["question"]["id"].is_string());
    let question = repo.json(&["task", "show", &task])["question"]["id"].as_str().unwrap().to_owned();
    (task, question)
}

async fn ok(client: &Client, name: &str, arguments: Value) -> String {
    let (text, is_error) = call(client, name, arguments).await;
    assert!(!is_error, "{name}: {text}");
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn i19_a_persons_client_decides_only_what_it_is_allowed_to() {
    let repo = repo();
    let (_up, _) = repo.up();
    let (task, question) = asking(&repo, "Build it", "IMPLEMENTATION");
    // By default it reads, adds and chats.
    let (client, _, _child) = repo.client().await;
    let offered = tools(&client).await;
    for decision in ["answer_question", "accept_task", "reject_task"] {
        assert!(!offered.contains(&decision.to_owned()), "{offered:?}");
    }
    let arguments = json!({ "question_id": question, "answer": "8080" });
    assert!(call(&client, "answer_question", arguments.clone()).await.1);
    assert!(ok(&client, "list_questions", json!({})).await.contains(&question));
    assert!(ok(&client, "list_recipes", json!({})).await.contains("implement-and-review"));
    let sent: Value =
        serde_json::from_str(&ok(&client, "chat", json!({ "content": "Why is it so?" })).await).unwrap();
    let shown = repo.json(&["task", "show", sent["task_id"].as_str().unwrap()]);
    assert_eq!((&shown["title"], &shown["session_id"]), (&json!("Why is it so?"), &json!("mcp")));

    // With a word for it, it answers and accepts.
    let (client, _, _child) = repo.client_with(&["--as", "person", "--allow", "answer,accept"]).await;
    ok(&client, "answer_question", arguments.clone()).await;
    assert!(call(&client, "answer_question", arguments).await.1, "once");
    until(&repo, "it is done", || repo.json(&["task", "show", &task])["queue"] == "provisional");
    let said = ok(&client, "accept_task", json!({ "id": task })).await;
    assert!(said.contains("landed on baton/next"), "{said}");
    assert_eq!(repo.json(&["task", "show", &task])["queue"], "done");
    // What only a human may decide it may not.
    let (_, danger) = asking(&repo, "Drop it", "DANGEROUS_OP");
    let (said, is_error) =
        call(&client, "answer_question", json!({ "question_id": danger, "answer": "YES" })).await;
    assert!(is_error && said.contains("only the person answers"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn i19_a_message_is_no_way_around_the_answer() {
    let repo = repo();
    let (_up, _) = repo.up();
    let started =
        repo.json(&["recipe", "start", "implement-and-review", "--session", "s", "--message", "Build it"]);
    let task = started["task_id"].as_str().unwrap().to_owned();
    until(&repo, "it asks", || repo.json(&["task", "show", &task])["status"] == "AWAITING_RESPONSE");
    let message = json!({ "content": "8080", "session_id": "s" });
    let (client, _, _child) = repo.client().await;
    let (said, is_error) = call(&client, "chat", message.clone()).await;
    assert!(is_error && said.contains("waits for an answer") && said.contains("--allow answer"), "{said}");
    assert_eq!(repo.json(&["task", "show", &task])["status"], "AWAITING_RESPONSE");
    let (client, _, _child) = repo.client_with(&["--allow", "answer"]).await;
    let sent: Value = serde_json::from_str(&ok(&client, "chat", message).await).unwrap();
    assert_eq!(sent["run_id"], started["run_id"], "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_without_a_server_and_a_wrong_word_is_named() {
    let repo = repo();
    let (client, _, _child) = repo.client_with(&["--allow", "accept"]).await;
    let offered = tools(&client).await;
    assert!(offered.contains(&"accept_task".to_owned()) && !offered.contains(&"answer_question".to_owned()));
    let id = repo.json(&["task", "add", "Build it"])["task_id"].as_str().unwrap().to_owned();
    let (said, is_error) = call(&client, "accept_task", json!({ "id": id })).await;
    assert!(is_error && said.contains("accept is not possible"), "{said}");
    for (arguments, token, message) in [
        (["mcp", "--allow", "everything"], "", "there are answer and accept"),
        (["mcp", "--allow", "answer"], "ATT-0000000000000007.x", "add --as person"),
    ] {
        let mut command = repo.baton();
        let output = command.args(arguments).env("BATON_TOKEN", token).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(message), "{printed}");
    }
}
