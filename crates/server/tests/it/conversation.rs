//! A conversation in pages of any size.

use std::sync::atomic::{AtomicI64, Ordering};

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt::{AttemptResult, Evidence};
use serde_json::{Value, json};

use crate::stage::Stage;

const MESSAGES: usize = 40;

async fn read(stage: &Stage, path: &str) -> Value {
    let (status, text) = stage.send("get", path, None).await;
    assert_eq!(status, 200, "{path}: {text}");
    serde_json::from_str(&text).unwrap()
}

/// Many messages: some finish at once, some after a question, some only after all others were sent.
async fn talk(stage: &Stage) -> String {
    let project = stage.send("post", "/api/projects", Some(&json!({ "path": stage.root() }))).await.1;
    let project: Value = serde_json::from_str(&project).unwrap();
    let project = project["project_id"].as_str().unwrap().to_owned();
    let mut late = Vec::new();
    for number in 0..MESSAGES {
        let message = json!({ "content": format!("Message {number}"), "task_type": "READ_INFO" });
        let sent = stage.send("post", &format!("/api/projects/{project}/chat"), Some(&message)).await.1;
        let sent: Value = serde_json::from_str(&sent).unwrap();
        let task: TaskId = sent["task_id"].as_str().unwrap().parse().unwrap();
        match number % 4 {
            0 => stage.attempt(task, AttemptResult::Complete, "Done.", Evidence::default()).await,
            1 => {
                let question =
                    QuestionDraft::new(QuestionKind::Clarification, NonBlank::new("Which?").unwrap());
                stage.attempt(task, AttemptResult::Asked { question }, "Hm.", Evidence::default()).await;
                late.push(task);
            }
            _ => late.push(task),
        }
    }
    for (number, task) in late.into_iter().enumerate() {
        if stage.tasks.task(task).await.unwrap().value.pending_question().is_some() {
            let reply = json!({ "reply": format!("This one, {number}") });
            assert_eq!(stage.send("post", &format!("/api/tasks/{task}/reply"), Some(&reply)).await.0, 200);
        }
        if number % 2 == 0 {
            stage.attempt(task, AttemptResult::Complete, "Late, but done.", Evidence::default()).await;
        }
    }
    format!("/api/projects/{project}/conversation")
}

async fn pages_make_the_whole(stage: &Stage) {
    let path = talk(stage).await;
    let whole = read(stage, &format!("{path}?limit=500")).await;
    let entries = whole["entries"].as_array().unwrap();
    assert!(whole["next_cursor"].is_null() && entries.len() > 2 * MESSAGES, "{}", entries.len());
    let times: Vec<&str> = entries.iter().map(|entry| entry["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    for limit in [1, 2, 7, 30, entries.len() - 1, entries.len()] {
        let mut together = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = read(stage, &format!("{path}?limit={limit}{cursor}")).await;
            let items = page["entries"].as_array().unwrap();
            assert!(!items.is_empty() && items.len() <= limit);
            together.extend(items.clone());
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert!(&together == entries, "in pages of {limit}");
    }
}

#[tokio::test]
async fn pages_add_up_to_the_conversation() {
    let now = AtomicI64::new(1_794_735_000_000);
    let ticking = Stage::at(move || Timestamp::from_ms(now.fetch_add(1, Ordering::Relaxed))).await;
    pages_make_the_whole(&ticking).await;
}

/// All entries have the same time; only the keys order them.
#[tokio::test]
async fn pages_add_up_when_all_entries_have_the_same_time() {
    pages_make_the_whole(&Stage::set().await).await;
}
