//! What the tools work on, and which tools a caller gets.

use baton_core::people::role::PersonRole;
use baton_core::people::toolset::{ClientPowers, tools_for};
use baton_engine::asking::AgentGateway;
use baton_engine::attempt::mailbox::Mailbox;
use baton_engine::base::attempt_secret::AttemptSecret;
use baton_engine::base::error::EngineError;
use baton_engine::cluster::node::Node;
use baton_engine::landing::acceptor::Acceptor;
use baton_engine::landing::board::LandingBoard;
use baton_engine::projects::Projects;
use baton_engine::services::workspace::Workspace;
use baton_engine::tasks::service::TaskService;
use baton_engine::user_tasks::{Site, UserTasks};

use crate::http::error::ApiError;
use crate::http::roles;
use crate::mcp::{Caller, ToolSpec};

#[derive(Clone)]
pub struct Toolbox {
    pub tasks: TaskService,
    pub gateway: AgentGateway,
    pub mailbox: Mailbox,
    pub user_tasks: UserTasks,
    pub projects: Projects,
    /// What happens in the lanes right now.
    pub landing: LandingBoard,
    /// Where a person's user tasks are defined and run.
    pub site: Site,
    /// The default person.
    pub person: String,
    pub node: Node,
}

impl Toolbox {
    pub fn new(workspace: &Workspace, person: &str) -> Self {
        Self {
            tasks: workspace.tasks.clone(),
            gateway: workspace.agents.gateway(),
            mailbox: workspace.agents.mailbox.clone(),
            user_tasks: workspace.agents.user_tasks.clone(),
            projects: workspace.projects.clone(),
            landing: workspace.landing.clone(),
            site: Site::of_person(&workspace.place.root),
            person: person.to_owned(),
            node: workspace.node.clone(),
        }
    }

    /// The attempt a secret belongs to, while it is live.
    pub async fn find_caller(&self, secret: AttemptSecret) -> Result<Option<Caller>, EngineError> {
        let Some(task) = self.gateway.holder(&secret).await? else { return Ok(None) };
        Ok(Some(Caller::Attempt { secret, task: task.id(), is_breakdown: task.is_breakdown() }))
    }

    /// The person on this machine.
    pub fn person(&self) -> Caller {
        self.person_with(ClientPowers::default())
    }

    /// The same, with what they let their client decide.
    pub fn person_with(&self, powers: ClientPowers) -> Caller {
        Caller::Person { name: self.person.clone(), role: PersonRole::Operator, powers }
    }

    pub(super) fn acceptor(&self) -> Acceptor {
        Acceptor::new(self.projects.clone(), self.node.clone(), self.landing.clone())
    }

    /// Where the caller's user tasks run. None for an attempt that runs elsewhere.
    pub(super) fn site_of(&self, caller: &Caller) -> Option<Site> {
        match caller.attempt() {
            None => Some(self.site.clone()),
            Some(attempt) => self.mailbox.bench(attempt).map(|bench| bench.site),
        }
    }

    /// The same with what may run there.
    pub(super) fn user_tasks_of(&self, caller: &Caller) -> Option<(Site, UserTasks)> {
        match caller.attempt() {
            None => Some((self.site.clone(), self.user_tasks.clone())),
            Some(attempt) => self.mailbox.bench(attempt).map(|bench| (bench.site, bench.user_tasks)),
        }
    }

    pub(super) fn has_taskfile(&self, caller: &Caller) -> bool {
        self.site_of(caller).is_some_and(|site| site.has_taskfile())
    }

    /// The tools the caller may use now.
    pub fn list_tools(&self, caller: &Caller) -> Vec<ToolSpec> {
        if let Some(attempt) = caller.attempt() {
            self.mailbox.note_looked(attempt);
        }
        self.all_tools(caller).filter(|spec| caller.may(spec.needs())).collect()
    }

    /// The same regardless of the caller's role.
    fn all_tools(&self, caller: &Caller) -> impl Iterator<Item = ToolSpec> + use<> {
        tools_for(caller.client(), self.has_taskfile(caller)).into_iter().filter_map(ToolSpec::find)
    }

    /// The role error for an existing tool, if the caller's role is insufficient.
    pub fn refusal(&self, caller: &Caller, name: &str) -> Option<ApiError> {
        let Caller::Person { role, .. } = caller else { return None };
        let spec = self.all_tools(caller).find(|spec| spec.name == name)?;
        roles::check(*role, spec.needs(), &format!("the tool {name}")).err()
    }
}

/// An engine error as text for the model.
#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
pub(super) fn error_text(error: EngineError) -> String {
    format!("{error}\n{}", error.hint())
}
