//! What became of each task that was to be accepted.

use std::fmt::Write;

use baton_core::base::id::TaskId;
use baton_core::recycle::RecycleReason;
use baton_engine::reports::view::TaskSummary;
use serde_json::json;

use crate::commands::landing::LandedBranch;
use crate::commands::lanes::LaneEnd;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

#[derive(Default)]
pub(super) struct AcceptReport {
    pub(crate) accepted: Vec<(TaskSummary, Option<LandedBranch>)>,
    pub(crate) conflicted: Vec<(TaskSummary, Vec<String>)>,
    pub(crate) recycled: Vec<TaskSummary>,
    pub(crate) burned: Vec<TaskSummary>,
    /// A person has to look at these first.
    pub(crate) left_out: Vec<TaskSummary>,
    /// Accepted, and not landed: they wait, or were sent back.
    pub(crate) not_landed: Vec<(TaskSummary, LaneEnd)>,
    /// Not accepted, and why.
    pub(crate) refused: Vec<(TaskId, CliError)>,
}

impl AcceptReport {
    /// What a script has to know: not all of it was accepted and landed, or is on its way.
    pub(super) fn failure(&self) -> Option<CliError> {
        let back = self.sent_back().filter(|(_, end)| matches!(end, LaneEnd::SentBack { .. }));
        let back = back.map(|(task, _)| task).chain(self.conflicted.iter().map(|(task, _)| task));
        let left = self.sent_back().filter(|(_, end)| matches!(end, LaneEnd::Left { .. }));
        let ids = |tasks: Vec<&TaskSummary>| tasks.iter().map(|task| task.task_id.to_string()).collect();
        let (back, left): (Vec<String>, Vec<String>) =
            (ids(back.collect()), ids(left.map(|(task, _)| task).collect()));
        if let Some(first) = back.first().or(left.first()) {
            // Somebody decided otherwise about these; no agent has them back.
            let kinds = [("sent back", &back), ("not landed", &left)];
            let kinds = kinds.into_iter().filter(|(_, tasks)| !tasks.is_empty());
            let kinds: Vec<String> =
                kinds.map(|(what, tasks)| format!("{what}: {}", tasks.join(", "))).collect();
            return Some(CliError::failed(kinds.join("; "), format!("see why: baton task show {first}")));
        }
        let (_, first) = self.refused.first()?;
        let lines: Vec<String> =
            self.refused.iter().map(|(id, why)| format!("{id}: {}", why.message)).collect();
        Some(CliError {
            message: format!("not accepted: {}", lines.join("\n")),
            hint: first.hint.clone(),
            code: first.code,
            reason: first.reason.clone(),
        })
    }

    fn sent_back(&self) -> impl Iterator<Item = &(TaskSummary, LaneEnd)> {
        self.not_landed
            .iter()
            .filter(|(_, end)| matches!(end, LaneEnd::SentBack { .. } | LaneEnd::Left { .. }))
    }

    pub(super) fn print(&self, api: &Api) -> Result<String, CliError> {
        let ids = |tasks: &[TaskSummary]| tasks.iter().map(|task| task.task_id).collect::<Vec<TaskId>>();
        if api.is_json {
            let conflicted: Vec<_> = self
                .conflicted
                .iter()
                .map(|(task, files)| (task.task_id, files))
                .chain(self.sent_back().filter_map(|(task, end)| Some((task.task_id, end.conflicts()?))))
                .map(|(task, files)| json!({ "task_id": task, "files": files }))
                .collect();
            let landed: Vec<_> = self
                .accepted
                .iter()
                .filter_map(|(task, landing)| Some((task.task_id, landing.as_ref()?)))
                .map(|(id, landing)| json!({ "task_id": id, "branch": landing.branch, "remote": landing.remote }))
                .collect();
            return output::json(&json!({
                "accepted": self.accepted.iter().map(|(task, _)| task.task_id).collect::<Vec<_>>(),
                "landed": landed,
                "conflicted": conflicted,
                "recycled": ids(&self.recycled),
                "burned_out": ids(&self.burned),
                "left_out": ids(&self.left_out),
                "waiting": self
                    .not_landed
                    .iter()
                    .filter(|(_, end)| end.is_waiting())
                    .map(|(task, end)| end.json(task.task_id))
                    .collect::<Vec<_>>(),
                "sent_back": self.sent_back().map(|(task, end)| end.json(task.task_id)).collect::<Vec<_>>(),
            }));
        }
        let mut text = String::new();
        for (task, landing) in &self.accepted {
            let word = if landing.is_some() { "landed" } else { "accepted" };
            let _ = writeln!(text, "{}  {word}  {}", task.task_id, task.title);
        }
        for (task, end) in &self.not_landed {
            let _ = writeln!(text, "{}  {}", task.task_id, end.sentence().unwrap_or_default());
        }
        for (task, files) in &self.conflicted {
            let _ = writeln!(text, "{}  sent back: conflicts in {}", task.task_id, files.join(", "));
        }
        for task in &self.recycled {
            let _ = writeln!(text, "{}  recycled  {}", task.task_id, task.title);
        }
        for task in &self.left_out {
            let (id, why) = (task.task_id, task.reasons_to_look().join("; "));
            let _ = writeln!(text, "{id}  left out: {why}. Look at it: baton task diff {id}");
        }
        if !self.burned.is_empty() {
            let (burned, others): (Vec<_>, Vec<_>) =
                self.burned.iter().partition(|task| task.too_large == Some(RecycleReason::TooLarge));
            let what = [
                (burned, "burned out (0 commits, max turns)"),
                (others, "did not converge (tried too often without being accepted)"),
            ];
            for (tasks, what) in what.into_iter().filter(|(tasks, _)| !tasks.is_empty()) {
                let _ = writeln!(text, "\n⚠ {} task(s) {what}:", tasks.len());
                for task in tasks {
                    let project = task.project_id.map_or_else(|| "none".to_owned(), |id| id.to_string());
                    let _ = writeln!(text, "  {}: {} (project: {project})", task.task_id, task.title);
                }
            }
            text.push_str("\nOptions:\n  baton accept --all --force     accept them anyway\n");
            text.push_str("  baton accept --all --recycle   break them down\n");
        }
        if text.is_empty() && self.refused.is_empty() {
            text.push_str("Nothing to accept.\n");
        }
        Ok(text)
    }
}
