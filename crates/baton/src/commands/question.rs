//! The inbox: `baton questions`, `baton answer`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;

use baton_core::ask::question::{Question, QuestionDraft, QuestionKind};
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::ask::queued_answer::QueuedAnswer;
use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::words::{pluralize, shell_word};
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::records::event::EventBody;
use baton_core::task::state::QueueName;
use baton_engine::asking::Asked;
use baton_engine::base::attempt_secret::{AttemptSecret, BadSecret};
use baton_engine::reports::run_view::RunStateName;
use baton_engine::reports::standstill::Standstill;
use baton_server::client::{ApiClient, ClientError};
use baton_server::http::error::Code;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::questions::{AnswerArgs, QuestionsArgs};
use crate::context::api::{self, Api, ListRequest};
use crate::context::server_file;
use crate::context::{self, CliContext};
use crate::error::{CliError, UNREACHABLE};
use crate::options::GlobalOptions;
use crate::output;

/// Most input to read; more is a mistake.
const ANSWERS_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Most pending questions to search for a prefix.
const PENDING_MAX: u32 = 10_000;
/// The inbox.
const PENDING: ListRequest<'_> =
    ListRequest { path: "/api/questions", name: "questions", query: &[("state", "pending")] };

pub(crate) async fn list(api: &Api, args: &QuestionsArgs) -> Result<String, CliError> {
    let (pending, next): (Vec<QuestionRecord>, _) =
        api.list(&PENDING, args.limit, args.cursor.as_deref()).await?;
    let mut response: Value = api.get("/api/standstills").await?;
    let standing: Vec<Standstill> = api::read(response["standstills"].take())?;
    if api.is_json {
        return output::json(&json!({ "questions": pending, "next_cursor": next, "standstills": standing }));
    }
    let mut text = if pending.is_empty() {
        "No pending questions.\n".to_owned()
    } else {
        pending.iter().map(render_question).collect::<Vec<_>>().join("\n")
    };
    if let Some(next) = next {
        let _ = writeln!(text, "More: baton questions --cursor {next}");
    }
    text.push_str(&render_standing(&standing));
    Ok(text)
}

/// What stands still until the person acts, with the commands that lead on.
fn render_standing(standing: &[Standstill]) -> String {
    let mut text = String::new();
    if !standing.is_empty() {
        text.push_str("\nStands still until you act:\n");
    }
    for one in standing {
        let _ = writeln!(text, "{}", one.message);
        let _ = writeln!(text, "    {}", one.title);
        for command in &one.commands {
            let _ = writeln!(text, "  → {command}");
        }
    }
    text
}

/// One question as text, with the command that answers it.
pub(crate) fn render_question(record: &QuestionRecord) -> String {
    render(record, &answer_command(&record.question))
}

/// The same for a terminal that reads the answer right there.
pub(crate) fn render_prompt(record: &QuestionRecord) -> String {
    let options: Vec<&str> = record.question.draft.options.iter().map(NonBlank::as_str).collect();
    let answers = if options.is_empty() { "type your answer".to_owned() } else { options.join(", ") };
    render(record, &answers)
}

/// What a typed line answers. Of a whole command that was pasted, the last part counts.
pub(crate) fn typed_answer(line: &str, question: QuestionId) -> &str {
    line.trim().strip_prefix(&format!("baton answer {question} ")).unwrap_or(line)
}

fn render(record: &QuestionRecord, how: &str) -> String {
    let question = &record.question;
    let mut text = String::new();
    let task = record.task_id.map(|task| format!(" of {task}")).unwrap_or_default();
    let _ = writeln!(text, "{}{task}, asked {}", question.id, output::time(record.asked_at));
    for line in question.text().as_str().lines() {
        let _ = writeln!(text, "    {line}");
    }
    let _ = writeln!(text, "  → {how}");
    text
}

