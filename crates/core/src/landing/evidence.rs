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
    /// Those that failed first, on the same files, with the exit code they had then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<CheckExit>,
    pub checked_at: Timestamp,
    pub duration_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckExit {
    pub name: NonBlank,
    pub exit_code: i32,
    /// The end of what it printed. Not stored here: it is in the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
}

impl CheckExit {
    pub fn new(check: &CheckResult) -> Self {
        Self { name: check.name.clone(), exit_code: check.exit_code, output_tail: None }
    }

    /// The same with the last bytes of what it printed.
    pub fn with_output(check: &CheckResult, bytes_max: usize) -> Self {
        let text = &check.output_tail;
        let start = text.ceil_char_boundary(text.len().saturating_sub(bytes_max));
        Self { output_tail: Some(text[start..].to_owned()), ..Self::new(check) }
    }
}

fn flaky(verdict: &Verdict) -> Vec<CheckExit> {
    let names = verdict.flaky();
    let first = |name: &&NonBlank| {
        let mut failed = verdict.runs.iter().flat_map(CheckRun::failed);
        failed.find(|check| check.name == **name).map(CheckExit::new)
    };
    names.iter().filter_map(first).collect()
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
            suite_from: verdict.suite_from.clone(),
            environment: verdict.key.environment.clone(),
            checks: run.results.iter().map(CheckExit::new).collect(),
            flaky: flaky(verdict),
            checked_at: run.started_at,
            duration_ms: run.duration_ms,
        })
    }

    /// In one line, for people.
    pub fn sentence(&self) -> String {
        let short = |text: &str| text.get(..12).unwrap_or(text).to_owned();
        let names: Vec<&str> = self.checks.iter().map(|check| check.name.as_str()).collect();
        let names = if names.is_empty() { "no checks".to_owned() } else { names.join(", ") };
        let suite_from = self
            .suite_from
            .as_ref()
            .map(|commit| format!(" of {}", short(commit.as_str())))
            .unwrap_or_default();
        let flaky: Vec<String> = self
            .flaky
            .iter()
            .map(|check| format!("{} (exit code {})", check.name, check.exit_code))
            .collect();
        let flaky = if flaky.is_empty() {
            String::new()
        } else {
            format!("; flaky, failed first: {}", flaky.join(", "))
        };
        format!(
            "{names} passed on {} from {} in {} ms (suite {}{suite_from}, {}){flaky}",
            short(self.commit.as_str()),
            short(self.base.as_str()),
            self.duration_ms,
            short(&self.suite),
            self.environment
        )
    }
}
