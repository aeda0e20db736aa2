//! Which tasks and which of the person's commits a candidate met on its way: those that are in the branch and not in its own
//! history, and those before it.

use std::collections::BTreeSet;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::task::Task;
use baton_core::task::attempt::CheckResult;
use baton_core::task::met_commits::MetCommits;
use baton_core::task::not_landed::MetTask;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::{Batch, LandingCandidate};
use crate::projects::trunk::BranchTip;
use crate::tasks::service::TaskService;

/// More would not fit into a prompt. The likeliest causes are kept.
const MET_MAX: usize = 10;
/// The newest tasks whose changes are looked at.
const LOOKED_AT_MAX: usize = 64;

/// The tasks that a candidate met.
#[derive(Debug, Default)]
pub(crate) struct MetWork {
    /// The likeliest cause last.
    pub tasks: Vec<MetTask>,
    /// How many there are besides those.
    pub more: u32,
}

/// What the tasks that a candidate met are compared with.
pub(crate) struct Clues<'a> {
    /// The files in question.
    pub files: BTreeSet<String>,
    /// What failed, and printed that.
    pub checks: &'a [CheckResult],
}

/// All tasks that the candidate met, where its checks fail together with theirs.
pub(crate) async fn find(
    tasks: &TaskService,
    worktrees: &Worktrees,
    candidate: &LandingCandidate,
    tip: &CommitId,
    checks: &[CheckResult],
) -> Result<MetWork, EngineError> {
    let files = match ends_of(&candidate.task) {
        Some((base, head)) => worktrees.repository().changed_names(base, head).await?,
        None => BTreeSet::new(),
    };
    let ranked = rank(tasks, worktrees, candidate, tip, &Clues { files, checks }).await?;
    keep_likeliest(tasks, ranked.into_iter().map(|(_, id)| id).collect()).await
}

/// Those that changed one of these files, which conflict; `or_all` if none is known to have.
pub(crate) async fn find_touching(
    tasks: &TaskService,
    worktrees: &Worktrees,
    candidate: &LandingCandidate,
    tip: &CommitId,
    files: &[String],
    or_all: bool,
) -> Result<MetWork, EngineError> {
    let clues = Clues { files: files.iter().cloned().collect(), checks: &[] };
    let mut ranked = rank(tasks, worktrees, candidate, tip, &clues).await?;
    if !or_all || ranked.iter().any(|(likelihood, _)| *likelihood > 0) {
        ranked.retain(|(likelihood, _)| *likelihood > 0);
    }
    keep_likeliest(tasks, ranked.into_iter().map(|(_, id)| id).collect()).await
}

/// Everything that it met, the likeliest cause last, and the newest last of those that are as likely.
async fn rank(
    tasks: &TaskService,
    worktrees: &Worktrees,
    candidate: &LandingCandidate,
    tip: &CommitId,
    clues: &Clues<'_>,
) -> Result<Vec<(u8, TaskId)>, EngineError> {
    let Some(head) = &candidate.spec.head else { return Ok(Vec::new()) };
    let messages = worktrees.messages_since(head, tip).await?;
    let mut ids = task_ids(&messages);
    ids.retain(|id| *id != candidate.task.id());
    let looked_at = ids.len().saturating_sub(LOOKED_AT_MAX);
    let found = tasks.store.tasks_by_ids(&ids[looked_at..]).await?;
    let mut ranked: Vec<(u8, TaskId)> = ids.iter().map(|id| (0, *id)).collect();
    for (likelihood, id) in &mut ranked[looked_at..] {
        let Some(other) = found.iter().find(|stored| stored.value.id() == *id) else { continue };
        let Some((base, head)) = ends_of(&other.value) else { continue };
        // What it had merged from the branch before it landed is not its own.
        let changed = match worktrees.repository().commit_at(head.as_str()).await? {
            Some(head) => {
                let base = worktrees.landed_base(base, &head, tip).await?;
                worktrees.repository().changed_names(&base, &head).await?
            }
            None => BTreeSet::new(),
        };
        *likelihood = clues.likelihood(*id, &changed);
    }
    ranked.sort_by_key(|(likelihood, _)| *likelihood);
    Ok(ranked)
}

impl Clues<'_> {
    /// How likely a task that changed these files is the cause: named by what failed, or at work on the same files.
    fn likelihood(&self, task: TaskId, changed: &BTreeSet<String>) -> u8 {
        let is_named = |what: &str| self.checks.iter().any(|check| names(&check.output_tail, what));
        let file_name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let by_output = if is_named(&task.to_string()) {
            8
        } else if changed.iter().any(|path| is_named(path)) {
            4
        } else if changed.iter().any(|path| is_named(&file_name(path))) {
            2
        } else {
            0
        };
        by_output + u8::from(!self.files.is_disjoint(changed))
    }
}

