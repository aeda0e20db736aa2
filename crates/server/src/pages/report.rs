//! A project report as one self-contained HTML file: tasks, agents, evidence, cost, timeline. It loads nothing and runs no
//! script, so it can be mailed and archived.

use baton_core::base::time::Timestamp;
use baton_core::task::state::QueueName;
use baton_engine::reports::project_report::{AttemptLine, Effort, ProjectReport, TaskLine};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Width of the timeline in SVG units.
const WIDTH: i64 = 1000;
/// Height of one task's row.
const ROW: usize = 22;
/// Rows drawn at most.
const ROWS_MAX: usize = 200;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --line: #d9dce1; --paper: #fff; --good: #18794e; --bad: #b3261e; --bar: #3e63dd }
@media (prefers-color-scheme: dark) { :root { --ink: #edeef0; --soft: #b0b4ba; --line: #363a3f; --paper: #111113; --good: #3dd68c; --bad: #ff9592; --bar: #9eb1ff } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { margin-bottom: 0 } .soft { color: var(--soft) } h2 { margin-top: 2.5rem }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem } dt { color: var(--soft) } dd { margin: 0; font-size: 1.4rem }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
th { color: var(--soft); font-weight: 500 } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } code { font-size: .9em }
.good { color: var(--good) } .bad { color: var(--bad) } svg { width: 100%; height: auto } svg rect { fill: var(--bar) } svg text { fill: var(--ink); font: 12px system-ui } svg line { stroke: var(--line) }
@media print { body { margin: 0; max-width: none } }
";

pub fn page(report: &ProjectReport, now: Timestamp) -> String {
    let ProjectReport { project, progress, effort, tasks } = report;
    let state = if let Some(at) = project.completed_at {
        format!("complete since {}", day(at))
    } else {
        let (settled, total) = progress.settled();
        format!("{settled} of {total} tasks finished")
    };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (project.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (project.title) }
                p.soft { (project.id) " · " (state) " · generated " (day(now)) }
                @if !project.description.trim().is_empty() { p { (project.description) } }
                p { "Branch " code { (project.branch()) } ", from " code { (project.base_branch) } " of " code { (project.path) } }
                h2 { "Effort" }
                (sums(effort))
                h2 { "Timeline" }
                (timeline(tasks, now))
                h2 { "Tasks" }
                (table(tasks))
            }
        }
    };
    markup.into_string()
}

fn sums(effort: &Effort) -> Markup {
    let facts = [
        ("Attempts", effort.attempts.to_string()),
        ("Commits", effort.commits.to_string()),
        ("Lines", format!("+{} −{}", effort.insertions, effort.deletions)),
        ("Turns", effort.turns.to_string()),
        ("Tokens", format!("{} in, {} out", effort.input_tokens, effort.output_tokens)),
        ("Cost", dollars(effort.cost_micro_usd)),
        ("Agent time", span(effort.worked_ms)),
    ];
    html! {
        dl {
            @for (name, value) in facts {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// One row per task, one bar per attempt.
fn timeline(tasks: &[TaskLine], now: Timestamp) -> Markup {
    let rows: Vec<&TaskLine> = tasks.iter().filter(|task| !task.attempts.is_empty()).collect();
    let starts = rows.iter().flat_map(|task| &task.attempts).map(|attempt| attempt.started_at.ms());
    let Some(first) = starts.min() else {
        return html! { p.soft { "No attempts." } };
    };
    let ends =
        rows.iter().flat_map(|task| &task.attempts).map(|attempt| attempt.ended_at.unwrap_or(now).ms());
    let length = (ends.max().unwrap_or(first) - first).max(1);
    let place = |at: Timestamp| (at.ms() - first).max(0) * WIDTH / length;
    let height = rows.len().min(ROWS_MAX) * ROW;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="When each task was worked on" {
            @for (row, task) in rows.iter().take(ROWS_MAX).enumerate() {
                @let top = row * ROW;
                line x1="0" x2=(WIDTH) y1=(top + ROW - 1) y2=(top + ROW - 1) {}
                @for attempt in &task.attempts {
                    @let (from, to) = (place(attempt.started_at), place(attempt.ended_at.unwrap_or(now)));
                    rect x=(from) y=(top + 3) width=((to - from).max(2)) height=(ROW - 7) opacity="0.35" {
                        title { (task.title) ": " (attempt.agent) ", " (span(attempt.effort.worked_ms)) }
                    }
                }
                text x="4" y=(top + 15) { (task.title) }
            }
        }
        @if rows.len() > ROWS_MAX { p.soft { "and " (rows.len() - ROWS_MAX) " more tasks" } }
        p.soft { (day(Timestamp::from_ms(first))) " to " (day(Timestamp::from_ms(first + length))) }
    }
}

fn table(tasks: &[TaskLine]) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th { "Task" } th { "State" } th { "Agents" } th.n { "Commits" } th.n { "Turns" } th { "Checks" }
                    th.n { "Cost" } th { "Accepted by" }
                }
            }
            tbody { @for task in tasks { (row(task)) } }
        }
    }
}

