//! What agents of this process are given to work with: Baton's program, its tools, and the project's commands.

use std::path::{Path, PathBuf};

use baton_core::base::id::AttemptId;

use crate::asking::AgentGateway;
use crate::attempt::mailbox::Mailbox;
use crate::projects::check_site::attempt_site;
use crate::projects::leased_values::{Values, machine_folder};
use crate::settings::Settings;
use crate::settings::location::StateLocation;
use crate::tasks::service::TaskService;
use crate::user_tasks::{Site, UserTasks};

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
    pub fn new(tasks: &TaskService, settings: &Settings, place: StateLocation, program: PathBuf) -> Self {
        Self {
            program,
            mcp_url: None,
            mailbox: Mailbox::default(),
            user_tasks: UserTasks::limited(
                &place.state_dir,
                settings.user_tasks.clone(),
                settings.room.permits(&machine_folder(&place)),
            ),
            values: Values::new(),
            gateway: AgentGateway::new(tasks.clone(), settings.asking.expires_after()),
            place,
        }
    }

    /// The same on another handle of the store.
    #[must_use]
    pub fn on_store(&self, tasks: &TaskService, settings: &Settings) -> Self {
        let gateway = AgentGateway::new(tasks.clone(), settings.asking.expires_after());
        Self { gateway, ..self.clone() }
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
