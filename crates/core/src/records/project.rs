//! A project: a git repository, its base branch and, for a feature, its feature branch.
//!
//! The path is opaque: Baton passes it to git. The project does not own its tasks; given all of them, it only decides
//! whether it is complete.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::git_name::BranchName;
use crate::base::id::{ProjectId, TaskId};
use crate::base::remote_url::RemoteUrl;
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;
use crate::graph::Standing;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    pub title: NonBlank,
    #[serde(default)]
    pub description: String,
    /// The repository's path, on the machine that has it.
    pub path: String,
    pub base_branch: BranchName,
    /// Where the work of all its tasks is merged, if the project is one feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_branch: Option<BranchName>,
    /// The remote shared by all machines. With one, each machine works on its own clone, and the path is only a name;
    /// without one, only the machine with the path can work on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteUrl>,
    /// How many of its tasks may run at once, over all machines; `None` for the configured default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once_max: Option<u32>,
    pub created_at: Timestamp,
    /// When a person marked it complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
}

impl Project {
    /// The branch that accepted work is merged into.
    ///
    /// People have the base branch of a local repository checked out, and Baton never moves it under them: the work
    /// waits on Baton's own branch until they merge it. Nobody has a clone of a remote checked out.
    pub fn branch(&self) -> BranchName {
        match (&self.feature_branch, &self.remote) {
            (Some(feature), _) => feature.clone(),
            (None, Some(_)) => self.base_branch.clone(),
            (None, None) => BranchName::integration(),
        }
    }

    /// The same project with work to do; none if it was not complete.
    pub fn reopened(&self) -> Option<Self> {
        self.completed_at.map(|_| Self { completed_at: None, ..self.clone() })
    }
}

/// Whether a project with these tasks is complete: each is done, cancelled, or recycled with every replacement done.
/// A replacement that was replaced counts through its own replacements.
///
/// A project without tasks is not complete.
pub fn is_complete<'a>(tasks: impl IntoIterator<Item = (TaskId, &'a Standing)>) -> bool {
    let standings: BTreeMap<TaskId, &Standing> = tasks.into_iter().collect();
    let is_settled = |standing: &Standing| match standing {
        Standing::Done | Standing::Cancelled => true,
        Standing::Open | Standing::Failed | Standing::Recycled { .. } => false,
        Standing::Replaced { by } => {
            !by.is_empty()
                && by.iter().all(|replacement| match standings.get(replacement) {
                    // A replaced replacement is checked in its own turn.
                    Some(Standing::Done | Standing::Replaced { .. }) => true,
                    Some(
                        Standing::Open | Standing::Cancelled | Standing::Failed | Standing::Recycled { .. },
                    )
                    | None => false,
                })
        }
    };
    !standings.is_empty() && standings.values().all(|standing| is_settled(standing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: u32) -> TaskId {
        TaskId::from_bits(number)
    }

    fn project() -> Project {
        Project {
            id: ProjectId::from_bits(0xdca2_7809),
            title: NonBlank::new("Share links").unwrap(),
            description: String::new(),
            path: "/src/app".to_owned(),
            base_branch: "main".parse().unwrap(),
            feature_branch: None,
            remote: None,
            at_once_max: None,
            created_at: Timestamp::from_ms(0),
            completed_at: None,
        }
    }

    #[test]
    fn work_is_merged_into_the_feature_branch_or_one_nobody_has_checked_out() {
        let mut project = project();
        assert_eq!(project.branch().as_str(), "baton/next");
        project.remote = Some("git@host:team/app.git".parse().unwrap());
        assert_eq!(project.branch().as_str(), "main");
        project.feature_branch = Some(BranchName::feature(project.id));
        assert_eq!(project.branch().as_str(), "feature/dca27809");
        project.remote = None;
        assert_eq!(project.branch().as_str(), "feature/dca27809");
    }

    #[test]
    fn the_stored_form_is_stable() {
        let stored = serde_json::to_string(&project()).unwrap();
        insta::assert_snapshot!(stored, @r#"{"id":"PROJ-dca27809","title":"Share links","description":"","path":"/src/app","base_branch":"main","created_at":"1970-01-01T00:00:00.000Z"}"#);
        assert_eq!(serde_json::from_str::<Project>(&stored).unwrap(), project());
    }

    #[test]
    fn a_project_is_complete_when_nothing_is_left_to_do() {
        let replaced = |by: &[u32]| Standing::Replaced { by: by.iter().copied().map(task).collect() };
        let table: &[(&str, Vec<Standing>, bool)] = &[
            ("no tasks", vec![], false),
            ("done", vec![Standing::Done], true),
            ("done and cancelled", vec![Standing::Done, Standing::Cancelled], true),
            ("one open", vec![Standing::Done, Standing::Open], false),
            ("one failed", vec![Standing::Done, Standing::Failed], false),
            ("still planning", vec![Standing::Recycled { planning: task(1) }, Standing::Done], false),
            ("replaced, all done", vec![replaced(&[1, 2]), Standing::Done, Standing::Done], true),
            ("replaced, one open", vec![replaced(&[1, 2]), Standing::Done, Standing::Open], false),
            ("replaced, one cancelled", vec![replaced(&[1, 2]), Standing::Done, Standing::Cancelled], false),
            ("replaced by the unknown", vec![replaced(&[9])], false),
            ("replaced by nothing", vec![replaced(&[])], false),
            ("replaced twice over", vec![replaced(&[1]), replaced(&[2]), Standing::Done], true),
            ("replaced twice over, open", vec![replaced(&[1]), replaced(&[2]), Standing::Open], false),
        ];
        for (name, standings, expected) in table {
            let tasks = (0..).map(task).zip(standings);
            assert_eq!(is_complete(tasks), *expected, "{name}");
        }
    }
}
