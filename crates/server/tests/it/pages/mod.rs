//! The HTML of the pages. Tests that need a browser are with the program.

mod board;
mod costs;
mod frame;
mod health;
mod inbox;
mod plans;
mod recipes;
mod task;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt::{AttemptResult, Evidence};
use serde_json::{Value, json};

use crate::stage::Stage;

/// A server with a clock that the test controls.
struct Scene {
    stage: Stage,
    now: Arc<AtomicI64>,
}

impl Scene {
    async fn set() -> Self {
        let now = Arc::new(AtomicI64::new(1_794_735_000_000));
        let clock = Arc::clone(&now);
        let stage = Stage::at(move || Timestamp::from_ms(clock.load(Ordering::Relaxed))).await;
        Self { stage, now }
    }

    fn pass(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::Relaxed);
    }

    /// The whole page.
    async fn page(&self, path: &str) -> String {
        let (status, text) = self.stage.send("get", path, None).await;
        assert_eq!(status, 200, "{path}: {text}");
        text
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let (status, text) = self.stage.send("post", path, Some(body)).await;
        assert!(status < 300, "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn add(&self, title: &str) -> TaskId {
        self.add_after(title, &[]).await
    }

    async fn add_after(&self, title: &str, depends_on: &[TaskId]) -> TaskId {
        let new = json!({ "title": title, "task_type": "IMPLEMENTATION", "depends_on": depends_on });
        self.post("/api/tasks", &new).await["task_id"].as_str().unwrap().parse().unwrap()
    }

    /// A task that waits to be accepted.
    async fn finish(&self, task: TaskId) {
        self.stage.attempt(task, AttemptResult::Complete, "It is **done**.", worked()).await;
    }

    async fn accept(&self, task: TaskId) {
        self.post(&format!("/api/tasks/{task}/accept"), &json!({})).await;
    }

    /// A task that waits for an answer.
    async fn ask(&self, task: TaskId, question: &str, options: &[&str]) {
        let mut draft = QuestionDraft::new(QuestionKind::Clarification, text(question));
        draft.options = options.iter().map(|option| text(option)).collect();
        let result = AttemptResult::Asked { question: draft };
        self.stage.attempt(task, result, "I looked at `both`.", Evidence::default()).await;
    }
}

fn text(text: &str) -> NonBlank {
    NonBlank::new(text).unwrap()
}

fn worked() -> Evidence {
    Evidence {
        commits: 2,
        turns: 7,
        turns_max: 50,
        files_changed: 1,
        insertions: 12,
        deletions: 3,
        input_tokens: 48_200,
        output_tokens: 3_100,
        cost_micro_usd: 340_000,
        duration_ms: 61_000,
        ..Evidence::default()
    }
}

/// A burned-out task: no commits, nearly all turns used.
fn burned_out() -> Evidence {
    Evidence { turns: 48, turns_max: 50, ..Evidence::default() }
}

/// The part of a page between two markers.
#[track_caller]
fn part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("{from} is not in {page}"));
    rest.split_once(to).map_or(rest, |(part, _)| part)
}

/// The visible text: no tags, whitespace collapsed.
fn words(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        let (tag, read) = piece.split_once('>').unwrap_or(("", piece));
        // Block elements separate words; inline elements do not.
        let is_inline = ["strong", "/strong", "code", "/code", "a ", "/a", "time", "/time"]
            .iter()
            .any(|name| tag.starts_with(name));
        text.push_str(if is_inline { "" } else { " " });
        text.push_str(read);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Asserts that the texts appear in this order.
#[track_caller]
fn reads(html: &str, wanted: &[&str]) {
    let all = words(html);
    let mut rest = all.as_str();
    for each in wanted {
        let Some((_, after)) = rest.split_once(each) else {
            panic!("{each:?} is not, or not in its place, in:\n{all}")
        };
        rest = after;
    }
}
