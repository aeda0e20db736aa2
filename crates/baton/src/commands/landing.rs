//! The branch accepted work was merged into, and the command that merges it into yours.

use baton_core::base::words::shell_word;
use serde::{Deserialize, Serialize};

/// As the API reports it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct LandedBranch {
    pub(crate) branch: String,
    /// The remote that has the branch; none for the local repository.
    pub(crate) remote: Option<String>,
}

impl LandedBranch {
    /// To run on the branch that should get the work.
    pub(crate) fn command(&self) -> String {
        let Self { branch, remote } = self;
        match remote {
            Some(remote) => format!("git pull {} {}", shell_word(remote), shell_word(branch)),
            None => format!("git merge {}", shell_word(branch)),
        }
    }

    pub(crate) fn sentence(&self) -> String {
        let place = match &self.remote {
            Some(remote) => format!("{} of {remote}", self.branch),
            None => self.branch.clone(),
        };
        format!("Landed on {place}. Merge it into your branch: {}", self.command())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_merges_the_work() {
        let mut landing = LandedBranch { branch: "baton/next".to_owned(), remote: None };
        let sentence = landing.sentence();
        assert_eq!(sentence, "Landed on baton/next. Merge it into your branch: git merge baton/next");
        landing.remote = Some("git@host:team/app.git".to_owned());
        assert_eq!(landing.command(), "git pull git@host:team/app.git baton/next");
    }
}
