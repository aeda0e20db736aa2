//! What agents of this process are given to work with: Baton's program, its tools, and the project's commands.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use baton_agents::process::environment::{ATTEMPT_ID, AgentEnvironment};
use baton_core::base::id::AttemptId;

use crate::asking::AgentGateway;
use crate::attempt::mailbox::Mailbox;
use crate::settings::Settings;
use crate::settings::place::Place;
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
    gateway: AgentGateway,
    place: Place,
}

impl AgentHost {
    pub fn new(tasks: &TaskService, settings: &Settings, place: Place, program: PathBuf) -> Self {
        Self {
            program,
            mcp_url: None,
            mailbox: Mailbox::default(),
            user_tasks: UserTasks::new(&place.state_dir, settings.user_tasks.clone()),
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

    /// Where agents ask their questions.
    pub fn gateway(&self) -> AgentGateway {
        self.gateway.clone()
    }

    /// Where an attempt's user tasks come from and run. They get the allow-list's variables and those named, but not
    /// the attempt's token; its id is in their environment, so that they are found and ended with it.
    pub fn site(&self, root: &Path, worktree: &Path, attempt: AttemptId, variables: &[String]) -> Site {
        let mut environment = AgentEnvironment::allowed(std::env::vars_os(), variables);
        environment.set(ATTEMPT_ID, attempt.to_string());
        // What a task remembers between runs does not belong into the worktree, where it would look like work.
        environment.set("TASK_TEMP_DIR", self.place.attempt_folder(attempt).join("user-tasks"));
        for (name, value) in self.place.variables() {
            environment.set(name, value);
        }
        let plain = |text: &OsStr| text.to_string_lossy().into_owned();
        let environment = environment.iter().map(|(name, value)| (plain(name), plain(value))).collect();
        Site { root: root.to_owned(), folder: worktree.to_owned(), environment: Some(environment) }
    }
}