fn row(task: &TaskLine) -> Markup {
    let effort: Effort = task.attempts.iter().map(|attempt| attempt.effort).collect();
    let mut agents: Vec<String> = task.attempts.iter().map(|attempt| attempt.agent.to_string()).collect();
    agents.dedup();
    html! {
        tr {
            td { (task.title) br; code.soft { (task.task_id) } }
            td { (state(task.queue)) }
            td { (agents.join(", ")) @if task.attempts.len() > 1 { " (" (task.attempts.len()) " attempts)" } }
            td.n { (effort.commits) }
            td.n { (effort.turns) }
            td { (checks(task.attempts.last())) }
            td.n { (dollars(effort.cost_micro_usd)) }
            td { @if let Some(actor) = &task.accepted_by { (actor) } }
        }
    }
}

/// Text and sign; nothing depends on colour alone.
fn state(queue: QueueName) -> Markup {
    match queue {
        QueueName::Done => html! { span.good { "✓ done" } },
        QueueName::Failed | QueueName::Rejected => html! { span.bad { "✗ " (queue.as_str()) } },
        QueueName::Incoming
        | QueueName::Breakdown
        | QueueName::Claimed
        | QueueName::NeedsContinuation
        | QueueName::Escalated
        | QueueName::Provisional
        | QueueName::Landing
        | QueueName::Recycled => html! { "· " (queue.as_str().replace('_', " ")) },
    }
}

fn checks(last: Option<&AttemptLine>) -> Markup {
    html! {
        @for (name, code) in last.into_iter().flat_map(|attempt| &attempt.checks) {
            @if *code == 0 { span.good { "✓ " (name) } } @else { span.bad { "✗ " (name) " (" (code) ")" } } " "
        }
    }
}

fn dollars(micro: u64) -> String {
    format!("${}.{:02}", micro / 1_000_000, micro % 1_000_000 / 10_000)
}

fn span(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Date and time, to the minute.
fn day(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} {} UTC", text.get(..10).unwrap_or_default(), text.get(11..16).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::base::id::{ProjectId, TaskId};
    use baton_core::base::text::NonBlank;
    use baton_core::records::project::Project;
    use baton_core::task::state::TaskStatus;
    use baton_engine::reports::project_report::ProjectProgress;

    #[test]
    fn agent_text_is_escaped() {
        let hostile = "<script>alert(1)</script>";
        let task = TaskLine {
            task_id: TaskId::from_bits(1),
            title: NonBlank::new(hostile).unwrap(),
            queue: QueueName::Done,
            status: TaskStatus::Complete,
            accepted_by: None,
            created_at: Timestamp::from_ms(0),
            updated_at: Timestamp::from_ms(0),
            attempts: vec![AttemptLine {
                attempt_id: baton_core::base::id::AttemptId::from_bits(1),
                agent: "goose".parse().unwrap(),
                started_at: Timestamp::from_ms(1_000),
                ended_at: None,
                end: "running".to_owned(),
                effort: Effort { attempts: 1, cost_micro_usd: 1_234_567, ..Effort::default() },
                checks: vec![("test".to_owned(), 1)],
            }],
        };
        let report = ProjectReport {
            project: Project {
                id: ProjectId::from_bits(1),
                title: NonBlank::new(hostile).unwrap(),
                description: hostile.to_owned(),
                path: "/src".to_owned(),
                base_branch: "main".parse().unwrap(),
                feature_branch: None,
                remote: None,
                at_once_max: None,
                created_at: Timestamp::from_ms(0),
                completed_at: None,
            },
            progress: ProjectProgress { total: 1, done: 1, ..ProjectProgress::default() },
            effort: Effort::default(),
            tasks: vec![task],
        };
        let page = page(&report, Timestamp::from_ms(61_000));
        assert!(!page.contains("<script"), "{page}");
        for said in ["&lt;script&gt;", "✓ done", "✗ test (1)", "$1.23", "goose"] {
            assert!(page.contains(said), "{said}\n{page}");
        }
    }
}
