//! The inbox: `baton questions`, `baton answer`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;

use baton_core::event::EventBody;
use baton_core::id::QuestionId;
use baton_core::question::{Draft, QuestionKind};
use baton_core::question_record::{QuestionRecord, QuestionState};
use baton_core::queued_answer::QueuedAnswer;
use baton_core::refusal::Refusal;
use baton_core::text::NonBlank;
use baton_engine::asking::{Asked, Attendant, BadSecret, Door, Secret};
use baton_engine::error::EngineError;
use baton_engine::settings::Settings;
use serde_json::json;

use super::task::show;
use crate::cli::{Answer, Questions};
use crate::fault::{Fault, REFUSED};
use crate::office::Office;
use crate::output;

/// Answers read from standard input at most; more is no list a person wrote.
const ANSWERS_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub async fn list(office: &Office, asked: &Questions) -> Result<String, Fault> {
    if asked.follow {
        return follow(office, asked.limit).await;
    }
    let page = office.desk.questions_page(asked.cursor.as_deref(), asked.limit).await?;
    let pending: Vec<QuestionRecord> = page.items.into_iter().map(|stored| stored.value).collect();
    let next = page.next.map(|cursor| cursor.to_string());
    if office.is_json {
        return output::json(&json!({ "questions": pending, "next_cursor": next }));
    }
    if pending.is_empty() {
        return Ok("No questions. Nobody waits for you.\n".to_owned());
    }
    let mut text: String = pending.iter().map(shown).collect();
    if let Some(next) = next {
        let _ = writeln!(text, "More: baton questions --cursor {next}");
    }
    Ok(text)
}

/// One question as a person reads it, with the command that answers it.
pub fn shown(record: &QuestionRecord) -> String {
    let question = &record.question;
    let mut text = String::new();
    let of = record.task_id.map(|task| format!(" of {task}")).unwrap_or_default();
    let _ = writeln!(text, "{}{of}, asked {}", question.id, record.asked_at);
    for line in question.text().as_str().lines() {
        let _ = writeln!(text, "    {line}");
    }
    let options: Vec<&str> = question.draft.options.iter().map(NonBlank::as_str).collect();
    let answer = if options.is_empty() { "TEXT".to_owned() } else { options.join("|") };
    let _ = writeln!(text, "  → baton answer {} {answer}\n", question.id);
    text
}

/// What waits now, then every new question as it comes, until somebody ends it. The event log wakes it.
async fn follow(office: &Office, limit: u32) -> Result<String, Fault> {
    let mut changes = office.desk.changes();
    let mut told: BTreeSet<QuestionId> = BTreeSet::new();
    let mut seq = office.desk.last_event().await?;
    for stored in office.desk.questions_page(None, limit).await?.items {
        told.insert(stored.value.question.id);
        tell(office, &stored.value)?;
    }
    loop {
        changes.mark_unchanged();
        let news = office.desk.events_after(seq).await?;
        for recorded in &news {
            seq = recorded.seq;
            let EventBody::QuestionAsked { question, .. } = &recorded.event.body else { continue };
            if !told.insert(question.id) {
                continue;
            }
            if let Some(record) = office.desk.question(question.id).await? {
                tell(office, &record)?;
            }
        }
        // The store is closing: there will be no more.
        if news.is_empty() && changes.changed().await.is_err() {
            return Ok(String::new());
        }
    }
}

fn tell(office: &Office, record: &QuestionRecord) -> Result<(), Fault> {
    if office.is_json {
        output::line(output::json_line(record)?.trim_end());
    } else if record.state == QuestionState::Pending {
        output::line(shown(record).trim_end());
    }
    Ok(())
}

pub async fn answer(office: &Office, answer: Answer) -> Result<String, Fault> {
    match (answer.queue, answer.question, answer.text) {
        (Some(text), _, _) => queue(office, &text, &answer.session, answer.task.as_deref()).await,
        (None, Some(question), None) if question == "-" => many(office).await,
        (None, Some(question), Some(text)) => one(office, &question, &text).await,
        (None, _, _) => {
            Err(Fault::usage("a question and its answer are wanted", "baton answer QUESTION TEXT"))
        }
    }
}

