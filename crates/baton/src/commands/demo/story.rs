//! The tasks of the demo: seven with dependencies, one that asks a question, one that is too large, one that comes back
//! with a comment, and two whose work passes the check alone and fails it together.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::base::words::pluralize;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::project::{Project, is_complete};
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::TaskState;
use baton_core::task::{Task, TaskSpec};
use baton_engine::base::error::EngineError;
use baton_engine::git::Repository;
use baton_engine::services::engine::Engine;
use baton_engine::settings::Settings;
use serde_json::{Value, json};

use crate::commands::demo::pace::DemoPace;
use crate::error::CliError;
use crate::output;

const PROJECT: ProjectId = ProjectId::from_bits(0xde30_0000);
const README: &str = "# Greeter\n\nSays hello in many languages.\n";

/// Title, dependencies (by number, from 1), description.
const TASKS: [(&str, &[u32], &str); 7] = [
    ("Set up the greeter", &[], "Create the directory for greetings, with a note on how to add one."),
    ("Add the English greeting", &[1], "One file with one greeting."),
    ("Add the French greeting", &[1], "Ask whether it should be formal, then write it."),
    ("Add every other language", &[1], "All of them at once. (Too much for one attempt.)"),
    ("Write the tests", &[2, 3, 7], "Check that each greeting exists and ends with an exclamation mark."),
    ("Write the guide", &[4, 5], "How to greet in each language."),
    ("Add the Italian greeting", &[1], "One file with one greeting, numbered."),
];

/// The two that both take the first number, because neither sees the other's work.
const TWINS: [u32; 2] = [2, 7];

/// The one whose first version deserves a comment.
const GUIDE: u32 = 6;
/// The comment.
pub(crate) const COMMENT: &str = "Name the languages, so that a reader need not open every file.";

/// Whether it is a first version that a reader would not be content with.
pub(crate) fn wants_comment(task: &Task) -> bool {
    let is_first = task.ledger().notes.iter().all(|note| !matches!(note, TaskNote::Rejected { .. }));
    task.id() == task_id(GUIDE) && is_first
}