/// The command that answers it, ready to paste if the question has options, with the other options beside it.
pub(crate) fn answer_command(question: &Question) -> String {
    let mut options = question.draft.options.iter().map(|option| shell_word(option.as_str()));
    let first = options.next().unwrap_or_else(|| "TEXT".to_owned());
    let others: Vec<String> = options.collect();
    let others = if others.is_empty() { String::new() } else { format!("   (or {})", others.join(", ")) };
    format!("baton answer {} {first}{others}", question.id)
}

/// Prints pending questions, then every new one. When the server it reads from ends, it continues with the next server or
/// with the store.
pub(crate) async fn follow(options: &GlobalOptions, limit: u32) -> Result<String, CliError> {
    let mut printed: BTreeSet<QuestionId> = BTreeSet::new();
    loop {
        let api = Api::open(options).await?;
        let listened = print_new(&api, limit, &mut printed).await;
        let was_served = api.is_served();
        api.close().await?;
        match listened {
            // Not an outage: trying again would fail the same way.
            Err(fault) if !was_served || fault.code != UNREACHABLE => return Err(fault),
            Ok(()) if !was_served => return Ok(String::new()),
            Ok(()) | Err(_) => {}
        }
    }
}

/// Until the source of events ends. Questions asked in between are still pending, or were answered.
async fn print_new(api: &Api, limit: u32, printed: &mut BTreeSet<QuestionId>) -> Result<(), CliError> {
    let mut events = api.events(api.last_event().await?).await?;
    let (pending, _): (Vec<QuestionRecord>, _) = api.list(&PENDING, limit, None).await?;
    for record in &pending {
        if printed.insert(record.question.id) {
            print(api, record)?;
        }
    }
    while let Some(recorded) = events.next().await? {
        let EventBody::QuestionAsked { question, .. } = &recorded.event.body else { continue };
        if printed.insert(question.id) {
            print(api, &api.get(&format!("/api/questions/{}", question.id)).await?)?;
        }
    }
    Ok(())
}

fn print(api: &Api, record: &QuestionRecord) -> Result<(), CliError> {
    if api.is_json {
        output::line(output::json_line(record)?.trim_end());
    } else if record.state == QuestionState::Pending {
        output::line(render_question(record).trim_end());
    }
    Ok(())
}

pub(crate) async fn answer(api: &Api, answer: AnswerArgs) -> Result<String, CliError> {
    // Unquoted words are one answer.
    let text = answer.text.join(" ");
    match (answer.queue, answer.question) {
        (Some(text), _) => queue(api, &text, &answer.session, answer.task.as_deref()).await,
        (None, Some(question)) if question == "-" && text.is_empty() => many(api).await,
        (None, Some(question)) if !answer.text.is_empty() => {
            let question = find_question(api, &question).await?;
            one(api, question, &text).await
        }
        // Only an answer: it can only mean the one question that is pending.
        (None, Some(text)) if question_prefix(&text).is_none() => {
            let question = only_question(api).await?;
            one(api, question, &text).await
        }
        (None, _) => {
            Err(CliError::usage("a question and an answer are required", "baton answer QUESTION TEXT"))
        }
    }
}

/// The API's answer.
#[derive(Deserialize)]
pub(crate) struct AnswerResponse {
    task_id: Option<TaskId>,
    queue: Option<QueueName>,
}

pub(crate) async fn send_answer(
    api: &Api,
    question: QuestionId,
    answer: &NonBlank,
) -> Result<AnswerResponse, CliError> {
    api.post(&format!("/api/questions/{question}/answer"), &json!({ "answer": answer })).await
}

/// The digits of a question's id, or of the start of one.
fn question_prefix(text: &str) -> Option<String> {
    let digits = text.strip_prefix("Q-").or_else(|| text.strip_prefix("q-"))?;
    let is_hex = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit());
    is_hex.then(|| format!("Q-{}", digits.to_ascii_lowercase()))
}

