//! What agents of this process are given to work with: Baton's program, its tools, and the project's commands.

use std::path::{Path, PathBuf};

use baton_core::base::id::AttemptId;

use crate::asking::AgentGateway;
use crate::attempt::mailbox::Mailbox;
use crate::projects::Projects;
use crate::projects::check_site::attempt_site;
use crate::projects::leased_values::{Values, machine_folder};
use crate::settings::Settings;
use crate::settings::location::StateLocation;
use crate::user_tasks::{Site, UserTasks};

/// The user tasks of a repository, of which heavy ones need a permit of this machine.
pub fn user_tasks_here(place: &StateLocation, settings: &Settings) -> UserTasks {
    let permits = settings.room.permits(&machine_folder(place));
    UserTasks::limited(&place.state_dir, settings.user_tasks.clone(), permits)
}

/// Cheap to clone.
#[derive(Clone)]
pub struct AgentHost {
    /// Baton's own program, for agents that call it and for the built-in agent.
    pub program: PathBuf,
    /// Where agents reach the tools, while a server runs beside the engine.
    pub mcp_url: Option<String>,
    /// What agents reported through tools.
    pub mailbox: Mailbox,
    /// The commands of the project's people.
    pub user_tasks: UserTasks,
    /// What the task at hand has alone on this machine.
    pub(crate) values: Values,
    gateway: AgentGateway,
    place: StateLocation,
}

impl AgentHost {
    pub fn new(projects: &Projects, settings: &Settings, place: StateLocation, program: PathBuf) -> Self {
        Self {
            program,
            mcp_url: None,
            mailbox: Mailbox::default(),
            user_tasks: user_tasks_here(&place, settings),
            values: Values::new(),
            gateway: AgentGateway::new(projects.clone()),
            place,
        }
    }

    /// The same on another handle of the store.
    #[must_use]
    pub fn on_store(&self, projects: &Projects) -> Self {
        Self { gateway: AgentGateway::new(projects.clone()), ..self.clone() }
    }

    /// The same for a project with these settings.
    #[must_use]
    pub(crate) fn with_settings(&self, settings: &Settings) -> Self {
        Self { user_tasks: self.user_tasks.with_settings(&settings.user_tasks), ..self.clone() }
    }

    /// The same for a task that has these values.
    #[must_use]
    pub(crate) fn with_values(&self, values: Values) -> Self {
        Self { values, ..self.clone() }
    }

    /// Where agents ask their questions.
    pub fn gateway(&self) -> AgentGateway {
        self.gateway.clone()
    }

    /// Where an attempt's user tasks come from and run.
    pub fn site(&self, root: &Path, worktree: &Path, attempt: AttemptId, variables: &[String]) -> Site {
        let memory = self.place.attempt_folder(attempt).join("user-tasks");
        attempt_site(&self.place, root, worktree, attempt, &memory, variables, &self.values)
    }
}
