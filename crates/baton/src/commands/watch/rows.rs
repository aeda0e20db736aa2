//! The list: what waits for you, what runs, what lands, what comes next.

use std::collections::BTreeSet;

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{QuestionId, TaskId};
use baton_engine::reports::standstill::{Standstill, StandstillReason};
use baton_engine::reports::view::TaskSummary;

use crate::commands::watch::snapshot::WatchSnapshot;
use crate::output::age;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    ForYou,
    Running,
    Landing,
    Next,
}

impl Section {
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Self::ForYou => "For you",
            Self::Running => "Running",
            Self::Landing => "Landing",
            Self::Next => "Next",
        }
    }
}

/// What one row is about, and so what can be done with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RowKind {
    Question(Box<QuestionRecord>),
    Review,
    Plan,
    Failed,
    Standstill(StandstillReason),
    Running,
    Landing,
    Ready,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WatchRow {
    pub(crate) kind: RowKind,
    /// None for a project that stands still, or a question of a loop.
    pub(crate) task: Option<TaskId>,
    pub(crate) title: String,
    /// How old it is, or why it waits.
    pub(crate) note: String,
}

/// Tells a row again after the data has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WatchRowKey {
    Question(QuestionId),
    Task(TaskId),
    Title(String),
}

impl WatchRow {
    pub(crate) const fn section(&self) -> Section {
        match self.kind {
            RowKind::Question(_)
            | RowKind::Review
            | RowKind::Plan
            | RowKind::Failed
            | RowKind::Standstill(_) => Section::ForYou,
            RowKind::Running => Section::Running,
            RowKind::Landing => Section::Landing,
            RowKind::Ready => Section::Next,
        }
    }

    pub(crate) fn key(&self) -> WatchRowKey {
        match (&self.kind, self.task) {
            (RowKind::Question(record), _) => WatchRowKey::Question(record.question.id),
            (_, Some(task)) => WatchRowKey::Task(task),
            (_, None) => WatchRowKey::Title(self.title.clone()),
        }
    }

    pub(crate) const fn sign(&self) -> &'static str {
        match self.kind {
            RowKind::Question(_) => "?",
            RowKind::Review => "✓",
            RowKind::Plan => "≡",
            RowKind::Failed => "✗",
            RowKind::Standstill(_) => "‖",
            RowKind::Running => "▶",
            RowKind::Landing => "⇣",
            RowKind::Ready => "·",
        }
    }
}

/// All rows in the order they are shown. What needs a person comes first; nothing is listed twice.
pub(crate) fn rows(snapshot: &WatchSnapshot) -> Vec<WatchRow> {
    let now = snapshot.now;
    let of_task = |kind: RowKind, task: &TaskSummary| WatchRow {
        kind,
        task: Some(task.task_id),
        title: one_line(task.title.as_str()),
        note: age(task.updated_at, now),
    };
    let mut rows: Vec<WatchRow> = snapshot
        .questions
        .iter()
        .map(|record| WatchRow {
            kind: RowKind::Question(Box::new(record.clone())),
            task: record.task_id,
            title: one_line(record.question.text().as_str()),
            note: age(record.asked_at, now),
        })
        .collect();
    for task in &snapshot.to_accept {
        rows.push(of_task(if task.is_breakdown { RowKind::Plan } else { RowKind::Review }, task));
    }
    rows.extend(snapshot.failed.iter().map(|task| of_task(RowKind::Failed, task)));
    let listed: BTreeSet<TaskId> = rows.iter().filter_map(|row| row.task).collect();
    let is_new = |standstill: &&Standstill| standstill.task_id.is_none_or(|task| !listed.contains(&task));
    rows.extend(snapshot.standstills.iter().filter(is_new).map(|standstill| WatchRow {
        kind: RowKind::Standstill(standstill.reason),
        task: standstill.task_id,
        title: one_line(standstill.title.as_str()),
        note: one_line(&standstill.message),
    }));
    rows.extend(snapshot.running.iter().map(|task| of_task(RowKind::Running, task)));
    rows.extend(snapshot.landing.iter().map(|task| of_task(RowKind::Landing, task)));
    rows.extend(snapshot.ready.iter().map(|task| of_task(RowKind::Ready, task)));
    rows
}

/// The first line that says something.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
