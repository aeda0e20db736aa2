//! `baton say`: a person's message to the agent of a task.

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_server::client::with_query;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::commands::task::text_or_stdin;
use crate::context::CliContext;
use crate::context::api::{Api, read};
use crate::error::CliError;
use crate::output;

/// A message as the API returns it.
#[derive(Serialize, Deserialize)]
struct SentMessage {
    task_id: TaskId,
    number: u32,
    content: String,
    author: String,
    at: Timestamp,
    state: String,
    /// When an agent reads it; none once one has.
    arrives: Option<String>,
}

impl SentMessage {
    fn delivery(&self) -> &'static str {
        match (self.state.as_str(), self.arrives.as_deref()) {
            ("delivered", _) => "delivered",
            (_, Some("next_pause")) => "queued: the agent reads it at its next pause",
            (_, _) => "queued: part of the next attempt's prompt",
        }
    }
}

pub(crate) async fn run(api: &Api, task: &str, text: Option<String>) -> Result<String, CliError> {
    let id = api.task_id(task).await?;
    let path = format!("/api/tasks/{id}/messages");
    let Some(text) = text else { return list(api, &path).await };
    let content = CliContext::non_blank(&text_or_stdin(text)?, "the message")?;
    let sent: SentMessage = api.post(&path, &json!({ "content": content })).await?;
    if api.is_json {
        return output::json(&sent);
    }
    Ok(match sent.arrives.as_deref() {
        Some("next_pause") => format!("Sent; the agent of {id} reads it at its next pause.\n"),
        _ => format!("Kept for the next attempt of {id}: no agent works on it now.\n"),
    })
}

async fn list(api: &Api, path: &str) -> Result<String, CliError> {
    let (mut messages, mut cursor): (Vec<SentMessage>, Option<String>) = (Vec::new(), None);
    loop {
        let query: Vec<(&str, &str)> = cursor.iter().map(|cursor| ("cursor", cursor.as_str())).collect();
        let mut page: Value = api.get(&with_query(path, &query)).await?;
        messages.extend(read::<Vec<SentMessage>>(page["messages"].take())?);
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    if api.is_json {
        return output::json(&json!({ "messages": messages }));
    }
    if messages.is_empty() {
        return Ok("No messages.\n".to_owned());
    }
    let rows: Vec<[String; 4]> = messages
        .iter()
        .map(|message| {
            [
                output::time(message.at),
                message.author.clone(),
                message.delivery().to_owned(),
                message.content.clone(),
            ]
        })
        .collect();
    Ok(output::table(["SENT", "BY", "STATE", "MESSAGE"], &rows))
}
