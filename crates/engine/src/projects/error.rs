//! Errors of creating and completing projects.

use std::path::PathBuf;

use baton_core::base::explanation::Explanation;
use baton_core::base::id::ProjectId;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("{project} is not complete: {open} of {total} tasks are open")]
    Incomplete { project: ProjectId, open: u64, total: u64 },
    #[error("{} is not a valid project path: {detail}", path.display())]
    InvalidPath { path: PathBuf, detail: String },
    #[error("the settings in {} may be anybody's, and nobody has allowed what they start or open: {}", path.display(), grants.join("; "))]
    Untrusted { path: PathBuf, grants: Vec<String> },
}

failure! {
    ProjectError { |it|
        kind: match it {
            Self::Incomplete { .. } => ErrorKind::Conflict,
            Self::InvalidPath { .. } => ErrorKind::InvalidInput,
            Self::Untrusted { .. } => ErrorKind::Conflict,
        },
        hint: match it {
            Self::Incomplete { project, .. } => format!("see what is left: baton project show {project}"),
            Self::InvalidPath { .. } => "use the absolute path of a git repository".to_owned(),
            Self::Untrusted { path, .. } => {
                format!("read its .agent/baton.toml, then run: baton --root {} trust", path.display())
            }
        },
        explained: it.explained(),
    }
}

explained! { ProjectError {
    Self::Incomplete { .. } => Explanation {
        code: "project_open",
        means: "The project is not complete: some of its tasks are still open.",
        cause: "Every task must be done or cancelled, or recycled with all its replacements done.",
        next: "`baton project show PROJECT` shows what is left.",
    },
    Self::InvalidPath { .. } => Explanation {
        code: "project_path",
        means: "The path is not valid for a project.",
        cause: "It does not exist, is not a folder, or is not absolute.",
        next: "Use the absolute path of a git repository.",
    },
    Self::Untrusted { .. } => Explanation {
        code: "project_untrusted",
        means: "The settings of a project are in a repository with a remote, and would start programs or open the fence.",
        cause: "Their author could run anything on this machine, so a person has to allow them first.",
        next: "Read .agent/baton.toml in the project's folder, then run `baton trust` there.",
    },
} }
