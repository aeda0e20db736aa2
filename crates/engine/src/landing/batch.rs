//! A batch: the first candidates of a lane, merged on the tip of its branch.

use std::fmt::Write;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use baton_core::task::state::TaskState;

use crate::base::error::EngineError;
use crate::git::{MergeSpec, Stacked, Worktrees, brings_in_line};
use crate::landing::acceptor::verified_head;
use crate::projects::trunk::BranchTip;

/// Where a branch has its own settings and the definitions of its checks.
const RULES: &str = ".agent";

/// A task whose work is ready to be merged.
pub(crate) struct LandingCandidate {
    pub task: Task,
    pub spec: MergeSpec,
}

/// What can be said about a lane's candidates before anything is checked.
pub(crate) struct Batch {
    /// Where the branch stands.
    pub tip: CommitId,
    /// What everything is merged on: the tip, or the person's own branch where that is ahead of it.
    pub ground: BranchTip,
    /// The tree of the ground.
    pub tree: CommitId,
    /// What is checked together, in order, each with the tree after it.
    pub members: Vec<(LandingCandidate, CommitId)>,
    /// Already in the branch.
    pub merged: Vec<Task>,
    /// Cannot be merged with what is in the branch.
    pub conflicts: Vec<(LandingCandidate, Vec<String>)>,
    /// Cannot be merged with a member: they wait for the next batch.
    pub later: Vec<(LandingCandidate, Vec<String>)>,
    /// It ends before its time, because the rest is judged by rules that a member brings.
    pub is_cut: bool,
    /// The branch of the task does not lead to what was verified.
    pub moved: Vec<(Task, CommitId, CommitId)>,
}

impl Batch {
    /// Merges the candidates in this order.
    pub(crate) async fn build(
        worktrees: &Worktrees,
        into: &BranchName,
        tip: CommitId,
        ground: BranchTip,
        tasks: impl IntoIterator<Item = Task>,
    ) -> Result<Self, EngineError> {
        let tree = worktrees.tree_of(&ground.commit).await?;
        let mut batch = Self {
            tip,
            ground,
            tree,
            members: Vec::new(),
            merged: Vec::new(),
            conflicts: Vec::new(),
            later: Vec::new(),
            is_cut: false,
            moved: Vec::new(),
        };
        let mut candidates = Vec::new();
        for task in tasks {
            candidates.extend(batch.candidate(worktrees, into, task).await?);
        }
        let specs: Vec<MergeSpec> = candidates.iter().map(|candidate| candidate.spec.clone()).collect();
        let stack = worktrees.stack(&batch.tip, &batch.ground.commit, &specs).await?;
        for (candidate, stacked) in candidates.into_iter().zip(stack) {
            match stacked {
                Stacked::Already => batch.merged.push(candidate.task),
                Stacked::Merged { tree } => batch.members.push((candidate, tree)),
                Stacked::Conflict { files, is_with_ground } => {
                    let files = files.iter().map(|file| file.display().to_string()).collect();
                    let among = if is_with_ground { &mut batch.conflicts } else { &mut batch.later };
                    among.push((candidate, files));
                }
            }
        }
        Ok(batch)
    }

    /// None if the task's branch has moved, or there is none: then there is nothing to merge.
    async fn candidate(
        &mut self,
        worktrees: &Worktrees,
        into: &BranchName,
        task: Task,
    ) -> Result<Option<LandingCandidate>, EngineError> {
        let branch = BranchName::for_task(task.id());
        let tip = worktrees.repository().tip(&branch).await?;
        let head = match (verified_head(&task).cloned(), tip) {
            (Some(verified), Some(tip)) if verified != tip => {
                self.moved.push((task, verified, tip));
                return Ok(None);
            }
            (Some(head), _) | (None, Some(head)) => head,
            (None, None) => {
                self.merged.push(task);
                return Ok(None);
            }
        };
        let message = format!("Merge {}: {}", task.id(), task.spec().title);
        let spec = MergeSpec { branch, head: Some(head), into: into.clone(), message };
        Ok(Some(LandingCandidate { task, spec }))
    }

    /// Leaves out whatever follows a member that changes what the branch's own rules are in: the new rules are for those.
    pub(crate) async fn end_at_new_rules(&mut self, worktrees: &Worktrees) -> Result<(), EngineError> {
        let repository = worktrees.repository();
        let before = repository.entry_at(&self.tree, RULES).await?;
        let mut members = 0;
        for (_, tree) in &self.members {
            members += 1;
            if repository.entry_at(tree, RULES).await? != before {
                break;
            }
        }
        self.is_cut = members < self.members.len();
        self.members.truncate(members);
        Ok(())
    }

    /// The tasks of the members, in order.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.members.iter().map(|(candidate, _)| &candidate.task)
    }

    /// The trees of all prefixes, that of the ground first.
    pub(crate) fn trees(&self) -> Vec<CommitId> {
        [&self.tree].into_iter().chain(self.members.iter().map(|(_, tree)| tree)).cloned().collect()
    }

    pub(crate) fn ids(&self, prefix: usize) -> Vec<TaskId> {
        self.members.iter().take(prefix).map(|(candidate, _)| candidate.task.id()).collect()
    }

    /// Whether commits of the person's own come in with the work.
    pub(crate) fn brings_in(&self) -> bool {
        self.ground.commit != self.tip
    }

    /// The commit the branch is to move to for this prefix; the ground itself for none.
    pub(crate) async fn commit(&self, worktrees: &Worktrees, prefix: usize) -> Result<CommitId, EngineError> {
        let Some((_, tree)) = prefix.checked_sub(1).and_then(|last| self.members.get(last)) else {
            return Ok(self.ground.commit.clone());
        };
        let members = || self.members.iter().take(prefix).map(|(candidate, _)| candidate);
        let specs: Vec<&MergeSpec> = members().map(|candidate| &candidate.spec).collect();
        let at = members().map(|candidate| accepted_at(&candidate.task)).max();
        let at = at.unwrap_or(Timestamp::from_ms(0));
        let mut text = message(&specs);
        let mut parents = vec![&self.tip];
        if self.brings_in() {
            let _ = write!(text, "\n\n{}", brings_in_line(&self.ground.branch, &self.ground.commit));
            parents.push(&self.ground.commit);
        }
        parents.extend(specs.iter().filter_map(|spec| spec.head.as_ref()));
        Ok(worktrees.join_all(&text, at, tree, &parents).await?)
    }
}

/// When the work was accepted; for work that is only tried, when it was finished.
fn accepted_at(task: &Task) -> Timestamp {
    match task.state() {
        TaskState::Landing(entry) => entry.since,
        _ => task.updated_at(),
    }
}

/// One line for one task; a headline and a line for each of several.
fn message(specs: &[&MergeSpec]) -> String {
    match specs {
        [only] => only.message.clone(),
        several => {
            let lines: Vec<&str> = several.iter().map(|spec| spec.message.as_str()).collect();
            format!("Merge {} tasks\n\n{}", several.len(), lines.join("\n"))
        }
    }
}
