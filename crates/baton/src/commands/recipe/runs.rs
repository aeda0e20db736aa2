//! `baton recipe runs` and `baton recipe follow`

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{QuestionId, SessionId};
use baton_core::recipe::exit_reason::ExitCategory;
use baton_core::records::event::EventBody;
use baton_engine::StoredEvent;
use baton_engine::reports::run_view::{RunStateName, RunView};
use baton_server::live::wire;
use serde_json::json;

use crate::commands::question::render_question;
use crate::commands::recipe::parse_session;
use crate::context::api::{Api, ListRequest};
use crate::error::CliError;
use crate::output;

pub(super) async fn list(
    api: &Api,
    session: Option<&str>,
    open: bool,
    limit: u32,
) -> Result<String, CliError> {
    let session = session.map(parse_session).transpose()?.map(|session| session.to_string());
    let mut query: Vec<(&str, &str)> = Vec::new();
    query.extend(session.as_deref().map(|session| ("session_id", session)));
    query.extend(open.then_some(("state", "open")));
    let list = ListRequest { path: "/api/runs", name: "runs", query: &query };
    let (runs, next): (Vec<RunView>, _) = api.list(&list, limit, None).await?;
    if api.is_json {
        return output::json(&json!({ "runs": runs, "next_cursor": next }));
    }
    if runs.is_empty() {
        return Ok("No runs. Start one: baton recipe start RECIPE\n".to_owned());
    }
    let rows: Vec<[String; 6]> = runs.iter().map(row).collect();
    Ok(output::table(["RUN", "RECIPE", "SESSION", "AT", "TASK", "STATE"], &rows))
}

fn row(run: &RunView) -> [String; 6] {
    let round = if run.iteration > 1 { format!(", iteration {}", run.iteration) } else { String::new() };
    [
        run.run_id.to_string(),
        run.recipe_id.to_string(),
        run.session_id.to_string(),
        format!("{}{round}", run.current_step),
        run.task_id.map(|task| task.to_string()).unwrap_or_default(),
        describe_state(run),
    ]
}

/// Where it stands, or how it ended.
pub(crate) fn describe_state(run: &RunView) -> String {
    let waits = run.question_id.map(|question| format!("waits for an answer to {question}"));
    match run.state {
        RunStateName::Working => waits.unwrap_or_else(|| "working".to_owned()),
        RunStateName::AtGate => waits.unwrap_or_else(|| "at its gate".to_owned()),
        RunStateName::Leaving => "stopping".to_owned(),
        RunStateName::Exited => {
            let category = run.category.map(ExitCategory::as_str).unwrap_or_default();
            let mut text = format!("{category}: {}", run.message.as_deref().unwrap_or_default());
            if let Some(error) = run.error.as_ref().and_then(|error| error.as_str().lines().next()) {
                text = format!("{text} ({error})");
            }
            text
        }
    }
}

/// Prints what happens in the session until its run ends. `seen` is the last event before.
pub(super) async fn follow(api: &Api, session: &SessionId, seen: u64) -> Result<String, CliError> {
    let mut events = api.events(seen).await?;
    let run: RunView = api.get(&format!("/api/sessions/{session}/recipe")).await?;
    if run.has_exited {
        return end(api, &run);
    }
    if !api.is_json {
        let at = format!("{} is at {}, step {}", run.run_id, run.current_step, run.step_count);
        output::talk(&format!("{at}: {}.", describe_state(&run)));
        if let Some(question) = run.question_id {
            print_question(api, question).await?;
        }
    }
    while let Some(recorded) = events.next().await? {
        print_event(api, session, &recorded).await?;
        if matches!(&recorded.event.body, EventBody::RunExited { run: ended, .. } if *ended == run.run_id) {
            return end(api, &api.get(&format!("/api/runs/{}", run.run_id)).await?);
        }
    }
    Err(CliError::unreachable(
        "the server stopped before the run ended",
        "nothing is lost; start the server again: baton up",
    ))
}

async fn print_event(api: &Api, session: &SessionId, recorded: &StoredEvent) -> Result<(), CliError> {
    if api.is_json {
        let Some(message) = wire::message(recorded) else { return Ok(()) };
        let message = json!(message);
        if message["session_id"].as_str() == Some(session.as_str()) {
            output::line(output::json_line(&message)?.trim_end());
        }
        return Ok(());
    }
    match &recorded.event.body {
        EventBody::StepStarted { session: of, step, step_count, iteration, .. } if of == session => {
            let round = if *iteration > 1 { format!(", iteration {iteration}") } else { String::new() };
            output::talk(&format!("Step {step_count}: {step}{round}"));
        }
        EventBody::StepLeft { session: of, from, outcome, .. } if of == session => {
            output::talk(&format!("  {from} ended: {outcome}"));
        }
        EventBody::OutcomeRefused { session: of, step, error, .. } if of == session => {
            output::talk(&format!("  {step} is asked again: {error}"));
        }
        EventBody::QuestionAsked { session: of, question, .. } if of == session => {
            print_question(api, question.id).await?;
        }
        EventBody::QuestionAnswered { session: of, answer, answered_by, .. } if of == session => {
            output::talk(&format!("  {answered_by} answered: {answer}"));
        }
        _ => {}
    }
    Ok(())
}

async fn print_question(api: &Api, id: QuestionId) -> Result<(), CliError> {
    let record: QuestionRecord = api.get(&format!("/api/questions/{id}")).await?;
    output::talk(render_question(&record).trim_end());
    Ok(())
}

/// How the run ended. Whatever it did not reach by itself is a failure.
fn end(api: &Api, run: &RunView) -> Result<String, CliError> {
    let message = run.message.clone().unwrap_or_default();
    let failed = match run.category {
        Some(ExitCategory::Error | ExitCategory::Guardrail) => true,
        Some(ExitCategory::Completed) | None => false,
    };
    if api.is_json {
        output::line(output::json_line(&json!({ "type": "run", "run": run }))?.trim_end());
    }
    if failed {
        let error = run.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        let hint = match run.task_id {
            Some(task) => format!("see what it did: baton task show {task}, baton task log {task}"),
            None => "see what it did: baton task list".to_owned(),
        };
        return Err(CliError::failed(format!("{message}{error}"), hint));
    }
    if api.is_json {
        return Ok(String::new());
    }
    let summary = run.summary.map(|summary| format!("{summary}\n")).unwrap_or_default();
    Ok(format!("{message}\n{summary}"))
}