/// A question by its id, or by a unique prefix of the id of a pending one.
async fn find_question(api: &Api, text: &str) -> Result<QuestionId, CliError> {
    let Some(prefix) = question_prefix(text) else { return CliContext::parse_question_id(text) };
    if let Ok(id) = prefix.parse() {
        return Ok(id);
    }
    let (pending, _): (Vec<QuestionRecord>, _) = api.list(&PENDING, PENDING_MAX, None).await?;
    let ids: Vec<QuestionId> = pending.iter().map(|record| record.question.id).collect();
    let mut found = ids.into_iter().filter(|id| id.to_string().starts_with(&prefix));
    let hint = "list pending questions: baton questions";
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id),
        (None, _) => Err(CliError::usage(format!("no pending question starts with {prefix}"), hint)),
        (Some(_), Some(_)) => {
            Err(CliError::usage(format!("more than one pending question starts with {prefix}"), hint))
        }
    }
}

async fn only_question(api: &Api) -> Result<QuestionId, CliError> {
    let (pending, _): (Vec<QuestionRecord>, _) = api.list(&PENDING, 2, None).await?;
    match pending.as_slice() {
        [only] => Ok(only.question.id),
        [] => Err(CliError::usage("no question is pending", "see the work: baton task list")),
        _ => Err(CliError::usage(
            "several questions are pending; say which one you answer",
            "list them: baton questions; then baton answer QUESTION TEXT",
        )),
    }
}

async fn one(api: &Api, question: QuestionId, text: &str) -> Result<String, CliError> {
    let answer = CliContext::non_blank(text, "the answer")?;
    let AnswerResponse { task_id: Some(task), queue: Some(queue) } =
        send_answer(api, question, &answer).await?
    else {
        // A loop asked; it continues by itself, unless the answer ended it.
        let record: QuestionRecord = api.get(&format!("/api/questions/{question}")).await?;
        if api.is_json {
            return output::json(&record);
        }
        let run: Value = api.get(&format!("/api/sessions/{}/recipe", record.session_id)).await?;
        return Ok(match run["message"].as_str() {
            Some(message) => format!("Answered {question}. The loop has ended: {message}.\n"),
            None => format!("Answered {question}. The loop continues.\n"),
        });
    };
    let status = status_after(api, task, queue).await?;
    api.confirm(task, &format!("Answered {question}; {task} {status}.\n")).await
}

/// What an answer leads to, as the end of a sentence about its task.
pub(crate) async fn status_after(api: &Api, task: TaskId, queue: QueueName) -> Result<String, CliError> {
    let view = api.task(task).await?;
    let is_stopping = view.run.as_ref().is_some_and(|run| run.state == RunStateName::Leaving);
    let reason = view.run.as_ref().and_then(|run| run.reason.as_ref());
    let is_stopped = reason.is_none_or(|reason| *reason == ExitReason::user_requested());
    Ok(match (queue, api.is_served()) {
        (QueueName::Incoming, _) if view.summary.held_because.is_some() => {
            format!("is held until you release it: baton task release {task}")
        }
        (QueueName::Incoming, _) if is_stopping && !is_stopped => {
            "ends; its work is kept for review".to_owned()
        }
        (QueueName::Incoming, _) if is_stopping => "stops; what is done so far is kept for review".to_owned(),
        (QueueName::Incoming, true) => "continues".to_owned(),
        (QueueName::Incoming, false) => "continues when agents run: baton up".to_owned(),
        (queue, _) => format!("is now {}", queue.as_str()),
    })
}

/// Reads one question and its answer per line of standard input. Stops at the first refusal.
async fn many(api: &Api) -> Result<String, CliError> {
    let mut lines = String::new();
    let unreadable = |error: std::io::Error| {
        CliError::usage(format!("cannot read standard input: {error}"), "write QUESTION TEXT on each line")
    };
    std::io::stdin().take(ANSWERS_BYTES_MAX).read_to_string(&mut lines).map_err(unreadable)?;
    let mut count = 0_u32;
    for (number, line) in (1..).zip(lines.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let at = |error: CliError| CliError { message: format!("line {number}: {}", error.message), ..error };
        let (question, text) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let question = find_question(api, question).await.map_err(at)?;
        let answer = CliContext::non_blank(text, "the answer").map_err(at)?;
        send_answer(api, question, &answer).await.map_err(at)?;
        count += 1;
    }
    if api.is_json {
        return output::json(&json!({ "answered": count }));
    }
    Ok(format!("Answered {}.\n", pluralize(u64::from(count), "question")))
}

