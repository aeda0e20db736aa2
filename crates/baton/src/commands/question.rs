//! The inbox: `baton questions`, `baton answer`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;

use baton_core::event::EventBody;
use baton_core::id::{QuestionId, TaskId};
use baton_core::question::{Draft, Question, QuestionKind};
use baton_core::question_record::{QuestionRecord, QuestionState};
use baton_core::queued_answer::QueuedAnswer;
use baton_core::refusal::Refusal;
use baton_core::state::Queue;
use baton_core::text::NonBlank;
use baton_core::words::{counted, shell_word};
use baton_engine::asking::{Asked, BadSecret, Door, Secret};
use baton_engine::error::EngineError;
use baton_engine::settings::Settings;
use baton_server::client::ApiClient;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{self, Api, List};
use crate::cli::Common;
use crate::cli::asking::{Answer, Questions};
use crate::fault::{Fault, REFUSED, UNREACHABLE};
use crate::office::{self, Office};
use crate::output;
use crate::server_file;

/// Answers read from standard input at most; more is no list a person wrote.
const ANSWERS_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The inbox.
const PENDING: List<'_> = List { path: "/api/questions", name: "questions", query: &[("state", "pending")] };

pub async fn list(api: &Api, asked: &Questions) -> Result<String, Fault> {
    let (pending, next): (Vec<QuestionRecord>, _) =
        api.list(&PENDING, asked.limit, asked.cursor.as_deref()).await?;
    if api.is_json {
        return output::json(&json!({ "questions": pending, "next_cursor": next }));
    }
    if pending.is_empty() {
        return Ok("No questions. Nobody waits for you.\n".to_owned());
    }
    let mut text: String = pending.iter().map(shown).collect::<Vec<_>>().join("\n");
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
    let _ = writeln!(text, "  → {}", answer_command(question));
    text
}

/// The command that answers it, to be pasted as it is where words are offered, and the other words beside it.
pub fn answer_command(question: &Question) -> String {
    let mut options = question.draft.options.iter().map(|option| shell_word(option.as_str()));
    let first = options.next().unwrap_or_else(|| "TEXT".to_owned());
    let others: Vec<String> = options.collect();
    let others = if others.is_empty() { String::new() } else { format!("   (or {})", others.join(", ")) };
    format!("baton answer {} {first}{others}", question.id)
}

/// What waits now, then every new question as it comes, until somebody ends it. It outlives the server it listens to:
/// when that one ends, it goes on with the next, or with the store.
pub async fn follow(common: &Common, limit: u32) -> Result<String, Fault> {
    let mut told: BTreeSet<QuestionId> = BTreeSet::new();
    loop {
        let api = Api::open(common).await?;
        let listened = listen(&api, limit, &mut told).await;
        let was_served = api.is_served();
        api.close().await?;
        match listened {
            // The store is closing, or the server is at fault: neither goes away by listening again.
            Err(fault) if !was_served || fault.code != UNREACHABLE => return Err(fault),
            Ok(()) if !was_served => return Ok(String::new()),
            Ok(()) | Err(_) => {}
        }
    }
}

/// Until whoever tells the events has ended. What came while nobody listened is still pending, or was answered.
async fn listen(api: &Api, limit: u32, told: &mut BTreeSet<QuestionId>) -> Result<(), Fault> {
    let mut events = api.events(api.last_event().await?).await?;
    let (pending, _): (Vec<QuestionRecord>, _) = api.list(&PENDING, limit, None).await?;
    for record in &pending {
        if told.insert(record.question.id) {
            tell(api, record)?;
        }
    }
    while let Some(recorded) = events.next().await? {
        let EventBody::QuestionAsked { question, .. } = &recorded.event.body else { continue };
        if told.insert(question.id) {
            tell(api, &api.get(&format!("/api/questions/{}", question.id)).await?)?;
        }
    }
    Ok(())
}

fn tell(api: &Api, record: &QuestionRecord) -> Result<(), Fault> {
    if api.is_json {
        output::line(output::json_line(record)?.trim_end());
    } else if record.state == QuestionState::Pending {
        output::line(shown(record).trim_end());
    }
    Ok(())
}

pub async fn answer(api: &Api, answer: Answer) -> Result<String, Fault> {
    // Whoever forgets the quotes means the words all the same.
    let text = answer.text.join(" ");
    match (answer.queue, answer.question) {
        (Some(text), _) => queue(api, &text, &answer.session, answer.task.as_deref()).await,
        (None, Some(question)) if question == "-" && text.is_empty() => many(api).await,
        (None, Some(question)) if !answer.text.is_empty() => one(api, &question, &text).await,
        (None, _) => Err(Fault::usage("a question and its answer are wanted", "baton answer QUESTION TEXT")),
    }
}

/// What the API says of an answer it took.
#[derive(Deserialize)]
pub struct Given {
    task_id: Option<TaskId>,
    queue: Option<Queue>,
}