async fn one(office: &Office, question: &str, text: &str) -> Result<String, Fault> {
    let question = Office::question(question)?;
    let answer = Office::said(text, "the answer")?;
    let task = office.desk.answer(question, answer, office.answered_by(), office.actor()).await?;
    let Some(task) = task else {
        // The loop asked; it goes on by itself.
        let record = office.desk.question(question).await?;
        return if office.is_json {
            output::json(&record)
        } else {
            Ok(format!("{question} is answered; the loop goes on.\n"))
        };
    };
    let sentence =
        format!("{question} is answered; {} is now in {}.\n", task.id(), task.state().queue().as_str());
    show(office, task.id(), &sentence).await
}

/// One question and its answer on each line of standard input. The first that is refused ends it.
async fn many(office: &Office) -> Result<String, Fault> {
    let mut lines = String::new();
    let unreadable = |error: std::io::Error| {
        Fault::usage(format!("standard input cannot be read: {error}"), "write one QUESTION TEXT per line")
    };
    std::io::stdin().take(ANSWERS_BYTES_MAX).read_to_string(&mut lines).map_err(unreadable)?;
    let mut count = 0_u32;
    for (number, line) in (1..).zip(lines.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let at = |fault: Fault| Fault { message: format!("line {number}: {}", fault.message), ..fault };
        let (question, text) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let question = Office::question(question).map_err(at)?;
        let answer = Office::said(text, "the answer").map_err(at)?;
        let taken = office.desk.answer(question, answer, office.answered_by(), office.actor()).await;
        taken.map_err(|error| at(error.into()))?;
        count += 1;
    }
    if office.is_json {
        return output::json(&json!({ "answered": count }));
    }
    Ok(format!("{count} questions are answered.\n"))
}

/// Lays an answer down for a question still to come.
async fn queue(office: &Office, text: &str, session: &str, task: Option<&str>) -> Result<String, Fault> {
    let text = Office::said(text, "the answer")?;
    let (session, task) = match task {
        Some(task) => {
            let task = office.task(task).await?;
            (office.desk.task(task).await?.value.spec().session_id.clone(), Some(task))
        }
        None => (Office::session(session)?, None),
    };
    let settings = Settings::load(&office.place.settings_path()).map_err(EngineError::from)?;
    let attendant = Attendant::new(office.desk.clone(), settings.asking.policy());
    let answer = QueuedAnswer { text, task };
    attendant.queue(&session, answer, office.actor()).await?;
    let left = office.desk.queued_answers(&session).await?;
    if office.is_json {
        return output::json(&json!({ "session_id": session, "queued": left }));
    }
    Ok(match left.len() {
        0 => "The answer was wanted already and has been given.\n".to_owned(),
        count => format!("{count} answers wait for questions of {session}.\n"),
    })
}

/// An agent asks by its token. A refusal is told as data too, with its code, so that the agent can act on it.
pub async fn ask(office: &Office, text: &str, options: &[String], token: &str) -> Result<String, Fault> {
    let text = Office::said(text, "the question")?;
    let secret: Secret = token
        .parse()
        .map_err(|error: BadSecret| Fault::usage(error.to_string(), "it is in the agent's environment"))?;
    let settings = Settings::load(&office.place.settings_path()).map_err(EngineError::from)?;
    let door = Door::new(office.desk.clone(), settings.asking.expires_after());
    let mut draft = Draft::new(QuestionKind::Clarification, text);
    draft.options = options.iter().filter_map(|option| NonBlank::new(option.trim()).ok()).collect();
    match door.ask(&secret, draft).await {
        Ok(Asked::Pending { question }) => output::json_line(&json!({ "question_id": question })),
        Ok(Asked::Known { answer, answered_by }) => {
            output::json_line(&json!({ "answer": answer, "answered_by": answered_by }))
        }
        Err(EngineError::Refused(Refusal::MayNotAsk { refusal, .. })) => {
            output::line(output::json_line(&json!({ "refused": refusal }))?.trim_end());
            Err(Fault { message: refusal.to_string(), hint: refusal.next(), code: REFUSED })
        }
        Err(error) => Err(error.into()),
    }
}
