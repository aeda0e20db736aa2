//! How many commits an attempt made (I15).
//!
//! Counted are the commits from the recorded base to a head, without those that came in from the project's branch or from
//! other tasks: merging or resetting to other work is not work.

use std::collections::BTreeSet;

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::checkout::{Checkout, CheckoutBase};
use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::settle::leftovers::subject;

const COUNTING: &str = "count the commits";

impl Worktrees {
    /// Commits of this attempt's own that lead to `head`.
    pub(crate) async fn own_commits(&self, checkout: &Checkout, head: &CommitId) -> Result<u32, GitError> {
        if *head == checkout.base {
            return Ok(0);
        }
        let mut known = vec![checkout.base.to_string()];
        let CheckoutBase::Task { branch, from, ahead } = &checkout.place else {
            return self.count_own(checkout, head, &known).await;
        };
        let trunks: Vec<&BranchName> = [from].into_iter().chain(ahead).collect();
        known.extend(self.repository.tips(&trunks).await?.values().map(ToString::to_string));
        // A branch that was started on this one's work has it, too.
        let list = self.repository.call(COUNTING).args(["for-each-ref", "--format=%(refname:strip=3)"]);
        let rest_on_others =
            String::from_utf8_lossy(&list.arg("refs/baton/ground").run().await?).into_owned();
        let left_out: BTreeSet<&str> = rest_on_others.lines().chain([branch.as_str()]).collect();
        let mut others = known.clone();
        others.extend(left_out.iter().map(|name| format!("--exclude=refs/heads/{name}")));
        others.push("--glob=refs/heads/baton/TASK-*".to_owned());
        let count = self.count_own(checkout, head, &others).await?;
        if count > 0 {
            return Ok(count);
        }
        // Two agents that do the same in the same second make the same commit, and it is the work of both. What the clone was shown
        // of other tasks as it was made is not.
        let shown = self.clone_in(&checkout.folder).record.branches();
        let shown =
            shown.into_iter().filter(|(name, _)| name.is_of_task() && !left_out.contains(name.as_str()));
        known.extend(shown.map(|(_, commit)| commit.to_string()));
        self.count_own(checkout, head, &known).await
    }

    /// The commits that lead to `head` and to none of `known`, without what Baton committed for the agent.
    async fn count_own(
        &self,
        checkout: &Checkout,
        head: &CommitId,
        known: &[String],
    ) -> Result<u32, GitError> {
        let batons = format!("--grep={}", subject(checkout.attempt));
        let count =
            self.repository.call(COUNTING).args(["rev-list", "--count", "--ignore-missing", "--invert-grep"]);
        let count = count.args(["--fixed-strings", &batons, head.as_str(), "--not"]).args(known);
        let line = count.line().await?;
        line.parse().map_err(|_| GitError::Garbled { tried: COUNTING, answer: line })
    }
}
