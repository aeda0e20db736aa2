//! Whose Taskfile it is, and where its commands run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_agents::fence::FenceRequest;

/// Where a project's user tasks are, from its root.
pub const TASKFILE: &str = ".agent/Taskfile.yml";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The human's checkout, whose definitions count; or a copy of what another branch has there.
    pub root: PathBuf,
    /// For a copy: the checkout of which it is another version. A person trusts definitions by where they belong.
    pub copy_of: Option<PathBuf>,
    /// Where commands run.
    pub folder: PathBuf,
    /// All that commands get as their environment; without it, that of this process.
    pub environment: Option<Vec<(String, String)>>,
    /// What its task has alone on this machine, by variable; part of the environment.
    pub values: BTreeMap<String, String>,
    /// What commands run in; none for a person's own.
    pub fence: Option<FenceRequest>,
    /// What the processes of a command may use together; without it, as much as they like.
    pub memory_bytes_max: Option<u64>,
}

impl Site {
    /// For a person: in the project's root, with their own environment.
    pub fn of_person(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            copy_of: None,
            folder: root.to_owned(),
            environment: None,
            values: BTreeMap::new(),
            fence: None,
            memory_bytes_max: None,
        }
    }

    /// Where a file of the definitions belongs.
    pub(super) fn place_of(&self, path: &Path) -> PathBuf {
        match (&self.copy_of, path.strip_prefix(&self.root)) {
            (Some(checkout), Ok(below)) => checkout.join(below),
            _ => path.to_owned(),
        }
    }

    pub fn taskfile(&self) -> PathBuf {
        self.root.join(TASKFILE)
    }

    /// I12: whether there are user tasks at all.
    pub fn has_taskfile(&self) -> bool {
        self.taskfile().is_file()
    }
}