pub async fn give(api: &Api, question: QuestionId, answer: &NonBlank) -> Result<Given, Fault> {
    api.post(&format!("/api/questions/{question}/answer"), &json!({ "answer": answer })).await
}

async fn one(api: &Api, question: &str, text: &str) -> Result<String, Fault> {
    let question = Office::question(question)?;
    let answer = Office::said(text, "the answer")?;
    let Given { task_id: Some(task), queue: Some(queue) } = give(api, question, &answer).await? else {
        // The loop asked; it goes on by itself.
        return if api.is_json {
            output::json(&api.get::<QuestionRecord>(&format!("/api/questions/{question}")).await?)
        } else {
            Ok(format!("{question} is answered; the loop goes on.\n"))
        };
    };
    let goes_on = match (queue, api.is_served()) {
        (Queue::Incoming, true) => "goes on with it".to_owned(),
        (Queue::Incoming, false) => "goes on with it once agents work: baton up".to_owned(),
        (queue, _) => format!("is now in {}", queue.as_str()),
    };
    api.tell(task, &format!("{question} is answered; {task} {goes_on}.\n")).await
}

/// One question and its answer on each line of standard input. The first that is refused ends it.
async fn many(api: &Api) -> Result<String, Fault> {
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
        give(api, question, &answer).await.map_err(at)?;
        count += 1;
    }
    if api.is_json {
        return output::json(&json!({ "answered": count }));
    }
    Ok(format!("Answered {}.\n", counted(u64::from(count), "question")))
}

/// Lays an answer down for a question still to come.
async fn queue(api: &Api, text: &str, session: &str, task: Option<&str>) -> Result<String, Fault> {
    let text = Office::said(text, "the answer")?;
    let (session, task) = match task {
        Some(task) => {
            let task = api.task(api.task_id(task).await?).await?.summary;
            (task.session_id, Some(task.task_id))
        }
        None => (Office::session(session)?, None),
    };
    let answer = json!({ "answer": text, "task_id": task });
    let mut laid: Value = api.post(&format!("/api/sessions/{session}/answers"), &answer).await?;
    let left: Vec<QueuedAnswer> = api::read(laid["queued"].take())?;
    if api.is_json {
        return output::json(&json!({ "session_id": session, "queued": left }));
    }
    Ok(match left.len() {
        0 => "The answer was wanted already and has been given.\n".to_owned(),
        1 => format!("The answer waits for a question of {session}.\n"),
        count => format!("{count} answers wait for questions of {session}.\n"),
    })
}

/// An agent asks by its token. A refusal is told as data too, with its code, so that the agent can act on it.
pub async fn ask(common: &Common, text: &str, options: &[String], token: &str) -> Result<String, Fault> {
    let text = Office::said(text, "the question")?;
    let secret: Secret = token
        .parse()
        .map_err(|error: BadSecret| Fault::usage(error.to_string(), "it is in the agent's environment"))?;
    let place = office::find(common)?.0;
    if let Some(address) = server_file::running(&place, Some(token.to_owned())).await {
        let body = json!({ "question": text, "options": options });
        let answer: Value = ApiClient::for_server(address).post("/api/attempt/questions", &body).await?;
        if answer["refused"].is_null() {
            return output::json_line(&answer);
        }
        let word = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        return Err(may_not(&answer["refused"], word("message"), word("hint"))?);
    }
    let office = Office::at(place, common.json).await?;
    let asked = ask_alone(&office, &secret, text, options).await;
    office.close().await?;
    asked
}

async fn ask_alone(
    office: &Office,
    secret: &Secret,
    text: NonBlank,
    options: &[String],
) -> Result<String, Fault> {
    let settings = Settings::load(&office.place.settings_path()).map_err(EngineError::from)?;
    let door = Door::new(office.desk.clone(), settings.asking.expires_after());
    let mut draft = Draft::new(QuestionKind::Clarification, text);
    draft.options = options.iter().filter_map(|option| NonBlank::new(option.trim()).ok()).collect();
    match door.ask(secret, draft).await {
        Ok(Asked::Pending { question }) => output::json_line(&json!({ "question_id": question })),
        Ok(Asked::Known { answer, answered_by }) => {
            output::json_line(&json!({ "answer": answer, "answered_by": answered_by }))
        }
        Err(EngineError::Refused(Refusal::MayNotAsk { refusal, .. })) => {
            Err(may_not(&json!(refusal), refusal.to_string(), refusal.next())?)
        }
        Err(error) => Err(error.into()),
    }
}

/// Told twice: as a fault, and as an object that a program can read.
fn may_not(refused: &Value, message: String, hint: String) -> Result<Fault, Fault> {
    output::line(output::json_line(&json!({ "refused": refused }))?.trim_end());
    Ok(Fault { message, hint, code: REFUSED })
}
