//! Projects: their repositories, clones of remotes, and pushing work.
//!
//! Git commands are in `git`.

pub mod availability;
mod build_jobs;
pub(crate) mod check_site;
pub mod commands;
pub mod error;
pub(crate) mod fence;
pub(crate) mod folder_use;
mod ground;
pub mod hold;
pub mod hooks;
mod included_files;
pub(crate) mod landing_rules;
pub mod leased_values;
pub mod new_project;
mod own_settings;
pub mod push;
mod remote_files;
pub mod repositories;
pub mod setups;
pub mod source;
mod task_values;
pub(crate) mod trunk;
mod work;

use std::sync::Arc;

use crate::base::announce::Announce;
use crate::cluster::node::Node;
use crate::cluster::running::Running;
use crate::git::Git;
use crate::projects::availability::ProjectsHere;
use crate::projects::hold::HeldProjects;
use crate::projects::landing_rules::WrittenDefinitions;
use crate::projects::leased_values::LeasedValues;
use crate::projects::repositories::Repositories;
use crate::projects::setups::SetupTurns;
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
    /// Which projects wait for a person to see to them.
    pub held: HeldProjects,
    /// How many of each are being set up.
    pub setups: SetupTurns,
    /// What tasks have alone on this machine.
    pub(crate) values: LeasedValues,
    definitions: WrittenDefinitions,
    /// Of this Baton.
    serving: Arc<Settings>,
    /// Of the project at hand.
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
        Self {
            tasks,
            git: Git::on_path(),
            repositories: Repositories::default(),
            here: ProjectsHere::default(),
            held: HeldProjects::default(),
            setups: SetupTurns::default(),
            values: LeasedValues::new(&place),
            definitions: WrittenDefinitions::default(),
            serving: settings.clone(),
            settings,
            place,
            node,
            running,
            announce,
        }
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
