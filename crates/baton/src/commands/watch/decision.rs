//! What a person decides in `baton watch`: a call of the API, and how it is told.

use baton_core::base::id::{QuestionId, TaskId};
use serde_json::{Value, json};

use crate::commands::watch::rows::WatchRowKey;
use crate::context::api::Api;
use crate::error::CliError;

/// Why a task is held that was stopped here.
const STOPPED: &str = "stopped by you";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WatchDecision {
    pub(crate) about: WatchRowKey,
    /// As it is told: "Accepted TASK-…".
    pub(crate) told: String,
    path: String,
    body: Value,
    /// Accepted work lands, by this process if no server does it.
    lands: Option<TaskId>,
}

impl WatchDecision {
    pub(crate) fn answer(question: QuestionId, answer: &str) -> Self {
        Self {
            about: WatchRowKey::Question(question),
            told: format!("Answered {question} with {answer}"),
            path: format!("/api/questions/{question}/answer"),
            body: json!({ "answer": answer }),
            lands: None,
        }
    }

    pub(crate) fn accept(task: TaskId) -> Self {
        let accepted = Self::of_task(task, "accept", json!({}), format!("Accepted {task}"));
        Self { lands: Some(task), ..accepted }
    }

    pub(crate) fn approve(plan: TaskId) -> Self {
        let path = format!("/api/breakdowns/{plan}/approve");
        let told = format!("Approved the plan {plan}");
        Self { about: WatchRowKey::Task(plan), told, path, body: json!({}), lands: None }
    }

    /// Work or a plan.
    pub(crate) fn reject(task: TaskId, reason: &str) -> Self {
        Self::of_task(task, "reject", json!({ "reason": reason }), format!("Sent {task} back"))
    }

    pub(crate) fn retry(task: TaskId) -> Self {
        Self::of_task(task, "retry", json!({}), format!("{task} is tried again"))
    }

    pub(crate) fn release(task: TaskId) -> Self {
        Self::of_task(task, "release", json!({}), format!("Released {task}"))
    }

    pub(crate) fn plan(breakdown: TaskId) -> Self {
        let path = format!("/api/breakdowns/{breakdown}/run");
        let told = format!("An agent plans {breakdown}");
        Self { about: WatchRowKey::Task(breakdown), told, path, body: json!({}), lands: None }
    }

    pub(crate) fn stop(task: TaskId) -> Self {
        Self::of_task(task, "hold", json!({ "reason": STOPPED }), format!("Stopped {task}"))
    }

    pub(crate) fn cancel(task: TaskId, reason: &str) -> Self {
        Self::of_task(task, "cancel", json!({ "reason": reason }), format!("Cancelled {task}"))
    }

    pub(crate) fn say(task: TaskId, message: &str) -> Self {
        let told = format!("Sent to {task}; its agent reads it at its next pause");
        Self::of_task(task, "messages", json!({ "content": message }), told)
    }

    fn of_task(task: TaskId, verb: &str, body: Value, told: String) -> Self {
        let path = format!("/api/tasks/{task}/{verb}");
        Self { about: WatchRowKey::Task(task), told, path, body, lands: None }
    }

    /// Does it; returns what is told then.
    pub(crate) async fn carry_out(self, api: &Api) -> Result<String, CliError> {
        let _: Value = api.post(&self.path, &self.body).await?;
        if let Some(task) = self.lands.filter(|_| !api.is_served()) {
            api.land(task, |_| {}).await?;
        }
        Ok(self.told)
    }
}
