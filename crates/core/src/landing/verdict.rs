//! What the checks said about one tree. It is kept, so that the same tree is never checked twice.

use serde::{Deserialize, Serialize};

use crate::base::git_name::{BranchName, CommitId};
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;
use crate::task::attempt::CheckResult;

/// What a verdict is about. The same files, checks and environment give the same verdict.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VerdictKey {
    /// The tree of the commit.
    pub tree: CommitId,
    /// Digest of the checks, as they were configured.
    pub suite: String,
    /// Where they ran.
    pub environment: String,
}

impl std::fmt::Display for VerdictKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.tree, self.suite, self.environment)
    }
}

/// All checks, run once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    pub started_at: Timestamp,
    pub duration_ms: u64,
    pub results: Vec<CheckResult>,
}

impl CheckRun {
    pub fn passed(&self) -> bool {
        self.results.iter().all(|check| check.exit_code == 0)
    }

    pub fn failed(&self) -> impl Iterator<Item = &CheckResult> {
        self.results.iter().filter(|check| check.exit_code != 0)
    }
}

/// The runs of the checks on one tree, with the first commit they ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    #[serde(flatten)]
    pub key: VerdictKey,
    pub into: BranchName,
    pub commit: CommitId,
    /// The tip of the branch it was built on.
    pub base: CommitId,
    #[serde(default, skip_serializing_if = "VerdictSubject::is_candidate")]
    pub subject: VerdictSubject,
    /// The commit of the branch that the checks came from; none if the branch had none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_from: Option<CommitId>,
    pub runs: Vec<CheckRun>,
}

/// What was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictSubject {
    /// What a branch is to become.
    #[default]
    Candidate,
    /// What a task started from, by the commands that verify the task: they should fail there.
    Before,
}

impl VerdictSubject {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    fn is_candidate(&self) -> bool {
        *self == Self::Candidate
    }
}

/// What is known about a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TreeState {
    Unknown,
    /// Failed once. Before anybody is blamed, the checks run again.
    Suspect,
    /// Failed twice.
    Red,
    Green,
}

impl Verdict {
    /// For work that was accepted at this time. Whatever passed has passed; but what failed before it was accepted is
    /// checked again, since a person may have repaired what the checks need.
    pub fn state(&self, accepted_at: Timestamp) -> TreeState {
        if self.is_green() {
            return TreeState::Green;
        }
        match self.runs.iter().filter(|run| run.started_at >= accepted_at).count() {
            0 => TreeState::Unknown,
            1 => TreeState::Suspect,
            _ => TreeState::Red,
        }
    }

    /// The same for the branch without the work. Before anybody is blamed, it must have passed since: what the checks need may
    /// have broken meanwhile.
    pub fn state_of_branch(&self, accepted_at: Timestamp) -> TreeState {
        let fresh: Vec<&CheckRun> = self.runs.iter().filter(|run| run.started_at >= accepted_at).collect();
        match fresh.as_slice() {
            [] => TreeState::Unknown,
            runs if runs.iter().any(|run| run.passed()) => TreeState::Green,
            [_] => TreeState::Suspect,
            _ => TreeState::Red,
        }
    }

    /// Whether the last run failed.
    pub fn fails(&self) -> bool {
        self.runs.last().is_some_and(|run| !run.passed())
    }

    pub fn is_green(&self) -> bool {
        self.runs.iter().any(CheckRun::passed)
    }

