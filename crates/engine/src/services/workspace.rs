//! The shared parts of this process, created once.

use std::path::PathBuf;
use std::sync::Arc;

use crate::attempt::context::AttemptContext;
use crate::attempt::host::AgentHost;
use crate::attempt::takeover::Takeovers;
use crate::base::announce::Announce;
use crate::base::supervisor::{Items, ServiceName, Services};
use crate::cluster::node::Node;
use crate::cluster::running::Running;
use crate::dispatch::not_started::Scheduling;
use crate::landing::acceptor::Acceptor;
use crate::landing::board::LandingBoard;
use crate::landing::check_room::CheckRoom;
use crate::landing::lander::Lander;
use crate::limits::Limits;
use crate::limits::machine::Machine;
use crate::projects::Projects;
use crate::settings::Settings;
use crate::settings::files::SettingsFiles;
use crate::settings::location::StateLocation;
use crate::tasks::service::TaskService;

/// All parts of a running Baton. Only services, the server and the command line have all of them.
#[derive(Clone)]
pub struct Workspace {
    pub tasks: TaskService,
    pub settings: Arc<Settings>,
    /// The files these settings come from.
    pub settings_files: SettingsFiles,
    pub place: StateLocation,
    pub node: Node,
    pub projects: Projects,
    pub limits: Limits,
    pub agents: AgentHost,
    /// The attempts of this process.
    pub running: Running,
    /// What happens in the lanes right now.
    pub landing: LandingBoard,
    check_room: CheckRoom,
    /// What room this machine has.
    pub machine: Machine,
    /// The state of this process's background services.
    pub services: Services,
    pub announce: Announce,
}

impl Workspace {
    /// Nothing runs yet.
    pub fn new(
        tasks: TaskService,
        settings: Settings,
        place: StateLocation,
        node: Node,
        program: PathBuf,
        announce: Announce,
    ) -> Self {
        let (settings, running) = (Arc::new(settings), Running::default());
        let projects = Projects::new(
            tasks.clone(),
            settings.clone(),
            place.clone(),
            node.clone(),
            running.clone(),
            announce.clone(),
        );
        Self {
            agents: AgentHost::new(&projects, &settings, place.clone(), program),
            projects,
            limits: Limits::new(tasks.clone(), settings.clone(), announce.clone()),
            running,
            landing: LandingBoard::default(),
            check_room: CheckRoom::new(settings.checks_at_once()),
            machine: Machine::new(&place, &settings.room),
            services: Services::default(),
            settings_files: SettingsFiles::look(&place.root),
            tasks,
            settings,
            place,
            node,
            announce,
        }
    }

    /// The same parts on another handle of the store.
    #[must_use]
    pub fn on_store(&self, tasks: &TaskService) -> Self {
        let projects = self.projects.on_store(tasks);
        Self {
            agents: self.agents.on_store(&projects),
            projects,
            limits: self.limits.on_store(tasks),
            tasks: tasks.clone(),
            ..self.clone()
        }
    }

    /// Describes this process anew, before anything runs.
    pub fn set_node(&mut self, node: Node) {
        self.projects.set_node(node.clone());
        self.node = node;
    }

    pub fn attempt_context(&self) -> AttemptContext {
        AttemptContext {
            tasks: self.tasks.clone(),
            settings: self.settings.clone(),
            place: self.place.clone(),
            projects: self.projects.clone(),
            limits: self.limits.clone(),
            agents: self.agents.clone(),
            running: self.running.clone(),
            announce: self.announce.clone(),
        }
    }

    pub fn takeovers(&self) -> Takeovers {
        Takeovers::new(self.attempt_context())
    }

    pub fn scheduling(&self) -> Scheduling {
        Scheduling {
            tasks: self.tasks.clone(),
            settings: self.settings.clone(),
            limits: self.limits.clone(),
            held: self.projects.held.clone(),
            setups: self.projects.setups.clone(),
            machine: self.machine.clone(),
            is_shared: self.node.is_shared,
        }
    }

    pub fn acceptor(&self) -> Acceptor {
        Acceptor::new(self.projects.clone(), self.node.clone(), self.landing.clone())
    }

    pub fn lander(&self) -> Lander {
        Lander::new(
            self.projects.clone(),
            self.settings.clone(),
            self.agents.user_tasks.clone(),
            self.node.clone(),
            self.landing.clone(),
            self.check_room.clone(),
            self.announce.clone(),
        )
    }

    /// Whether the service that works on the lanes runs in this process.
    pub fn lands_here(&self) -> bool {
        self.services.snapshot().iter().any(|service| service.name == ServiceName::Landing)
    }

    /// Where a service records what failed.
    pub fn items(&self, service: ServiceName) -> Items {
        self.services.items(service, &self.tasks.store)
    }
}
