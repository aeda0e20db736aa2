//! `baton project …`, `baton plan`

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use baton_core::base::words::pluralize;
use baton_engine::reports::project_report::{Effort, ProjectProgress, TaskLine};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cli::projects::{ConcurrencyLimit, PlanArgs, ProjectCommand};
use crate::commands::import::project_id;
use crate::commands::landing::LandedBranch;
use crate::context::api::{Api, ListRequest};
use crate::error::CliError;
use crate::output;

#[derive(Debug, Serialize, Deserialize)]
struct ProjectResponse {
    #[serde(rename = "project_id")]
    id: String,
    title: String,
    #[serde(default)]
    description: String,
    path: String,
    base_branch: String,
    /// Where accepted work is merged.
    branch: String,
    remote: Option<String>,
    completed_at: Option<String>,
    #[serde(default)]
    at_once_max: Option<u32>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ProjectReportResponse {
    project: ProjectResponse,
    progress: ProjectProgress,
    effort: Effort,
    tasks: Vec<TaskLine>,
}

pub(crate) async fn run(api: &Api, command: ProjectCommand) -> Result<String, CliError> {
    match command {
        ProjectCommand::Create { title, path, remote, description, base, feature, at_once } => {
            let path = match path {
                None if remote.is_some() => PathBuf::new(),
                Some(path) => std::path::absolute(&path).unwrap_or(path),
                None => api.place.root.clone(),
            };
            let Some(path) = path.to_str() else {
                return Err(CliError::usage(
                    format!("the path {} is not UTF-8, and cannot be recorded", path.display()),
                    "rename the folder",
                ));
            };
            let new = json!({
                "path": path,
                "remote": remote,
                "title": title,
                "description": description,
                "base_branch": base,
                "feature": feature,
                "at_once_max": at_once,
            });
            let project: ProjectResponse = api.post("/api/projects", &new).await?;
            if api.is_json {
                return output::json(&project);
            }
            let id = &project.id;
            Ok(format!(
                "Created {id}: {}. Its work is merged into {}.\n\n\
                 Next:\n  baton task add TITLE --project {id}  add a task\n  \
                 baton plan GOAL.md --project {id}    or plan a goal\n  \
                 baton project show {id}              show progress\n",
                project.title, project.branch
            ))
        }
        ProjectCommand::List => {
            let list = ListRequest { path: "/api/projects", name: "projects", query: &[] };
            let (projects, _): (Vec<ProjectResponse>, _) = api.list(&list, u32::MAX, None).await?;
            if api.is_json {
                return output::json(&json!({ "projects": projects }));
            }
            if projects.is_empty() {
                return Ok("No projects. Create one: baton project create TITLE\n".to_owned());
            }
            let rows: Vec<[String; 4]> = projects
                .into_iter()
                .map(|project| {
                    let state = if project.completed_at.is_some() { "complete" } else { "open" };
                    [project.id, state.to_owned(), project.branch, project.title]
                })
                .collect();
            Ok(output::table(["PROJECT", "STATE", "BRANCH", "TITLE"], &rows))
        }
        ProjectCommand::Show { project } => {
            let id = project_id(&project)?;
            let report: ProjectReportResponse = api.get(&format!("/api/projects/{id}/report")).await?;
            if api.is_json { output::json(&report) } else { Ok(render(&report)) }
        }
        ProjectCommand::Limit { project, at_once: ConcurrencyLimit(max) } => {
            let id = project_id(&project)?;
            let project: ProjectResponse =
                api.patch(&format!("/api/projects/{id}"), &json!({ "at_once_max": max })).await?;
            if api.is_json {
                return output::json(&project);
            }
            Ok(match max {
                Some(max) => {
                    format!("{} runs at most {} at once.\n", project.id, pluralize(u64::from(max), "task"))
                }
                None => format!("{} uses the limit from the settings.\n", project.id),
            })
        }
        ProjectCommand::Complete { project } => {
            let id = project_id(&project)?;
            let report: ProjectReportResponse =
                api.post(&format!("/api/projects/{id}/complete"), &json!({})).await?;
            if api.is_json { output::json(&report) } else { Ok(render_completed(&report)) }
        }
    }
}

fn render(report: &ProjectReportResponse) -> String {
    let ProjectReportResponse { project, progress, effort, tasks } = report;
    let mut text = format!("{}  {}\n", project.id, project.title);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", project.path);
    let _ = if project.branch == project.base_branch {
        writeln!(text, "{}", project.branch)
    } else {
        writeln!(text, "{}, from {}", project.branch, project.base_branch)
    };
    if let Some(max) = project.at_once_max {
        let _ = writeln!(text, "at most {max} tasks at once");
    }
    let _ = writeln!(text, "\n{}", bar(progress));
    let _ = writeln!(text, "{}", counts(progress));
    let _ = writeln!(text, "{}", effort_line(effort));
    if !tasks.is_empty() {
        let rows: Vec<[String; 4]> = tasks
            .iter()
            .map(|task| {
                let attempts = task.attempts.len().to_string();
                [
                    task.task_id.to_string(),
                    task.queue.label(task.status).to_owned(),
                    attempts,
                    task.title.to_string(),
                ]
            })
            .collect();
        text.push('\n');
        text.push_str(&output::table(["TASK", "STATE", "ATTEMPTS", "TITLE"], &rows));
    }
    if let Some(at) = &project.completed_at {
        let _ = writeln!(text, "\nCompleted {at}.");
    } else if progress.to_accept > 0 {
        text.push_str("\nReview and accept finished work: baton task diff TASK, baton accept TASK\n");
    } else if progress.is_complete {
        let _ = writeln!(text, "\nAll tasks are done. Complete it: baton project complete {}", project.id);
    }
    text
}

fn render_completed(report: &ProjectReportResponse) -> String {
    let ProjectReportResponse { project, progress, effort, .. } = report;
    let mut text = format!(
        "{} is complete: {}\n\n{}\n{}\n",
        project.id,
        project.title,
        counts(progress),
        effort_line(effort)
    );
    let landing = LandedBranch { branch: project.branch.clone(), remote: project.remote.clone() };
    let _ = writeln!(text, "\n{}", landing.sentence());
    text
}

/// Width of the progress bar.
const BAR_CELLS: u64 = 30;

fn bar(progress: &ProjectProgress) -> String {
    let (settled, total) = progress.settled();
    let filled = (settled * BAR_CELLS).checked_div(total).unwrap_or_default();
    let cells: String = (0..BAR_CELLS).map(|cell| if cell < filled { '█' } else { '░' }).collect();
    format!("{cells}  {settled} of {total}")
}

fn counts(progress: &ProjectProgress) -> String {
    let named = [
        (progress.done, "done"),
        (progress.to_accept, "to accept"),
        (progress.asking, "waiting for your answer"),
        (progress.running, "running"),
        (progress.queued, "queued"),
        (progress.recycled - progress.replaced, "to break down"),
        (progress.replaced, "broken down"),
        (progress.failed, "failed"),
        (progress.cancelled, "cancelled"),
    ];
    let parts: Vec<String> =
        named.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    if parts.is_empty() { "no tasks yet".to_owned() } else { parts.join(", ") }
}

fn effort_line(effort: &Effort) -> String {
    let minutes = effort.worked_ms / 60_000;
    let time = if minutes == 0 { format!("{} s", effort.worked_ms / 1000) } else { format!("{minutes} min") };
    let dollars = effort.cost_micro_usd / 1_000_000;
    let cents = effort.cost_micro_usd % 1_000_000 / 10_000;
    format!(
        "{}, {} (+{} −{}), {}, {time} of work, ${dollars}.{cents:02}",
        pluralize(effort.attempts, "attempt"),
        pluralize(effort.commits, "commit"),
        effort.insertions,
        effort.deletions,
        pluralize(effort.turns, "turn")
    )
}

/// Makes a breakdown of a goal: an agent plans it, a person approves the plan.
pub(crate) async fn plan(api: &Api, args: PlanArgs) -> Result<String, CliError> {
    let goal = read_goal(&args.goal)?;
    let title = title_of(&goal).ok_or_else(|| {
        CliError::usage("the goal is blank".to_owned(), "describe the goal; the first line is its title")
    })?;
    let project = args.project.as_deref().map(project_id).transpose()?;
    let new = json!({ "title": title, "description": goal, "project_id": project, "run": !args.hold });
    let made: Value = api.post("/api/breakdowns", &new).await?;
    if api.is_json {
        return output::json(&made);
    }
    let id = made["breakdown"]["task_id"].as_str().unwrap_or_default();
    let next = if args.hold {
        format!("  baton breakdown run {id}      have an agent plan it\n")
    } else if api.is_served() {
        "An agent is planning it.\n".to_owned()
    } else {
        "  baton up                             start an agent to plan it\n".to_owned()
    };
    Ok(format!(
        "Created {id}: {title}\n\n{next}  baton breakdown show {id}     read the plan\n  baton breakdown approve {id}  create its tasks\n"
    ))
}

/// Longest accepted goal.
const GOAL_BYTES_MAX: u64 = 1024 * 1024;

fn read_goal(path: &Path) -> Result<String, CliError> {
    let failed = |error: std::io::Error| {
        CliError::usage(
            format!("cannot read {}: {error}", path.display()),
            "name a Markdown file, or - for standard input",
        )
    };
    let mut goal = String::new();
    let size = if path == Path::new("-") {
        std::io::stdin().take(GOAL_BYTES_MAX + 1).read_to_string(&mut goal).map_err(failed)?
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(GOAL_BYTES_MAX + 1).read_to_string(&mut goal).map_err(failed)?
    };
    if size as u64 > GOAL_BYTES_MAX {
        return Err(CliError::usage(
            "the goal is longer than 1 MiB".to_owned(),
            "move details into files of the repository and refer to them",
        ));
    }
    Ok(goal)
}

/// The first line that is not blank, without heading marks.
fn title_of(goal: &str) -> Option<String> {
    let line = goal.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty())?;
    Some(line.chars().take(120).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_titled_by_its_first_line() {
        assert_eq!(title_of("\n\n# Share links\n\nSo that …").as_deref(), Some("Share links"));
        assert_eq!(title_of(" \n#\n"), None);
    }

    #[test]
    fn the_bar_shows_the_settled_part() {
        let progress = ProjectProgress { total: 4, done: 2, queued: 2, ..ProjectProgress::default() };
        assert_eq!(bar(&progress), "███████████████░░░░░░░░░░░░░░░  2 of 4");
        assert_eq!(counts(&progress), "2 done, 2 queued");
        assert_eq!(bar(&ProjectProgress::default()), "░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  0 of 0");
    }
}
