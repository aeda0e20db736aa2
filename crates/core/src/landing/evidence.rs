//! What a landing rests on: which checks passed, on what, and where they came from.

use serde::{Deserialize, Serialize};

use crate::base::git_name::CommitId;
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;
use crate::landing::verdict::{CheckRun, Verdict};
use crate::task::attempt::CheckResult;

/// The run of the checks that passed on the commit that landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandingEvidence {
    /// The commit that was checked: the one that landed, or an earlier one with the same files.
    pub commit: CommitId,
    /// Where the branch stood.
    pub base: CommitId,
    pub tree: CommitId,
    /// Digest of the checks and of what they are defined by.
    pub suite: String,
    /// The commit of the branch that they came from; none if the branch had none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_from: Option<CommitId>,
    /// Where they ran.
    pub environment: String,
    pub checks: Vec<CheckExit>,
    pub checked_at: Timestamp,
    pub duration_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckExit {
    pub name: NonBlank,
    pub exit_code: i32,
}

impl CheckExit {
    /// The end of what it printed. Not stored here: it is in the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
    pub fn new(check: &CheckResult) -> Self {
        Self { name: check.name.clone(), exit_code: check.exit_code, output_tail: None }
    }
}

impl LandingEvidence {
    /// None if no run has passed.
    pub fn of_verdict(verdict: &Verdict) -> Option<Self> {
        let run = verdict.runs.iter().find(|run| run.passed())?;
        Some(Self {
            commit: verdict.commit.clone(),
            base: verdict.base.clone(),
            tree: verdict.key.tree.clone(),
            suite: verdict.key.suite.clone(),
            environment: verdict.key.environment.clone(),
            checks: run.results.iter().map(CheckExit::new).collect(),
            checked_at: run.started_at,
            duration_ms: run.duration_ms,
        })
    }

    /// In one line, for people.
    pub fn sentence(&self) -> String {
        let short = |text: &str| text.get(..12).unwrap_or(text).to_owned();
        let names: Vec<&str> = self.checks.iter().map(|check| check.name.as_str()).collect();
        let names = if names.is_empty() { "no checks".to_owned() } else { names.join(", ") };
        format!(
            "{names} passed on {} from {} in {} ms (suite {}, {})",
            short(self.commit.as_str()),
            short(self.base.as_str()),
            self.duration_ms,
            short(&self.suite),
            self.environment
            suite_from: verdict.suite_from.clone(),
        )
    }
}