    /// The checks that failed on this tree and then passed on it, so that nobody's work is at fault.
    pub fn flaky(&self) -> Vec<&NonBlank> {
        if !self.is_green() {
            return Vec::new();
        }
        let mut names: Vec<&NonBlank> =
            self.runs.iter().flat_map(CheckRun::failed).map(|check| &check.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The checks that failed last.
    pub fn failed(&self) -> Vec<CheckResult> {
        self.runs.last().map(|run| run.failed().cloned().collect()).unwrap_or_default()
    }

    pub fn checked_at(&self) -> Option<Timestamp> {
        self.runs.last().map(|run| run.started_at)
    }
}

/// From when on failures count of work that was accepted at this time. What failed while its branch failed too says nothing
/// about the work, so a branch that has been repaired starts the search anew.
pub fn blame_since(branch: Option<&Verdict>, accepted_at: Timestamp) -> Timestamp {
    let Some(branch) = branch.filter(|branch| !branch.fails()) else { return accepted_at };
    let failed = branch.runs.iter().rev().find(|run| !run.passed()).map(|run| run.started_at);
    failed.map_or(accepted_at, |failed| failed.max(accepted_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(exits: &[i32]) -> Verdict {
        let commit: CommitId = "0123456789012345678901234567890123456789".parse().unwrap();
        let run = |exit_code: &i32| CheckRun {
            started_at: Timestamp::from_ms(0),
            duration_ms: 1,
            results: vec![CheckResult {
                fails_without: false,
                name: NonBlank::fixed("test"),
                exit_code: *exit_code,
                output_tail: String::new(),
            }],
        };
        Verdict {
            key: VerdictKey { tree: commit.clone(), suite: "s".to_owned(), environment: "e".to_owned() },
            into: BranchName::integration(),
            commit: commit.clone(),
            base: commit,
            subject: VerdictSubject::Candidate,
            suite_from: None,
            runs: exits.iter().map(run).collect(),
        }
    }

    #[test]
    fn a_tree_is_red_after_two_failures_and_green_after_one_success() {
        let cases: [(&[i32], TreeState, usize); 5] = [
            (&[], TreeState::Unknown, 0),
            (&[0], TreeState::Green, 0),
            (&[1], TreeState::Suspect, 0),
            (&[1, 1], TreeState::Red, 0),
            (&[1, 0], TreeState::Green, 1),
        ];
        for (exits, state, flaky) in cases {
            assert_eq!(verdict(exits).state(Timestamp::from_ms(0)), state, "{exits:?}");
            assert_eq!(verdict(exits).flaky().len(), flaky, "{exits:?}");
        }
    }

    #[test]
    fn failures_from_before_the_work_was_accepted_do_not_count() {
        let later = Timestamp::from_ms(1);
        assert_eq!(verdict(&[1, 1]).state(later), TreeState::Unknown);
        assert_eq!(verdict(&[1, 0]).state(later), TreeState::Green);
    }

    #[test]
    fn what_failed_while_the_branch_failed_blames_nobody_once_it_is_repaired() {
        let at = Timestamp::from_ms;
        let branch = |exits: &[i32]| {
            let mut branch = verdict(exits);
            for (number, run) in (0_i64..).zip(&mut branch.runs) {
                run.started_at = at(100 * (number + 1));
            }
            branch
        };
        let cases: [(&[i32], i64, i64); 6] = [
            (&[], 50, 50),
            (&[0], 50, 50),
            // Still red: the branch is looked at, not the work.
            (&[1, 1], 50, 50),
            (&[1, 1, 0], 50, 200),
            (&[1, 0, 0], 150, 150),
            (&[1, 0], 50, 100),
        ];
        for (exits, accepted, since) in cases {
            assert_eq!(blame_since(Some(&branch(exits)), at(accepted)), at(since), "{exits:?}");
        }
        assert_eq!(blame_since(None, at(7)), at(7));
    }

    #[test]
    fn the_stored_form_is_stable() {
        let stored = serde_json::to_string(&verdict(&[0])).unwrap();
        insta::assert_snapshot!(stored, @r#"{"tree":"0123456789012345678901234567890123456789","suite":"s","environment":"e","into":"baton/next","commit":"0123456789012345678901234567890123456789","base":"0123456789012345678901234567890123456789","runs":[{"started_at":"1970-01-01T00:00:00.000Z","duration_ms":1,"results":[{"name":"test","exit_code":0,"output_tail":""}]}]}"#);
        assert_eq!(serde_json::from_str::<Verdict>(&stored).unwrap(), verdict(&[0]));
    }
}
