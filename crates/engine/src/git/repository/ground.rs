//! Starts a task's branch from work that is not on the trunk yet.

use std::collections::BTreeSet;

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::repository::given::{GivenTip, given_lines};
use crate::git::repository::merge::MergeSpec;

impl Worktrees {
    /// Creates a task's branch from the trunk with work of other tasks merged on it that has not landed yet, and remembers
    /// where that is: what the task itself does is counted from there. Does nothing if the branch exists, or the trunk has it
    /// all.
    pub async fn start_branch_on(
        &self,
        branch: &BranchName,
        trunk: &BranchName,
        works: &[BranchName],
    ) -> Result<(), GitError> {
        let _lock = self.lock().await?;
        let repository = self.repository();
        let (None, Some(tip)) = (repository.tip(branch).await?, repository.tip(trunk).await?) else {
            return Ok(());
        };
        let mut ground = tip.clone();
        // What that work was given comes along with it.
        let mut given: BTreeSet<GivenTip> = BTreeSet::from([(trunk.clone(), tip.clone())]);
        let inherited = self.given_to(&works.iter().collect::<Vec<_>>()).await?;
        given.extend(inherited.into_values().flatten());
        for work in works {
            let Some(theirs) = repository.tip(work).await? else { continue };
            given.insert((work.clone(), theirs.clone()));
            if repository.is_ancestor(&theirs, &ground).await? {
                continue;
            }
            if repository.is_ancestor(&ground, &theirs).await? {
                ground = theirs;
                continue;
            }
            let message = format!("Merge {work} into {branch}");
            let spec = MergeSpec { branch: work.clone(), head: None, into: branch.clone(), message };
            match self.merge_trees(&spec, &ground, &theirs).await? {
                Ok(tree) => ground = self.join(&spec, &tree, &ground, &theirs).await?,
                // It will not land as it is; until then the work is worth more than what the trunk has gained meanwhile.
                Err(_) if ground == tip => ground = theirs,
                Err(_) => {}
            }
        }
        if ground == tip {
            return Ok(());
        }
        let lines = format!("create refs/heads/{branch} {ground}\ncreate {} {ground}\n", ground_ref(branch));
        let given = given_lines(branch, given.iter().map(|(from, commit)| (from, commit)));
        repository.update_refs("create the task's branch", &format!("{lines}{given}")).await
    }
}

impl Worktrees {
    /// Where the branch of a task began that was started from the person's own branch, ahead of the one it is for.
    pub(crate) async fn start_of(&self, branch: &BranchName) -> Result<Option<CommitId>, GitError> {
        self.repository().commit_at(&start_ref(branch)).await
    }

    /// What the work up to `head` is to be compared with, so that the person's commits do not count as the task's: the
    /// newest of where it began and where it last took in one of these. None if it began in one of them.
    pub(crate) async fn own_start(
        &self,
        branch: &BranchName,
        head: &CommitId,
        trunks: &[&CommitId],
    ) -> Result<Option<CommitId>, GitError> {
        let Some(start) = self.start_of(branch).await? else { return Ok(None) };
        let repository = self.repository();
        for trunk in trunks {
            if repository.is_ancestor(&start, trunk).await? {
                return Ok(None);
            }
        }
        Ok(repository.is_ancestor(&start, head).await?.then_some(start))
    }
}

/// Where the branch of a task began that was started from the person's own branch.
pub(crate) fn start_ref(branch: &BranchName) -> String {
    format!("refs/baton/start/{branch}")
}

/// The line that records it.
pub(crate) fn start_line(branch: &BranchName, start: &CommitId) -> String {
    format!("update {} {start}\n", start_ref(branch))
}

/// Where the branch of a task began that was started on work which had not landed.
pub(crate) fn ground_ref(branch: &BranchName) -> String {
    format!("refs/baton/ground/{branch}")
}