/// Queues an answer for a future question.
async fn queue(api: &Api, text: &str, session: &str, task: Option<&str>) -> Result<String, CliError> {
    let text = CliContext::non_blank(text, "the answer")?;
    let (session, task) = match task {
        Some(task) => {
            let task = api.task(api.task_id(task).await?).await?.summary;
            (task.session_id, Some(task.task_id))
        }
        None => (CliContext::parse_session_id(session)?, None),
    };
    let answer = json!({ "answer": text, "task_id": task });
    let mut response: Value = api.post(&format!("/api/sessions/{session}/answers"), &answer).await?;
    let left: Vec<QueuedAnswer> = api::read(response["queued"].take())?;
    if api.is_json {
        return output::json(&json!({ "session_id": session, "queued": left }));
    }
    Ok(match left.len() {
        0 => "A question was waiting for this answer; it is answered now.\n".to_owned(),
        1 => format!("Queued for the next question of {session}.\n"),
        count => format!("{count} answers are queued for questions of {session}.\n"),
    })
}

/// An agent asks. A refusal is printed as data too, with its code, so that the agent can act on it.
pub(crate) async fn ask(
    options: &GlobalOptions,
    text: &str,
    choices: &[String],
    token: &str,
) -> Result<String, CliError> {
    let text = CliContext::non_blank(text, "the question")?;
    let secret: AttemptSecret = token.parse().map_err(|error: BadSecret| {
        CliError::usage(error.to_string(), "take it from BATON_TOKEN in the agent's environment")
    })?;
    let place = context::find(options)?.0;
    if let Some(address) = server_file::running(&place, Some(token.to_owned())).await {
        let body = json!({ "question": text, "options": choices });
        let asked = ApiClient::for_server(address).post::<_, Value>("/api/attempt/questions", &body).await;
        return match asked {
            Ok(answer) => output::json_line(&answer),
            Err(ClientError::Refused(error)) => match error.reason.clone() {
                Some(code) if matches!(error.error, Code::Forbidden | Code::Conflict) => {
                    let refusal = json!({ "code": code, "message": error.message, "next": error.hint });
                    Err(refused(&refusal, error.message, error.hint)?)
                }
                _ => Err((&error).into()),
            },
            Err(error) => Err(error.into()),
        };
    }
    let context = CliContext::open_for_attempt(place, options.json, &secret).await?;
    let result = ask_on_store(&context, &secret, text, choices).await;
    context.close().await?;
    result
}

async fn ask_on_store(
    context: &CliContext,
    secret: &AttemptSecret,
    text: NonBlank,
    choices: &[String],
) -> Result<String, CliError> {
    let settings = context.settings()?;
    let gateway = context.workspace(settings).agents.gateway();
    let mut draft = QuestionDraft::new(QuestionKind::Clarification, text);
    draft.options = choices.iter().filter_map(|option| NonBlank::new(option.trim()).ok()).collect();
    match gateway.ask(secret, draft).await {
        Ok(Asked::Pending { question }) => output::json_line(&json!({ "question_id": question })),
        Ok(Asked::Known { answer, answered_by }) => {
            output::json_line(&json!({ "answer": answer, "answered_by": answered_by }))
        }
        Err(error) => match error.ask_refusal() {
            Some(refusal) => Err(refused(&json!(refusal), refusal.to_string(), refusal.next())?),
            None => Err(error.into()),
        },
    }
}

/// An error for people, and an object on standard output for programs.
fn refused(refused: &Value, message: String, hint: String) -> Result<CliError, CliError> {
    output::line(output::json_line(&json!({ "refused": refused }))?.trim_end());
    Ok(CliError::refused(message, hint))
}
