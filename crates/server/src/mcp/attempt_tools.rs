//! Tools only the agent of a live attempt has: ask, report, submit a plan, load the context of its step.

use std::fmt::Write;

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::ask::refusal::AskRefusal;
use baton_core::base::id::QuestionId;
use baton_core::base::text::{NonBlank, OutcomeName};
use baton_core::recipe::outcome::Outcome;
use baton_core::recycle::plan::{Plan, PlanDraft, PlanErrors};
use baton_engine::asking::{Asked, Waited};
use baton_engine::base::attempt_secret::AttemptSecret;

use crate::mcp::inputs::{AskArguments, AskKind, ReportArguments};
use crate::mcp::toolbox::error_text;
use crate::mcp::{Caller, ToolAnswer, Toolbox};

/// Largest number of options of a question.
const OPTIONS_MAX: usize = 20;
/// Ready tasks listed in the context.
const READY_MAX: u32 = 10;

/// Records the question, waits briefly for the answer, then tells the agent to end its turn.
pub(super) async fn ask(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: AskArguments,
) -> Result<ToolAnswer, String> {
    ask_for(toolbox, caller, draft(arguments)?).await
}

/// The answer if it arrives in time, else instructions for the agent.
pub(super) async fn ask_for(
    toolbox: &Toolbox,
    caller: &Caller,
    draft: QuestionDraft,
) -> Result<ToolAnswer, String> {
    let Caller::Attempt { secret, task, .. } = caller else { return Err(not_an_attempt()) };
    let question = match toolbox.gateway.ask(secret, draft.clone()).await {
        Ok(Asked::Pending { question }) => question,
        Ok(Asked::Known { answer, .. }) => {
            toolbox.mailbox.put_left_at(secret.attempt(), None);
            return Ok(ToolAnswer::ok(answer.as_str()));
        }
        Err(error) => {
            return Err(match error.ask_refusal() {
                Some(refusal) => refusal_text(refusal),
                None => error_text(error),
            });
        }
    };
    // If the agent exits before the answer, the attempt resumes from this question.
    toolbox.mailbox.put_left_at(secret.attempt(), Some(draft));
    let patience = toolbox.gateway.patience(*task).await.map_err(error_text)?;
    let waited = toolbox.gateway.answer_within(question, patience).await.map_err(error_text)?;
    let answer = match waited {
        Waited::Answered { answer, .. } => ToolAnswer::ok(answer.as_str()),
        Waited::Withdrawn { reason } => ToolAnswer::error(format!("The question was withdrawn: {reason}")),
        Waited::Later => return Ok(ToolAnswer::ok(answer_later_text(question))),
    };
    toolbox.mailbox.put_left_at(secret.attempt(), None);
    Ok(answer)
}

fn answer_later_text(question: QuestionId) -> String {
    format!(
        "Recorded as {question}; end your turn now. Do not ask again and do not continue without the answer: you will be \
         restarted with it."
    )
}

fn refusal_text(refusal: &AskRefusal) -> String {
    match refusal {
        AskRefusal::QuestionPending { pending } => {
            format!("{refusal}\n{pending} is still pending; end your turn now")
        }
        _ => format!("{refusal}\n{}", refusal.next()),
    }
}

fn draft(arguments: AskArguments) -> Result<QuestionDraft, String> {
    let kind = match arguments.kind {
        None | Some(AskKind::Clarification) => QuestionKind::Clarification,
        // Plain tasks have no phases; a gate is a confirmation there.
        Some(AskKind::Confirmation | AskKind::Gate) => QuestionKind::Confirmation,
    };
    if arguments.options.len() > OPTIONS_MAX {
        return Err(format!("`options` has more than {OPTIONS_MAX} entries"));
    }
    let mut draft = QuestionDraft::new(kind, arguments.question);
    draft.options = arguments.options.iter().filter_map(|option| NonBlank::new(option.trim()).ok()).collect();
    draft.default = arguments.default;
    Ok(draft)
}

/// Recorded when the agent's run ends. Unknown outcomes are refused at once, while the agent can still correct them.
pub(super) fn report(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: &ReportArguments,
) -> Result<ToolAnswer, String> {
    let attempt = secret(caller)?.attempt();
    let (name, description) = (&arguments.outcome, arguments.description.as_deref());
    let bench = toolbox.mailbox.bench(attempt).ok_or_else(not_running_here)?;
    if !bench.outcomes.is_empty() {
        let words: Vec<&str> = bench.outcomes.iter().map(OutcomeName::as_str).collect();
        Outcome::report(name.as_str(), description, &bench.outcomes)
            .map_err(|mistake| format!("{mistake}\nValid outcomes: {}", words.join(", ")))?;
    }
    let is_taken =
        toolbox.mailbox.put_outcome(attempt, name.as_str().to_owned(), description.map(str::to_owned));
    if is_taken { Ok(ToolAnswer::ok("Recorded. End your turn now.")) } else { Err(not_running_here()) }
}

pub(super) fn submit(toolbox: &Toolbox, caller: &Caller, draft: PlanDraft) -> Result<ToolAnswer, String> {
    let attempt = secret(caller)?.attempt();
    let plan = Plan::check(draft.clone())
        .map_err(|faults| format!("invalid plan:\n{}\nFix it and submit it again", PlanErrors(faults)))?;
    if toolbox.mailbox.put_plan(attempt, draft) {
        let count = plan.items().len();
        Ok(ToolAnswer::ok(format!("Plan of {count} items recorded for approval. End your turn now.")))
    } else {
        Err(not_running_here())
    }
}

/// The step's prompt, plus what may have changed since.
pub(super) async fn context(toolbox: &Toolbox, caller: &Caller) -> Result<ToolAnswer, String> {
    let Caller::Attempt { secret, task, .. } = caller else { return Err(not_an_attempt()) };
    let task = toolbox.tasks.task(*task).await.map_err(error_text)?.value;
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
    let ready = toolbox.tasks.ready(READY_MAX).await.map_err(error_text)?;
    text.push_str("\n## Work that is ready\n\n");
    if ready.is_empty() {
        text.push_str("None.\n");
    }
    for stored in ready {
        let _ = writeln!(text, "- {} {}", stored.value.id(), stored.value.spec().title);
    }
    Ok(ToolAnswer::ok(text))
}

fn secret(caller: &Caller) -> Result<&AttemptSecret, String> {
    match caller {
        Caller::Attempt { secret, .. } => Ok(secret),
        Caller::Person { .. } => Err(not_an_attempt()),
    }
}

fn not_an_attempt() -> String {
    "this tool is only for agents of an attempt".to_owned()
}

fn not_running_here() -> String {
    "this attempt does not run on this server; end your last message with the JSON line your prompt asks for"
        .to_owned()
}