/// Whether a text has this as a word of its own.
fn names(text: &str, what: &str) -> bool {
    let is_part = |next: Option<char>| next.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    text.match_indices(what).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + what.len()..].chars().next())
    })
}

async fn keep_likeliest(tasks: &TaskService, mut ids: Vec<TaskId>) -> Result<MetWork, EngineError> {
    let kept = ids.split_off(ids.len().saturating_sub(MET_MAX));
    let found = tasks.store.tasks_by_ids(&kept).await?;
    let title = |id: &TaskId| found.iter().find(|stored| stored.value.id() == *id);
    let met = |id: &TaskId| Some(MetTask { task_id: *id, title: title(id)?.value.spec().title.clone() });
    let more = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    Ok(MetWork { tasks: kept.iter().filter_map(met).collect(), more })
}

/// What the work of a task began with and came to, where that was measured.
fn ends_of(task: &Task) -> Option<(&CommitId, &CommitId)> {
    let verified = &task.ledger().last_end.as_ref()?.verified;
    Some((verified.base.as_ref()?, verified.head.as_ref()?))
}

/// The person's own commits that it met: those that came into the branch with other work, and those that are to come in with it.
pub(crate) async fn find_commits(
    worktrees: &Worktrees,
    candidate: &LandingCandidate,
    batch: &Batch,
) -> Result<Vec<MetCommits>, EngineError> {
    let Some(head) = &candidate.spec.head else { return Ok(Vec::new()) };
    let mut met = worktrees.brought_in_since(head, &batch.tip).await?;
    if batch.brings_in() {
        let BranchTip { branch, commit } = batch.ground.clone();
        met.extend(worktrees.commits_met(head, branch, batch.tip.clone(), commit).await?);
    }
    Ok(met.split_off(met.len().saturating_sub(MET_MAX)))
}

/// Of these, the ones that changed one of the files.
pub(crate) async fn commits_touching(
    worktrees: &Worktrees,
    candidate: &LandingCandidate,
    met: Vec<MetCommits>,
    files: &[String],
) -> Result<Vec<MetCommits>, EngineError> {
    let Some(head) = &candidate.spec.head else { return Ok(Vec::new()) };
    let mut touching = Vec::new();
    for one in met {
        let changed = worktrees.files_met(head, &one).await?;
        if files.iter().any(|file| changed.contains(file)) {
            touching.push(one);
        }
    }
    Ok(touching)
}

/// The tasks that merge commits name, in order, each once.
pub(crate) fn task_ids(messages: &str) -> Vec<TaskId> {
    let mut ids: Vec<TaskId> = Vec::new();
    for line in messages.lines() {
        let word = line.strip_prefix("Merge ").and_then(|rest| rest.split(':').next());
        if let Some(id) = word.and_then(|word| word.parse().ok())
            && !ids.contains(&id)
        {
            ids.push(id);
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use baton_core::base::text::NonBlank;

    use super::*;

    #[test]
    fn what_failed_names_whole_words() {
        let output = "a.txt and src/login.rs:7 do not fit TASK-0000000e.";
        for named in ["a.txt", "src/login.rs", "login.rs", "TASK-0000000e"] {
            assert!(names(output, named), "{named}");
        }
        for other in ["txt.", "ogin.rs", "TASK-0000000", "b.txt"] {
            assert!(!names(output, other), "{other}");
        }
    }

    #[test]
    fn the_likeliest_cause_is_named_by_what_failed_or_changed_the_same_files() {
        let checks =
            [CheckResult::new(NonBlank::new("test").unwrap(), 1, "src/a.rs: missing; see b.rs".to_owned())];
        let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<String>>();
        let clues = Clues { files: set(&["src/c.rs"]), checks: &checks };
        let cases: [(&[&str], u8); 5] = [
            (&["src/a.rs"], 4),
            (&["lib/b.rs"], 2),
            (&["src/c.rs"], 1),
            (&["src/a.rs", "src/c.rs"], 5),
            (&["d"], 0),
        ];
        for (changed, likelihood) in cases {
            assert_eq!(clues.likelihood(TaskId::from_bits(1), &set(changed)), likelihood, "{changed:?}");
        }
    }

    #[test]
    fn merge_commits_name_their_tasks() {
        let messages = "Merge TASK-00000001: One\n\nMerge 2 tasks\n\nMerge TASK-00000002: Two\n\
                        Merge TASK-00000001: One\nMerge branch x\nFix TASK-00000009\n";
        assert_eq!(task_ids(messages), [1, 2].map(TaskId::from_bits));
    }
}
