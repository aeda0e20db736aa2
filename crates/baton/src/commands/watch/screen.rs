//! The layout of the screen: a pure function of the data and the terminal's size.

use std::fmt;

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_engine::reports::view::TaskSummary;
use serde::Serialize;

use crate::context::api::{Api, ListRequest};
use crate::error::CliError;
use crate::output::{ScreenSize, age};

/// The data at one moment.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct WatchSnapshot {
    pub now: Timestamp,
    pub questions: Vec<QuestionRecord>,
    pub running: Vec<TaskSummary>,
    pub to_accept: Vec<TaskSummary>,
    pub failed: Vec<TaskSummary>,
    pub ready: Vec<TaskSummary>,
}

impl WatchSnapshot {
    pub(crate) async fn load(api: &Api, limit: u32) -> Result<Self, CliError> {
        let tasks = |queue: &'static str| async move {
            let list = ListRequest { path: "/api/tasks", name: "tasks", query: &[("queue", queue)] };
            api.list::<TaskSummary>(&list, limit, None).await.map(|(tasks, _)| tasks)
        };
        let pending =
            ListRequest { path: "/api/questions", name: "questions", query: &[("state", "pending")] };
        let ready = ListRequest { path: "/api/tasks/ready", name: "tasks", query: &[] };
        Ok(Self {
            now: api.now().await?,
            questions: api.list(&pending, limit, None).await?.0,
            running: tasks("claimed").await?,
            to_accept: tasks("provisional").await?,
            failed: tasks("failed").await?,
            ready: api.list(&ready, limit, None).await?.0,
        })
    }
}

/// Lines that fit the terminal.
pub(crate) struct WatchScreen {
    lines: Vec<String>,
}

/// Lines per question: its id, and its first line.
const QUESTION_LINES: usize = 2;

impl WatchScreen {
    /// Questions get space first, then running, provisional, failed and ready tasks.
    pub(crate) fn new(snapshot: &WatchSnapshot, size: ScreenSize) -> Self {
        let WatchSnapshot { now, questions, running, to_accept, failed, ready } = snapshot;
        let mut screen = Self { lines: Vec::new() };
        let clock = now.to_string();
        let time = clock.get(11..19).unwrap_or_default();
        screen.push(&format!(
            "baton  {} questions · {} running · {} to accept · {} failed · {} ready   {time} UTC   Ctrl-C quits",
            questions.len(),
            running.len(),
            to_accept.len(),
            failed.len(),
            ready.len()
        ));
        let mut room = size.lines.saturating_sub(1);
        let shown = questions.len().min(room.saturating_sub(2) / QUESTION_LINES);
        if !questions.is_empty() && shown > 0 {
            screen.heading("QUESTIONS   baton answer QUESTION TEXT", &mut room);
            for record in questions.iter().take(shown) {
                let question = &record.question;
                let task = record.task_id.map(|task: TaskId| format!("  {task}")).unwrap_or_default();
                screen.push(&format!("? {}{task}  {}", question.id, age(record.asked_at, *now)));
                screen.push(&format!("    {}", one_line(question.text().as_str())));
                room = room.saturating_sub(QUESTION_LINES);
            }
            screen.rest(questions.len() - shown, &mut room);
        }
        screen.tasks("RUNNING", "▶", running, *now, &mut room);
        screen.tasks("TO ACCEPT   baton accept TASK", "✓", to_accept, *now, &mut room);
        screen.tasks("FAILED   baton task retry TASK", "✗", failed, *now, &mut room);
        screen.tasks("NEXT", "·", ready, *now, &mut room);
        if screen.lines.len() == 1 {
            screen.push("");
            screen.push("No tasks. Add one: baton task add TITLE");
        }
        screen.fit(size)
    }

    fn tasks(&mut self, heading: &str, sign: &str, tasks: &[TaskSummary], now: Timestamp, room: &mut usize) {
        let shown = tasks.len().min(room.saturating_sub(2));
        if shown == 0 {
            return;
        }
        self.heading(heading, room);
        for task in tasks.iter().take(shown) {
            let age = age(task.updated_at, now);
            self.push(&format!("{sign} {}  {age:>6}  {}", task.task_id, one_line(task.title.as_str())));
            *room = room.saturating_sub(1);
        }
        self.rest(tasks.len() - shown, room);
    }

    fn heading(&mut self, text: &str, room: &mut usize) {
        self.push("");
        self.push(text);
        *room = room.saturating_sub(2);
    }

    fn rest(&mut self, count: usize, room: &mut usize) {
        if count > 0 && *room > 0 {
            self.push(&format!("  … and {count} more"));
            *room -= 1;
        }
    }

    fn push(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn fit(mut self, size: ScreenSize) -> Self {
        self.lines.truncate(size.lines);
        for line in &mut self.lines {
            *line = line.chars().take(size.columns).collect();
        }
        self
    }
}

impl fmt::Display for WatchScreen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

/// The first line, without control characters: agents must not send escape sequences to the terminal.
fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::base::priority::Priority;
    use baton_core::base::task_type::TaskType;
    use baton_core::base::text::NonBlank;
    use baton_core::task::state::{QueueName, TaskStatus};

    fn task(bits: u32, title: &str) -> TaskSummary {
        let session: baton_core::base::id::SessionId = "cli".parse().unwrap();
        TaskSummary {
            task_id: TaskId::from_bits(bits),
            task_group_id: session.clone(),
            session_id: session,
            project_id: None,
            title: NonBlank::new(title).unwrap(),
            task_type: TaskType::Implementation,
            priority: Priority::default(),
            status: TaskStatus::Running,
            queue: QueueName::Claimed,
            show_reply_ui: false,
            is_breakdown: false,
            re_breakdown_depth: 0,
            replaces_task_id: None,
            too_large: None,
            needs_review: Vec::new(),
            held_because: None,
            start_at: None,
            waits_until: None,
            question: None,
            created_at: Timestamp::from_ms(0),
            updated_at: Timestamp::from_ms(0),
            version: 1,
        }
    }

    fn snapshot() -> WatchSnapshot {
        WatchSnapshot {
            now: Timestamp::from_ms(90_000),
            questions: Vec::new(),
            running: vec![task(1, "Serve\x1b[31m it"), task(2, "Fix it")],
            to_accept: Vec::new(),
            failed: Vec::new(),
            ready: (3..20).map(|bits| task(bits, "Next")).collect(),
        }
    }

    #[test]
    fn everything_fits_any_size() {
        for lines in 0..40 {
            for columns in [0, 1, 20, 200] {
                let drawn = WatchScreen::new(&snapshot(), ScreenSize { columns, lines });
                assert!(drawn.lines.len() <= lines);
                assert!(drawn.lines.iter().all(|line| line.chars().count() <= columns));
            }
        }
    }

    #[test]
    fn the_screen_as_a_whole() {
        let drawn = WatchScreen::new(&snapshot(), ScreenSize { columns: 60, lines: 12 }).to_string();
        insta::assert_snapshot!(drawn, @r"
        baton  0 questions · 2 running · 0 to accept · 0 failed · 17

        RUNNING
        ▶ TASK-00000001   1 min  Serve [31m it
        ▶ TASK-00000002   1 min  Fix it

        NEXT
        · TASK-00000003   1 min  Next
        · TASK-00000004   1 min  Next
        · TASK-00000005   1 min  Next
        · TASK-00000006   1 min  Next
        · TASK-00000007   1 min  Next
        ");
    }
}
