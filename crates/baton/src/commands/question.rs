//! The inbox: `baton questions`, `baton answer`.

use std::fmt::Write;

use baton_core::text::NonBlank;
use serde_json::json;

use super::task::show;
use crate::fault::Fault;
use crate::office::Office;
use crate::output;

/// Questions shown at once. More than this is no inbox any more.
const SHOWN_MAX: u32 = 200;

pub async fn list(office: &Office) -> Result<String, Fault> {
    let pending = office.desk.pending_questions(SHOWN_MAX).await?;
    if office.is_json {
        return output::json(&json!({ "questions": pending }));
    }
    if pending.is_empty() {
        return Ok("No questions. Nobody waits for you.\n".to_owned());
    }
    let mut text = String::new();
    for record in pending {
        let question = &record.question;
        let of = record.task_id.map(|task| format!(" of {task}")).unwrap_or_default();
        let _ = writeln!(text, "{}{of}, asked {}", question.id, record.asked_at);
        for line in question.text().as_str().lines() {
            let _ = writeln!(text, "    {line}");
        }
        let options: Vec<&str> = question.draft.options.iter().map(NonBlank::as_str).collect();
        let answer = if options.is_empty() { "TEXT".to_owned() } else { options.join("|") };
        let _ = writeln!(text, "  → baton answer {} {answer}\n", question.id);
    }
    Ok(text)
}

pub async fn answer(office: &Office, question: &str, text: &str) -> Result<String, Fault> {
    let question = Office::question(question)?;
    let answer = Office::said(text, "the answer")?;
    let task = office.desk.answer(question, answer, office.answered_by(), office.actor()).await?;
    let sentence =
        format!("{question} is answered; {} is now in {}.\n", task.id(), task.state().queue().as_str());
    show(office, task.id(), &sentence).await
}
