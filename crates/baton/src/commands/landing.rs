//! Where accepted work is, and the one command that brings it home. What is said of it is said here alone.

use baton_core::words::shell_word;
use serde::{Deserialize, Serialize};

/// As the API tells of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LandedBranch {
    pub branch: String,
    /// The remote the branch is on; without one it is in the repository here.
    pub remote: Option<String>,
}

impl LandedBranch {
    /// AnswerInput in a checkout, on the branch that the work is to come to.
    pub fn command(&self) -> String {
        let Self { branch, remote } = self;
        match remote {
            Some(remote) => format!("git pull {} {}", shell_word(remote), shell_word(branch)),
            None => format!("git merge {}", shell_word(branch)),
        }
    }

    pub fn sentence(&self) -> String {
        let place = match &self.remote {
            Some(remote) => format!("{} of {remote}", self.branch),
            None => self.branch.clone(),
        };
        format!("It is on the branch {place}; take it over when you like: {}", self.command())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_brought_home_by_one_command() {
        let mut landing = LandedBranch { branch: "baton/next".to_owned(), remote: None };
        let said = landing.sentence();
        assert_eq!(said, "It is on the branch baton/next; take it over when you like: git merge baton/next");
        landing.remote = Some("git@host:team/app.git".to_owned());
        assert_eq!(landing.command(), "git pull git@host:team/app.git baton/next");
    }
}
