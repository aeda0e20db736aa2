//! Projects: their repositories, clones of remotes, and pushing work.
//!
//! Git commands are in `git`.

pub mod availability;
pub(crate) mod check_site;
pub mod commands;
pub mod error;
pub(crate) mod fence;
mod ground;
pub mod new_project;
pub mod push;
pub mod repositories;
pub mod source;
mod work;

use std::sync::Arc;

use crate::base::announce::Announce;
use crate::cluster::node::Node;
use crate::cluster::running::Running;
use crate::git::Git;
use crate::projects::availability::ProjectsHere;
use crate::projects::repositories::Repositories;
use crate::settings::Settings;
use crate::settings::location::StateLocation;
use crate::tasks::service::TaskService;

/// Finds and opens the repository of any task, and moves work between this machine and remotes. Cheap to clone.
#[derive(Clone)]
pub struct Projects {
    pub tasks: TaskService,
    pub git: Git,
    /// The repositories that were opened so far.
    pub repositories: Repositories,
    /// Which projects can be worked on here.
    pub here: ProjectsHere,
    settings: Arc<Settings>,
    place: StateLocation,
    node: Node,
    running: Running,
    announce: Announce,
}

impl Projects {
    /// Git itself is first run when it is needed.
    pub fn new(
        tasks: TaskService,
        settings: Arc<Settings>,
        place: StateLocation,
        node: Node,
        running: Running,
        announce: Announce,
    ) -> Self {
        let (git, repositories, here) = (Git::on_path(), Repositories::default(), ProjectsHere::default());
        Self { tasks, git, repositories, here, settings, place, node, running, announce }
    }

    pub fn set_node(&mut self, node: Node) {
        self.node = node;
    }

    /// The same on another handle of the store.
    #[must_use]
    pub fn on_store(&self, tasks: &TaskService) -> Self {
        Self { tasks: tasks.clone(), ..self.clone() }
    }
}
