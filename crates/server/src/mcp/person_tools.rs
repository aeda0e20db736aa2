//! The tools of a person's own client: chat, questions and recipes, and the decisions that the person has left to it.

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::base::id::{QuestionId, SessionId};
use baton_core::people::toolset::ClientPowers;
use baton_core::records::project::Project;
use baton_core::records::receipt::RequestedWork;
use baton_core::transition::command::Command;
use baton_engine::asking::{Answers, MessageDelivery, MessageSender};
use baton_engine::landing::acceptor::Accepted;
use baton_engine::query::QuestionFilter;
use baton_engine::tasks::chat::Posting;
use serde_json::{Value, json};

use crate::mcp::inputs::{AcceptArguments, AnswerArguments, ChatArguments, RejectArguments};
use crate::mcp::queue_tools::{SESSION_OF_CLIENT, find_task};
use crate::mcp::toolbox::error_text;
use crate::mcp::{Caller, ToolAnswer, Toolbox};

/// Questions per list; a person with more than these looks at the inbox.
const LIST_MAX: u32 = 50;

/// Posts a message. A client that may not answer reaches nothing that waits for an answer (I19).
pub(super) async fn chat(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: ChatArguments,
) -> Result<ToolAnswer, String> {
    let (name, powers) = person(caller)?;
    let session = arguments.session_id.as_deref().unwrap_or(SESSION_OF_CLIENT);
    let session: SessionId =
        session.parse().map_err(|error: baton_core::base::id::InvalidId| error.to_string())?;
    let delivery = MessageDelivery::new(&toolbox.tasks);
    if !powers.answer
        && let Some(target) = delivery.receiver(&session).await.map_err(error_text)?
        && let Some(asked) = delivery.pending_question(&target).await.map_err(error_text)?
    {
        return Err(format!("this session waits for an answer to {}; {NOT_ALLOWED}", asked.question.id));
    }
    let project = project_of(toolbox, &session).await?;
    let posting = Posting {
        session,
        text: arguments.content,
        wanted: RequestedWork { task_type: None, recipe: None },
        key: None,
        attachments: Vec::new(),
    };
    let sender = MessageSender { actor: caller.actor(), answers_as: AnsweredBy::human(name) };
    let taken = delivery.post(project.as_ref(), &posting, sender).await.map_err(error_text)?;
    Ok(ToolAnswer::json(&json!({
        "session_id": taken.session,
        "task_id": taken.task,
        "run_id": taken.delivered.as_ref().and_then(|to| to.run_id),
    })))
}

/// What a client reads that was not allowed to decide.
const NOT_ALLOWED: &str =
    "the person answers it, or starts this client with: baton mcp --as person --allow answer";

/// A message belongs to the project that its session began in.
async fn project_of(toolbox: &Toolbox, session: &SessionId) -> Result<Option<Project>, String> {
    let known = toolbox.tasks.store.session(session).await.map_err(|error| error.to_string())?;
    match known.and_then(|stored| stored.value.project_id) {
        Some(id) => Ok(Some(toolbox.tasks.project(id).await.map_err(error_text)?.value)),
        None => Ok(None),
    }
}

pub(super) async fn questions(toolbox: &Toolbox) -> Result<ToolAnswer, String> {
    let filter = QuestionFilter::pending();
    let page = toolbox.tasks.store.questions(&filter, None, LIST_MAX).await;
    let page = page.map_err(|error| error.to_string())?;
    let questions: Vec<_> = page.items.into_iter().map(|stored| stored.value).collect();
    let more = page.next.is_some().then_some("more questions are pending; see For you");
    Ok(ToolAnswer::json(&json!({ "questions": questions, "more": more })))
}

pub(super) fn recipes(toolbox: &Toolbox) -> ToolAnswer {
    let recipes = toolbox.tasks.recipes.list().into_iter().map(|listed| {
        let recipe = listed.recipe;
        json!({ "id": recipe.id(), "label": recipe.label(), "description": recipe.description() })
    });
    ToolAnswer::json(&json!({ "recipes": recipes.collect::<Vec<Value>>() }))
}

pub(super) async fn answer(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: AnswerArguments,
) -> Result<ToolAnswer, String> {
    let (name, _) = person(caller)?;
    let id: QuestionId = arguments
        .question_id
        .as_str()
        .parse()
        .map_err(|error: baton_core::base::id::InvalidId| error.to_string())?;
    let asked = toolbox.tasks.question(id).await.map_err(error_text)?;
    let asked =
        asked.ok_or_else(|| format!("there is no question {id}; list_questions has the pending ones"))?;
    if asked.question.draft.kind.is_human_only() {
        return Err(format!("only the person answers {id}: baton answer {id}, or the page For you"));
    }
    let answered_by = AnsweredBy::human(name);
    let answers = Answers::new(&toolbox.tasks);
    let task = answers.answer(id, arguments.answer, answered_by, caller.actor()).await.map_err(error_text)?;
    Ok(ToolAnswer::json(&json!({ "question_id": id, "task_id": task.map(|task| task.id()) })))
}

/// Without force: what needs a person to look at it is left to the person.
pub(super) async fn accept(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: &AcceptArguments,
) -> Result<ToolAnswer, String> {
    let id = find_task(toolbox, &arguments.id).await?;
    let accepted = toolbox.acceptor().accept(id, false, caller.actor()).await.map_err(error_text)?;
    Ok(ToolAnswer::ok(match accepted {
        Accepted::Done { landing: Some(landing) } => {
            format!("{id} is accepted and has landed on {}.", landing.branch)
        }
        Accepted::Done { landing: None } => format!("{id} is accepted."),
        Accepted::Waiting { landing } => {
            format!("{id} is accepted. The checks on {} decide; get_task says how they end.", landing.branch)
        }
        Accepted::Conflicted { files } => {
            return Err(format!(
                "{id} was sent back: it conflicts in {}. Nothing is lost.",
                files.join(", ")
            ));
        }
    }))
}

pub(super) async fn reject(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: RejectArguments,
) -> Result<ToolAnswer, String> {
    let id = find_task(toolbox, &arguments.id).await?;
    let reject = Command::Reject { reason: arguments.reason };
    let task = toolbox.tasks.apply(id, reject, caller.actor()).await.map_err(error_text)?;
    Ok(ToolAnswer::ok(format!("{id} is rejected; it is in {} now.", task.state().queue().as_str())))
}

fn person(caller: &Caller) -> Result<(String, ClientPowers), String> {
    match caller {
        Caller::Person { name, powers, .. } => Ok((name.clone(), *powers)),
        Caller::Attempt { .. } => Err("this tool is for a person's own client".to_owned()),
    }
}
