//! `baton routine`: work that starts by time or by event.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::cli::routines::{RoutineArgs, RoutineCommand};
use crate::commands::import::project_id;
use crate::context::api::{self, Api};
use crate::error::CliError;
use crate::output;

#[derive(Debug, Serialize, Deserialize)]
struct RoutineResponse {
    routine_id: String,
    title: String,
    on: String,
    schedule: Option<String>,
    time_zone: Option<String>,
    state: String,
    next_at: Option<String>,
    /// Runs that wait for the end of an earlier one.
    waiting: u64,
    last: Option<LastRun>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct LastRun {
    task_id: String,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CallResponse {
    status: String,
    task_id: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

pub(crate) async fn run(api: &Api, command: RoutineCommand) -> Result<String, CliError> {
    match command {
        RoutineCommand::Add(args) => add(api, *args).await,
        RoutineCommand::List => {
            let routines = list(api).await?;
            if api.is_json {
                return output::json(&json!({ "routines": routines }));
            }
            Ok(render(routines))
        }
        RoutineCommand::Pause { routine } => revise(api, &routine, "pause").await,
        RoutineCommand::Resume { routine } => revise(api, &routine, "resume").await,
        RoutineCommand::Remove { routine } => {
            let id = find(api, &routine).await?;
            let removed: RoutineResponse = api.delete(&format!("/api/routines/{id}")).await?;
            if api.is_json {
                output::json(&removed)
            } else {
                Ok(format!("Removed {id}: {}.\n", removed.title))
            }
        }
        RoutineCommand::Run { routine, content } => {
            let id = find(api, &routine).await?;
            let path = format!("/api/routines/{id}/run");
            let called: CallResponse = api.post(&path, &json!({ "content": content })).await?;
            if called.status == "paused" {
                let hint = format!("let it run again: baton routine resume {id}");
                return Err(CliError::refused(format!("{id} is paused, so it is not started"), hint));
            }
            if api.is_json {
                return output::json(&called);
            }
            Ok(match called.task_id {
                Some(task) => format!("Started {task}.\n"),
                None if called.status == "waiting" => {
                    "It starts when the task of the last run has ended.\n".to_owned()
                }
                None => "Not started: the task of the last run is still open.\n".to_owned(),
            })
        }
    }
}

async fn add(api: &Api, args: RoutineArgs) -> Result<String, CliError> {
    let project = args.project.as_deref().map(project_id).transpose()?;
    let mut new = json!({
        "title": args.title,
        "description": args.description,
        "overlap": args.overlap,
        "catch_up": args.catch_up,
        "priority": args.priority,
    });
    let optional = [
        ("every", args.every),
        ("cron", args.cron),
        ("on", args.on),
        ("time_zone", args.time_zone),
        ("task_type", args.task_type),
        ("recipe", args.recipe),
        ("project_id", project.map(|project| project.to_string())),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            new[name] = value.into();
        }
    }
    let routine: RoutineResponse = api.post("/api/routines", &new).await?;
    if api.is_json {
        return output::json(&routine);
    }
    let id = &routine.routine_id;
    let when = match &routine.next_at {
        Some(next) => format!("It runs next at {next}."),
        None => format!("It runs on {}.", routine.on),
    };
    Ok(format!("Added {id}: {}. {when}\n", routine.title))
}

async fn revise(api: &Api, routine: &str, verb: &str) -> Result<String, CliError> {
    let id = find(api, routine).await?;
    let routine: RoutineResponse = api.post(&format!("/api/routines/{id}/{verb}"), &json!({})).await?;
    if api.is_json {
        return output::json(&routine);
    }
    Ok(match &routine.next_at {
        Some(next) => format!("{id} is {}; it runs next at {next}.\n", routine.state),
        None => format!("{id} is {}.\n", routine.state),
    })
}

async fn list(api: &Api) -> Result<Vec<RoutineResponse>, CliError> {
    let mut answer: Value = api.get("/api/routines").await?;
    api::read(answer["routines"].take())
}

/// The id of the only routine whose id begins so, with or without `RTN-`.
async fn find(api: &Api, text: &str) -> Result<String, CliError> {
    let is_meant = |id: &str| id.starts_with(text) || id.trim_start_matches("RTN-").starts_with(text);
    let mut found: Vec<String> =
        list(api).await?.into_iter().map(|routine| routine.routine_id).filter(|id| is_meant(id)).collect();
    let hint = "list the routines: baton routine list";
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => {
            Err(CliError::usage(format!("more than one routine begins with \"{text}\""), hint))
        }
        (None, _) => Err(CliError::usage(format!("there is no routine \"{text}\""), hint)),
    }
}

fn render(routines: Vec<RoutineResponse>) -> String {
    if routines.is_empty() {
        return "No routines. Add one: baton routine add TITLE --every \"Mon 06:00\"\n".to_owned();
    }
    let rows: Vec<[String; 5]> = routines
        .into_iter()
        .map(|routine| {
            let when = match (routine.schedule, routine.time_zone) {
                (Some(schedule), Some(zone)) => format!("{schedule} {zone}"),
                _ => routine.on,
            };
            let next = routine.next_at.unwrap_or_else(|| routine.state.clone());
            let next = if routine.waiting == 0 { next } else { format!("{next}, {} wait", routine.waiting) };
            let last = routine.last.map_or_else(|| "-".to_owned(), |last| last.task_id);
            [routine.routine_id, when, next, last, routine.title]
        })
        .collect();
    output::table(["ROUTINE", "STARTS", "NEXT", "LAST", "TITLE"], &rows)
}
