//! What work starts from and is merged on: the branch it lands on, or the person's own branch where that is ahead of it.
//!
//! With checks Baton moves a branch only by a checked landing or by force (I18). So the integration branch does not follow the
//! person's branch by itself: work starts from the person's commits, and the first landing brings them in, checked together.

use std::collections::BTreeMap;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::records::project::Project;

use crate::base::error::EngineError;
use crate::git::{MergeSpec, Merged, Repository, Worktrees};
use crate::projects::Projects;
use crate::projects::repositories::BranchTips;

/// A branch and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BranchTip {
    pub(crate) branch: BranchName,
    pub(crate) commit: CommitId,
}

impl Projects {
    /// Creates the integration branch at the project's base, or else at the user's current branch, and takes it back if that
    /// is replaced before anything has landed. Without checks it also follows that branch, by a merge if need be. Does not
    /// touch the user's checkout.
    pub(super) async fn keep_up(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
    ) -> Result<(), EngineError> {
        let integration = BranchName::integration();
        let (base, before) = person_tips(worktrees.repository(), project).await?;
        let tips = self.without_withdrawn(worktrees, &base, before.clone()).await?;
        if tips != before {
            match worktrees.let_go_of_withdrawn(&integration, &base).await {
                Ok(_) => {}
                // Checked out or locked: tried again the next time.
                Err(error) if error.is_in_the_way() => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        // Already merged, and neither branch changed since. Another clone may have the same commits without the branch.
        if tips.0.is_some() && tips.1.is_some() && (tips.0 == tips.1 || self.repositories.is_gathered(&tips))
        {
            return Ok(());
        }
        worktrees.make_branch(&integration, &base).await?;
        if self.has_checks(project).await {
            return Ok(());
        }
        // The user resolves a conflict with their own work when they merge.
        match worktrees.merge(&follow_spec(&base)).await {
            Ok(Merged::Already { .. }) => self.repositories.note_gathered(tips),
            Ok(Merged::FastForward { from, tip }) => worktrees.note_followed(&base, &from, &tip).await?,
            Ok(_) => {}
            // Checked out or locked: work starts from its current tip until that changes.
            Err(error) if error.is_in_the_way() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// The person's branch, and where that and the integration branch stand, once that has let go of what was withdrawn.
    async fn tips(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
    ) -> Result<(BranchName, BranchTips), EngineError> {
        let (base, tips) = person_tips(worktrees.repository(), project).await?;
        let tips = self.without_withdrawn(worktrees, &base, tips).await?;
        Ok((base, tips))
    }

    async fn without_withdrawn(
        &self,
        worktrees: &Worktrees,
        base: &BranchName,
        mut tips: BranchTips,
    ) -> Result<BranchTips, EngineError> {
        let has_all = tips.0 == tips.1 || self.repositories.is_ahead(&tips) == Some(true);
        if !has_all && let Some(found) = worktrees.withdrawn_below(&BranchName::integration(), base).await? {
            tips.1 = Some(found.to);
        }
        Ok(tips)
    }

    /// The branch that work of this project lands on and the person's own, which that is to follow, and where they stand.
    pub(crate) async fn lane_tips(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
    ) -> Result<BTreeMap<BranchName, CommitId>, EngineError> {
        if let Some(project) = project.filter(|project| project.branch() != BranchName::integration()) {
            return Ok(worktrees.repository().tips(&[&project.branch()]).await?);
        }
        let (base, (theirs, ours)) = self.tips(worktrees, project).await?;
        let theirs = theirs.map(|theirs| (base, theirs));
        let ours = ours.map(|ours| (BranchName::integration(), ours));
        Ok(theirs.into_iter().chain(ours).collect())
    }

    /// Where the branch stands when work of this project is next merged into it, and what the work is merged on: as
    /// [`keep_up`](Self::keep_up) and [`trunk`](Self::trunk) say, but nothing is moved. None in a repository without commits.
    pub(crate) async fn foresee_trunk(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
    ) -> Result<Option<(CommitId, BranchTip)>, EngineError> {
        let repository = worktrees.repository();
        if let Some(project) = project.filter(|project| project.branch() != BranchName::integration()) {
            let branch = project.branch();
            let tip = match repository.tip(&branch).await? {
                Some(tip) => Some(tip),
                None => repository.tip(&project.base_branch).await?,
            };
            return Ok(tip.map(|commit| (commit.clone(), BranchTip { branch, commit })));
        }
        let (base, tips) = self.tips(worktrees, project).await?;
        let branch = BranchName::integration();
        let (ours, theirs) = match tips {
            (None, None) => return Ok(None),
            // The first work makes the branch.
            (Some(only), None) | (None, Some(only)) => {
                return Ok(Some((only.clone(), BranchTip { branch, commit: only })));
            }
            (Some(theirs), Some(ours)) => (ours, theirs),
        };
        let is_ahead = repository.is_ancestor(&ours, &theirs).await?;
        if self.has_checks(project).await {
            let ahead = is_ahead && ours != theirs;
            let ground = if ahead { (base, theirs) } else { (branch, ours.clone()) };
            return Ok(Some((ours, BranchTip { branch: ground.0, commit: ground.1 })));
        }
        let commit = if is_ahead {
            theirs
        } else if repository.is_ancestor(&theirs, &ours).await? {
            ours
        } else {
            let spec = follow_spec(&base);
            match worktrees.merge_trees(&spec, &ours, &theirs).await? {
                Ok(tree) => worktrees.join(&spec, &tree, &ours, &theirs).await?,
                // The person resolves it; until then the branch stays.
                Err(_) => ours,
            }
        };
        Ok(Some((commit.clone(), BranchTip { branch, commit })))
    }

    /// What work of this project starts from and is merged on. None while the branch does not exist.
    pub(crate) async fn trunk(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
    ) -> Result<Option<BranchTip>, EngineError> {
        match self.person_ahead(worktrees, project).await? {
            Some(ahead) if self.has_checks(project).await => Ok(Some(ahead)),
            Some(_) | None => own_tip(worktrees.repository(), project).await,
        }
    }

    /// The branch whose commit says by which rules work lands: a person's own settings hold as soon as they are committed.
    pub(super) async fn rules_tip(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
    ) -> Result<Option<BranchTip>, EngineError> {
        match self.person_ahead(worktrees, project).await? {
            Some(ahead) => Ok(Some(ahead)),
            None => own_tip(worktrees.repository(), project).await,
        }
    }

    /// The person's branch, if it has all of the integration branch and more.
    async fn person_ahead(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
    ) -> Result<Option<BranchTip>, EngineError> {
        if project.is_some_and(|project| project.branch() != BranchName::integration()) {
            return Ok(None);
        }
        let (branch, tips) = self.tips(worktrees, project).await?;
        let is_ahead = if let Some(known) = self.repositories.is_ahead(&tips) {
            known
        } else {
            let is_ahead = is_ahead(worktrees.repository(), &tips).await?;
            self.repositories.note_ahead(tips.clone(), is_ahead);
            is_ahead
        };
        Ok(tips.0.filter(|_| is_ahead).map(|commit| BranchTip { branch, commit }))
    }
}

/// How the integration branch follows the person's.
fn follow_spec(base: &BranchName) -> MergeSpec {
    let into = BranchName::integration();
    let message = format!("Merge {base} into {into}");
    MergeSpec { branch: base.clone(), head: None, into, message }
}

/// As [`Projects::trunk`], for work without a project, where nobody knows whether there are checks.
pub(crate) async fn trunk_of(repository: &Repository) -> Result<Option<BranchTip>, EngineError> {
    let (branch, tips) = person_tips(repository, None).await?;
    match &tips {
        (Some(commit), Some(_)) if is_ahead(repository, &tips).await? => {
            Ok(Some(BranchTip { branch, commit: commit.clone() }))
        }
        _ => own_tip(repository, None).await,
    }
}

async fn own_tip(
    repository: &Repository,
    project: Option<&Project>,
) -> Result<Option<BranchTip>, EngineError> {
    let branch = project.map_or_else(BranchName::integration, Project::branch);
    Ok(repository.tip(&branch).await?.map(|commit| BranchTip { branch, commit }))
}

async fn is_ahead(repository: &Repository, tips: &BranchTips) -> Result<bool, EngineError> {
    match tips {
        (Some(theirs), Some(ours)) if theirs != ours => Ok(repository.is_ancestor(ours, theirs).await?),
        _ => Ok(false),
    }
}

/// The project's base or else the user's current branch, and where that and the integration branch stand.
async fn person_tips(
    repository: &Repository,
    project: Option<&Project>,
) -> Result<(BranchName, BranchTips), EngineError> {
    let integration = BranchName::integration();
    let mut base = match project {
        Some(project) => project.base_branch.clone(),
        None => user_branch(repository).await?,
    };
    let mut tips = repository.tips(&[&base, &integration]).await?;
    // A branch without commits: use the default branch, or fail with its error.
    if !tips.contains_key(&base) {
        base = repository.default_branch().await?;
        tips = repository.tips(&[&base, &integration]).await?;
    }
    let tips = (tips.get(&base).cloned(), tips.get(&integration).cloned());
    Ok((base, tips))
}

/// A person who looks at the work of a task has that checked out; it is not theirs until they accept it.
async fn user_branch(repository: &Repository) -> Result<BranchName, EngineError> {
    match repository.current_branch().await? {
        Some(branch) if !branch.is_of_task() => Ok(branch),
        Some(_) | None => Ok(repository.default_branch().await?),
    }
}
