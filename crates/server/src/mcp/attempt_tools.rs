//! What only the agent of a live attempt has: asking, reporting, planning, and the context of its step.

use std::fmt::Write;

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::ask::refusal::AskRefusal;
use baton_core::base::id::QuestionId;
use baton_core::base::text::{NonBlank, OutcomeName};
use baton_core::recipe::outcome::Outcome;
use baton_core::recycle::plan::{Plan, PlanDraft, PlanErrors};
use baton_engine::asking::{Asked, Secret, Waited};

use super::arguments::Arguments;
use super::toolbox::refused;
use super::{Caller, ToolAnswer, Toolbox};

/// Answers to choose from; more are no choice a person makes.
const OPTIONS_MAX: usize = 20;
/// Ready tasks that are told.
const READY_MAX: u32 = 10;

/// Durable first, then a short wait, then the agent is sent home.
pub async fn ask(toolbox: &Toolbox, caller: &Caller, arguments: &Arguments) -> Result<ToolAnswer, String> {
    ask_for(toolbox, secret(caller)?, draft(arguments)?).await
}

/// The answer where there is one in time, else what the agent is to do.
pub async fn ask_for(toolbox: &Toolbox, secret: &Secret, draft: QuestionDraft) -> Result<ToolAnswer, String> {
    let question = match toolbox.gateway.ask(secret, draft.clone()).await {
        Ok(Asked::Pending { question }) => question,
        Ok(Asked::Known { answer, .. }) => {
            toolbox.mailbox.put_left_at(secret.attempt(), None);
            return Ok(ToolAnswer::good(answer.as_str()));
        }
        Err(error) => {
            return Err(match error.ask_refusal() {
                Some(refusal) => told(refusal),
                None => refused(error),
            });
        }
    };
    // Should the agent be gone before the answer comes, this is where it left off.
    toolbox.mailbox.put_left_at(secret.attempt(), Some(draft));
    let waited = toolbox.gateway.answer_within(question, toolbox.patience).await.map_err(refused)?;
    let answer = match waited {
        Waited::Answered { answer, .. } => ToolAnswer::good(answer.as_str()),
        Waited::Withdrawn { reason } => ToolAnswer::bad(format!("The question was withdrawn: {reason}")),
        Waited::Later => return Ok(ToolAnswer::good(later(question))),
    };
    toolbox.mailbox.put_left_at(secret.attempt(), None);
    Ok(answer)
}

fn later(question: QuestionId) -> String {
    format!(
        "Recorded as {question}; end your turn now. Nobody has answered yet. Do not ask again and do not go on without \
         the answer: you are started again with it."
    )
}

fn told(refusal: &AskRefusal) -> String {
    match refusal {
        AskRefusal::QuestionPending { pending } => {
            format!("{refusal}\n{pending} waits for its answer; end your turn now")
        }
        _ => format!("{refusal}\n{}", refusal.next()),
    }
}

fn draft(arguments: &Arguments) -> Result<QuestionDraft, String> {
    let kind = match arguments.text("kind")?.unwrap_or("clarification") {
        "clarification" => QuestionKind::Clarification,
        // A task's own work has no phase to end; a gate there is a plain confirmation.
        "confirmation" | "gate" => QuestionKind::Confirmation,
        other => {
            return Err(format!("`kind` cannot be {other:?}; it is clarification, confirmation or gate"));
        }
    };
    let mut draft = QuestionDraft::new(kind, arguments.said("question")?);
    let options = arguments.list("options")?;
    if options.len() > OPTIONS_MAX {
        return Err(format!("`options` has more than {OPTIONS_MAX} entries"));
    }
    draft.options = options.iter().filter_map(|option| NonBlank::new(option.trim()).ok()).collect();
    draft.default = arguments.maybe_said("default")?;
    Ok(draft)
}

/// Taken when the shift ends. A word the step does not know is told at once, while the agent can still mend it.
pub fn report(toolbox: &Toolbox, caller: &Caller, arguments: &Arguments) -> Result<ToolAnswer, String> {
    let attempt = secret(caller)?.attempt();
    let name = arguments.said("outcome")?;
    let description = arguments.text("description")?;
    let bench = toolbox.mailbox.bench(attempt).ok_or_else(elsewhere)?;
    if !bench.outcomes.is_empty() {
        let words: Vec<&str> = bench.outcomes.iter().map(OutcomeName::as_str).collect();
        Outcome::report(name.as_str(), description, &bench.outcomes)
            .map_err(|mistake| format!("{mistake}\nThe outcomes of this step are {}", words.join(", ")))?;
    }
    let is_taken =
        toolbox.mailbox.put_outcome(attempt, name.as_str().to_owned(), description.map(str::to_owned));
    if is_taken { Ok(ToolAnswer::good("Noted. End your turn now.")) } else { Err(elsewhere()) }
}

pub fn submit(toolbox: &Toolbox, caller: &Caller, arguments: Arguments) -> Result<ToolAnswer, String> {
    let attempt = secret(caller)?.attempt();
    let draft: PlanDraft = arguments.whole()?;
    let plan = Plan::check(draft.clone()).map_err(|faults| {
        format!("the plan cannot be used:\n{}\nMend it and hand it in again", PlanErrors(faults))
    })?;
    if toolbox.mailbox.put_plan(attempt, draft) {
        let count = plan.items().len();
        Ok(ToolAnswer::good(format!(
            "The plan of {count} items is noted. End your turn now; the human approves it."
        )))
    } else {
        Err(elsewhere())
    }
}

/// What the agent was told, and what of it may have changed since.
pub async fn context(toolbox: &Toolbox, caller: &Caller) -> Result<ToolAnswer, String> {
    let Caller::Attempt { secret, task, .. } = caller else { return Err(nobody()) };
    let task = toolbox.tasks.task(*task).await.map_err(refused)?.value;
    let mut text = match toolbox.mailbox.bench(secret.attempt()) {
        Some(bench) => bench.prompt,
        None => format!("# {}\n\n{}\n", task.spec().title, task.spec().description),
    };
    if let Some(id) = task.spec().project_id {
        let project = toolbox.tasks.store.project(id).await.map_err(|error| error.to_string())?;
        if let Some(project) = project {
            let _ = write!(text, "\n## The project\n\n{}\n", project.value.title);
        }
    }
    let ready = toolbox.tasks.ready(READY_MAX).await.map_err(refused)?;
    text.push_str("\n## Work that is ready\n\n");
    if ready.is_empty() {
        text.push_str("None.\n");
    }
    for stored in ready {
        let _ = writeln!(text, "- {} {}", stored.value.id(), stored.value.spec().title);
    }
    Ok(ToolAnswer::good(text))
}

fn secret(caller: &Caller) -> Result<&Secret, String> {
    match caller {
        Caller::Attempt { secret, .. } => Ok(secret),
        Caller::Person { .. } => Err(nobody()),
    }
}

fn nobody() -> String {
    "only the agent of an attempt has this tool".to_owned()
}

fn elsewhere() -> String {
    "this attempt is not at work in this server; end your last message with the JSON line your prompt asks for"
        .to_owned()
}
