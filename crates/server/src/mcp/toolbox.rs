//! The tools of this server, for whoever calls.

use std::time::Duration;

use baton_core::people::role::PersonRole;
use baton_core::people::toolset::tools_for;
use baton_engine::asking::{AgentGateway, Secret};
use baton_engine::attempt::mailbox::Mailbox;
use baton_engine::base::error::EngineError;
use baton_engine::tasks::service::TaskService;
use baton_engine::user_tasks::{Site, UserTasks};
use baton_engine::workshop::Workshop;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::sleep;

use super::arguments::Arguments;
use super::catalog::ASK_ALIAS;
use super::{Caller, ToolAnswer, ToolSpec, Tools, attempt_tools, queue_tools, user_task_tools};
use crate::error::ApiError;
use crate::roles;

/// How often somebody who listens for other tools has the Taskfile looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What the tools work on.
#[derive(Clone)]
pub struct Toolbox {
    pub tasks: TaskService,
    pub gateway: AgentGateway,
    pub mailbox: Mailbox,
    pub user_tasks: UserTasks,
    /// Where a person's own user tasks are and run.
    pub site: Site,
    /// Who it is when nobody says.
    pub person: String,
    /// How long an agent is kept waiting for an answer.
    pub patience: Duration,
}

impl Toolbox {
    pub fn of(shop: &Workshop, person: &str) -> Self {
        Self {
            tasks: shop.tasks.clone(),
            gateway: shop.gateway(),
            mailbox: shop.mailbox.clone(),
            user_tasks: shop.user_tasks.clone(),
            site: Site::of_person(&shop.place.root),
            person: person.to_owned(),
            patience: shop.settings.asking.patience(),
        }
    }

    /// Whose secret this is, while its attempt is alive.
    pub async fn holder(&self, secret: Secret) -> Result<Option<Caller>, EngineError> {
        let Some(task) = self.gateway.holder(&secret).await? else { return Ok(None) };
        Ok(Some(Caller::Attempt { secret, task: task.id(), is_breakdown: task.is_breakdown() }))
    }

    /// Whoever works here, on their own machine.
    pub fn person(&self) -> Caller {
        Caller::Person { name: self.person.clone(), role: PersonRole::Operator }
    }

    /// Where the caller's user tasks are and run. None for an attempt that is at work elsewhere.
    pub(super) fn site_of(&self, caller: &Caller) -> Option<Site> {
        match caller.attempt() {
            None => Some(self.site.clone()),
            Some(attempt) => self.mailbox.bench(attempt).map(|bench| bench.site),
        }
    }

    fn has_taskfile(&self, caller: &Caller) -> bool {
        self.site_of(caller).is_some_and(|site| site.has_taskfile())
    }

    /// What the caller is offered now.
    pub fn offered(&self, caller: &Caller) -> Vec<ToolSpec> {
        if let Some(attempt) = caller.attempt() {
            self.mailbox.note_looked(attempt);
        }
        self.there_are(caller).filter(|spec| caller.may(spec.needs())).collect()
    }

    /// The same without a look at what the caller may.
    fn there_are(&self, caller: &Caller) -> impl Iterator<Item = ToolSpec> + use<> {
        tools_for(caller.client(), self.has_taskfile(caller)).into_iter().filter_map(ToolSpec::of)
    }

    /// What keeps the caller from a tool that is there.
    pub fn refusal(&self, caller: &Caller, name: &str) -> Option<ApiError> {
        let Caller::Person { role, .. } = caller else { return None };
        let spec = self.there_are(caller).find(|spec| spec.name == name)?;
        roles::check(*role, spec.needs(), &format!("the tool {name}")).err()
    }

    /// What is not offered cannot be called.
    pub async fn answer(
        &self,
        caller: &Caller,
        name: &str,
        arguments: Option<Map<String, Value>>,
    ) -> ToolAnswer {
        if let Some(refusal) = self.refusal(caller, name) {
            return ToolAnswer::bad(format!("{}\n{}", refusal.message, refusal.hint));
        }
        let Some(spec) = self.offered(caller).into_iter().find(|spec| spec.name == name) else {
            let names: Vec<String> = self.offered(caller).into_iter().map(|spec| spec.name).collect();
            return ToolAnswer::bad(format!("there is no tool {name}; the tools are {}", names.join(", ")));
        };
        match Arguments::read(arguments, &spec.arguments()) {
            Ok(arguments) => self.carried_out(caller, name, arguments).await.unwrap_or_else(ToolAnswer::bad),
            Err(mistake) => ToolAnswer::bad(mistake),
        }
    }

    async fn carried_out(
        &self,
        caller: &Caller,
        name: &str,
        arguments: Arguments,
    ) -> Result<ToolAnswer, String> {
        match name {
            "list_user_tasks" => Ok(user_task_tools::list(self, caller)),
            "run_user_task" => user_task_tools::run(self, caller, &arguments).await,
            "get_next_task" => queue_tools::next(self, caller).await,
            "list_tasks" => queue_tools::list(self, &arguments).await,
            "get_task" => queue_tools::get(self, &arguments).await,
            "add_task" => queue_tools::add(self, caller, &arguments).await,
            "update_task" => queue_tools::update(self, caller, &arguments).await,
            "set_task_status" => queue_tools::set_status(self, caller, &arguments).await,
            "ask_user" | ASK_ALIAS => attempt_tools::ask(self, caller, &arguments).await,
            "report_outcome" => attempt_tools::report(self, caller, &arguments),
            "submit_breakdown" => attempt_tools::submit(self, caller, arguments),
            "load_workflow_context" => attempt_tools::context(self, caller).await,
            // Core offers a name that nobody here knows; a test holds the two lists against each other.
            _ => Err(format!("the tool {name} is not known here")),
        }
    }
}

impl Tools for Toolbox {
    async fn list(&self, caller: Option<Caller>) -> Vec<ToolSpec> {
        self.offered(&caller.unwrap_or_else(|| self.person()))
    }

    async fn call(
        &self,
        caller: Option<Caller>,
        name: &str,
        arguments: Option<Map<String, Value>>,
    ) -> ToolAnswer {
        self.answer(&caller.unwrap_or_else(|| self.person()), name, arguments).await
    }

    /// Looks for the Taskfile for as long as somebody listens.
    fn changes(&self, caller: Option<Caller>) -> watch::Receiver<u64> {
        let (sender, receiver) = watch::channel(0);
        let (toolbox, caller) = (self.clone(), caller.unwrap_or_else(|| self.person()));
        let mut before = toolbox.has_taskfile(&caller);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sender.closed() => return,
                    () = sleep(LOOK_EVERY) => {}
                }
                let now = toolbox.has_taskfile(&caller);
                if now != before {
                    before = now;
                    sender.send_modify(|count| *count += 1);
                }
            }
        });
        receiver
    }
}

/// What went wrong in the engine, as a model reads it.
#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
pub(super) fn refused(error: EngineError) -> String {
    format!("{error}\n{}", error.hint())
}