/// Every greeting begins with a number of its own. Only what the shell itself can do: the demo needs no other program.
const CHECK: &str = r#"for one in greetings/*.txt; do
  test -e "$one" || exit 0
  read -r number rest < "$one"
  for other in greetings/*.txt; do
    read -r again rest < "$other"
    if test "$one" != "$other" && test "$number" = "$again"; then
      echo "$one and $other both have the number $number"
      exit 1
    fi
  done
done"#;

/// Whether its twin has not been finished even once. Deciding about both together shows what happens when they meet.
pub(crate) fn waits_for_twin(task: &Task, tasks: &[Task]) -> bool {
    let twins = TWINS.map(task_id);
    let is_behind = |other: &&Task| twins.contains(&other.id()) && other.ledger().last_end.is_none();
    let is_open =
        |other: &Task| !matches!(other.state(), TaskState::Done { .. } | TaskState::Cancelled { .. });
    twins.contains(&task.id()) && tasks.iter().filter(is_behind).any(is_open)
}

pub(crate) fn feature_branch() -> BranchName {
    BranchName::feature(PROJECT)
}

pub(crate) fn project() -> ProjectId {
    PROJECT
}

fn task_id(number: u32) -> TaskId {
    TaskId::from_bits(0xde30_0000 + number)
}

/// Creates the repository, and the project with its tasks in one change, unless they exist.
pub(crate) async fn begin(engine: &Engine) -> Result<(), CliError> {
    let workspace = &engine.workspace;
    Repository::make_scratch(&workspace.projects.git, &workspace.place.root, README)
        .await
        .map_err(EngineError::from)?;
    if workspace.tasks.has_project(PROJECT).await? {
        let tasks = workspace.tasks.project_tasks(PROJECT).await?;
        let standings: Vec<_> = tasks.iter().map(|task| (task.id(), task.standing())).collect();
        output::line(if is_complete(standings.iter().map(|(id, standing)| (*id, standing))) {
            "This demo is complete. For a new one, leave out --folder or name another folder."
        } else {
            "Continuing the demo that was interrupted here."
        });
        return Ok(());
    }
    let by = Actor::human("demo");
    let context = workspace.tasks.context(by.clone()).await?;
    let event = |body| Event { at: context.now, by: by.clone(), body };
    let project = Project {
        id: PROJECT,
        title: non_blank("A greeter for everyone")?,
        description: String::new(),
        path: workspace.place.root.display().to_string(),
        base_branch: "main".parse().map_err(|error| internal_error(&error))?,
        feature_branch: Some(feature_branch()),
        remote: None,
        at_once_max: None,
        created_at: context.now,
        completed_at: None,
    };
    let mut change = Change::new();
    change.events.push(event(EventBody::ProjectCreated { project: PROJECT, title: project.title.clone() }));
    change = change.put(Record::Project(project), WriteGuard::New);
    for (number, (_, waits_on, _)) in (1..).zip(TASKS) {
        let spec = spec(number, context.now)?;
        let depends_on: Vec<TaskId> = waits_on.iter().map(|number| task_id(*number)).collect();
        let body = EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on: depends_on.clone() };
        change = change.and(Change::create(Task::create(spec), &depends_on, event(body)));
    }
    workspace.tasks.write(change).await?;
    Ok(())
}

/// A task by its number, from 1.
pub(crate) fn spec(number: u32, now: Timestamp) -> Result<TaskSpec, CliError> {
    let index = number.saturating_sub(1) as usize;
    let (title, _, description) = TASKS.get(index).copied().unwrap_or(("", &[], ""));
    Ok(TaskSpec {
        project_id: Some(PROJECT),
        description: description.to_owned(),
        ..TaskSpec::new(
            task_id(number),
            SessionId::for_project(PROJECT),
            TaskType::Implementation,
            non_blank(title)?,
            now,
        )
    })
}

fn non_blank(text: &str) -> Result<NonBlank, CliError> {
    NonBlank::new(text).map_err(|error| internal_error(&error))
}

fn internal_error(error: &dyn std::fmt::Display) -> CliError {
    CliError::bug(error.to_string())
}

pub(crate) fn settings(script: &Path) -> Result<Settings, CliError> {
    let script =
        serde_json::to_string(&script.display().to_string()).map_err(|error| internal_error(&error))?;
    let text = format!(
        "default_agent = \"scripted\"\nmax_agents = 4\nlease_seconds = 10\nrecycle = {{ plan = \"person\" }}\n\
         [agents.scripted]\nkind = \"scripted\"\ncommand = [{script}]\n\
         [checks]\nnumbers = [\"/bin/sh\", \"-c\", '''{CHECK}''']\n"
    );
    Ok(Settings::parse(&text, Path::new("the demo's settings")).map_err(EngineError::from)?)
}

/// What the agent does for each task. It waits a little, so that parallel work is visible.
pub(crate) fn script(pace: DemoPace) -> String {
    let agent_ms = u64::try_from(pace.agent.as_millis()).unwrap_or(u64::MAX);
    let work = |title: &str, path: &str, text: &str| {
        json!({ "when": title, "steps": [
            { "turns": 4 }, { "sleep_ms": agent_ms },
            { "write": { "path": path, "text": text } },
            { "usage": { "input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.01 } },
            { "commit": title },
            { "result": { "status": "COMPLETE", "output": format!("{title}: done, in {path}.") } },
        ]})
    };
    // The first time it takes the number 1; later, when the check has complained, one of its own.
    let numbered = |title: &str, path: &str, text: &str, own: u32| {
        let scene = |number: u32, message: &str| {
            // The heading: after a failed landing the prompt names the other task too.
            json!({ "when": format!("# {title}"), "steps": [
                { "turns": 4 }, { "sleep_ms": agent_ms },
                { "write": { "path": path, "text": format!("{number} {text}\n") } },
                { "commit": message },
                { "result": { "status": "COMPLETE", "output": format!("{title}: done, in {path}.") } },
            ]})
        };
        let mut first = scene(1, title);
        first["attempt"] = json!(1);
        [first, scene(own, &format!("Give {path} a number of its own"))]
    };
    let mut scripts: Vec<Value> = vec![
        // First, because the breakdown's prompt names the task that was too large.
        json!({ "when": "submit_breakdown", "steps": [
            { "turns": 6 }, { "sleep_ms": agent_ms },
            { "plan": [
                { "title": "Add the German greeting", "description": "One file." },
                { "title": "Add the Spanish greeting", "description": "One file.", "depends_on": [1] },
            ]},
        ]}),
        work("Set up the greeter", "greetings/README.md", "One file for each language.\n"),
        json!({ "when": "Add the French greeting", "resumed": false, "steps": [
            { "turns": 2 },
            { "ask": { "question": "Should the French greeting be formal?", "options": ["formal", "casual"] } },
        ]}),
        json!({ "when": "Add the French greeting", "resumed": true, "steps": [
            { "read_answer": "The answer (" }, { "turns": 3 },
            { "write": { "path": "greetings/fr.txt", "text": "4 Bonjour! ({{answer}})\n" } },
            { "commit": "Add the French greeting" },
            { "result": { "status": "COMPLETE", "output": "The French greeting is {{answer}}." } },
        ]}),
        json!({ "when": "Add every other language", "steps": [ { "sleep_ms": agent_ms }, { "turns": 60 } ] }),
        work("Add the German greeting", "greetings/de.txt", "5 Hallo!\n"),
        work("Add the Spanish greeting", "greetings/es.txt", "6 ¡Hola!\n"),
        work("Write the tests", "tests/greetings.txt", "every greeting ends with an exclamation mark\n"),
    ];
    // After a review it names the languages; the reviewer may have said so in any words.
    let mut reviewed = work(
        "Write the guide",
        "GUIDE.md",
        "# How to greet\n\nEnglish, Italian, French, German, Spanish: one file each in greetings/.\n",
    );
    reviewed["when"] = json!(["# Write the guide", "The work was rejected:"]);
    reviewed["steps"][4] = json!({ "commit": "Name the languages" });
    scripts.push(reviewed);
    scripts.push(work("Write the guide", "GUIDE.md", "# How to greet\n\nSee greetings/.\n"));
    // Before the others, whose titles its prompt may contain.
    let twins = [
        numbered("Add the English greeting", "greetings/en.txt", "Hello!", 2),
        numbered("Add the Italian greeting", "greetings/it.txt", "Ciao!", 3),
    ];
    scripts.splice(1..1, twins.into_iter().flatten());
    json!({ "scripts": scripts, "otherwise": [{ "crash": { "exit": 1 } }] }).to_string()
}

/// The result in numbers that Baton measured.
pub(crate) async fn summary(engine: &Engine, took: Duration) -> Result<String, CliError> {
    let tasks = engine.workspace.tasks.project_tasks(PROJECT).await?;
    let mut text = String::from("\nEverything is merged:\n\n");
    for task in &tasks {
        let verified = task.ledger().last_end.as_ref().map(|end| &end.verified);
        let (commits, turns) = verified.map_or((0, 0), |verified| (verified.commits, verified.turns));
        let _ = writeln!(
            text,
            "  {}  {:<9} {:<9} in {turns:>2} turns  {}",
            task.id(),
            task.state().queue().as_str(),
            pluralize(u64::from(commits), "commit"),
            task.spec().title
        );
    }
    let _ = writeln!(text, "\n{} tasks, {:.1} s.", tasks.len(), took.as_secs_f64());
    Ok(text)
}
