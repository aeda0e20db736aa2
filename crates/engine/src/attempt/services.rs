//! User tasks that keep running beside the agent of an attempt: a development server, a database.
//!
//! They run in the fence of the attempt's agent and end with the attempt, however that ends. One that ends by itself is
//! shown on the task and, if it failed, told to the agent once; it is not started again before the next attempt.

use std::fmt::Write;
use std::fs;
use std::sync::Arc;

use baton_agents::process::environment::ATTEMPT_ID;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::task::Task;
use baton_core::task::environment::EnvironmentChange;
use tokio::task::JoinHandle;

use crate::attempt::context::AttemptContext;
use crate::attempt::environment::tell;
use crate::attempt::runner::Runner;
use crate::base::error::{EngineError, FolderError};
use crate::git::{Checkout, Worktrees};
use crate::settings::ValueWish;
use crate::user_tasks::Site;
use crate::user_tasks::service_log::ServiceLog;

/// The ids by which processes of services are found, one a line, in the attempt's folder.
pub(crate) const SERVICES_FILE: &str = "services";
/// What is kept of the log of a service.
const LOG_BYTES_MAX: u64 = 4 << 20;
/// Lines of a failed service's output that are told.
const LINES_TOLD: usize = 10;

/// The services of one attempt. Dropped, they are ended.
#[derive(Default)]
pub(crate) struct AttemptServices(Vec<JoinHandle<()>>);

impl AttemptServices {
    /// Ends all of them.
    pub(crate) async fn end(mut self) {
        for service in std::mem::take(&mut self.0) {
            service.abort();
            // It was aborted, or had ended by itself and told why.
            let _ = service.await;
        }
    }
}

impl Drop for AttemptServices {
    fn drop(&mut self) {
        for service in &self.0 {
            service.abort();
        }
    }
}

/// One service, with what it needs to tell of its end.
struct AttemptServiceRun {
    context: AttemptContext,
    task: TaskId,
    attempt: AttemptId,
    name: NonBlank,
    site: Site,
    log: Arc<ServiceLog>,
}

impl Runner {
    pub(super) async fn start_services(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        checkout: &Checkout,
    ) -> Result<AttemptServices, EngineError> {
        let mut services = AttemptServices::default();
        let folder = self.context.place.attempt_folder(checkout.attempt);
        let mut ids = String::new();
        for (number, name) in self.context.settings.worktree.services.iter().enumerate() {
            let failed =
                |error: std::io::Error| FolderError { path: folder.clone(), detail: error.to_string() };
            let (id, name) = (self.context.tasks.ids.attempt(), NonBlank::new(name.as_str())?);
            let log = folder.join(format!("service-{}.log", file_name(name.as_str())));
            let log = Arc::new(ServiceLog::create(&log, LOG_BYTES_MAX).map_err(failed)?);
            // Before it runs, so that a Baton that starts after a crash finds its processes.
            let _ = writeln!(ids, "{id}");
            fs::write(folder.join(SERVICES_FILE), &ids).map_err(failed)?;
            let started = EnvironmentChange::ServiceStarted {
                service: name.clone(),
                url: self.url(number, name.as_str()),
            };
            tell(&self.context.tasks, task.id(), checkout.attempt, started).await?;
            let run = AttemptServiceRun {
                context: self.context.clone(),
                task: task.id(),
                attempt: checkout.attempt,
                name,
                site: self.service_site(task, worktrees, checkout, id),
                log,
            };
            services.0.push(tokio::spawn(run.run()));
        }
        Ok(services)
    }

    /// As for the agent's own user tasks. Its processes have an id of their own: the agent's end with every step.
    fn service_site(&self, task: &Task, worktrees: &Worktrees, checkout: &Checkout, id: AttemptId) -> Site {
        let AttemptContext { projects, settings, agents, .. } = &self.context;
        let root = projects.people_folder(worktrees);
        let role = &task.spec().role;
        let agent = settings.agent_for(role).map(|(_, agent)| agent);
        let variables = agent.map(|agent| agent.env.clone()).unwrap_or_default();
        let mut site = agents.site(&root, &checkout.folder, checkout.attempt, &variables);
        for (name, value) in site.environment.iter_mut().flatten() {
            if name == ATTEMPT_ID {
                *value = id.to_string();
            }
        }
        site.fence = match agent {
            Some(agent) => projects.agent_task_fence(role, agent, worktrees, &checkout.folder),
            None => projects.check_task_fence(worktrees, &checkout.folder),
        };
        site
    }

    /// Where people reach it: the port in `NAME_PORT`, or in `PORT` for the first service.
    fn url(&self, number: usize, name: &str) -> Option<String> {
        let wishes = &self.context.settings.worktree.values;
        let own = format!("{}_PORT", file_name(name).to_uppercase());
        let names = [Some(own.as_str()), (number == 0).then_some("PORT")];
        let is_port = |name: &&str| matches!(wishes.get(*name), Some(ValueWish::Port(_)));
        let variable = names.into_iter().flatten().find(is_port)?;
        Some(format!("http://127.0.0.1:{}", self.context.agents.values.get(variable)?))
    }
}

impl AttemptServiceRun {
    async fn run(self) {
        let user_tasks = &self.context.agents.user_tasks;
        let ran = user_tasks.run_service(&self.site, self.name.as_str(), self.log.clone()).await;
        let (reason, has_failed) = match ran {
            Ok(ran) if ran.succeeded => ("it ended with exit code 0".to_owned(), false),
            Ok(ran) => (self.failure(ran.exit_code), true),
            Err(error) => (error.to_string(), true),
        };
        if let Err(error) = self.tell_end(reason, has_failed).await {
            tracing::warn!(%error, attempt = %self.attempt, service = %self.name, "cannot tell of a service's end");
        }
    }

    fn failure(&self, exit_code: i32) -> String {
        let lines = self.log.last_lines(LINES_TOLD);
        let path = self.log.path().display();
        let said = if lines.is_empty() { String::new() } else { format!(":\n{lines}") };
        format!("exit code {exit_code}, its log is {path}{said}")
    }

    async fn tell_end(&self, reason: String, has_failed: bool) -> Result<(), EngineError> {
        let AttemptContext { tasks, announce, .. } = &self.context;
        announce(&format!("{}: the service {} ended: {reason}", self.task, self.name));
        let reason = NonBlank::new(reason)?;
        // First the agent: a reader of the event may take it for granted.
        let said = if has_failed { self.tell_agent(&reason).await } else { Ok(()) };
        let ended = EnvironmentChange::ServiceEnded { service: self.name.clone(), reason };
        tell(tasks, self.task, self.attempt, ended).await?;
        said
    }

    async fn tell_agent(&self, reason: &NonBlank) -> Result<(), EngineError> {
        let text = format!(
            "The service {} of this task has ended and is not started again while you work: {reason}",
            self.name
        );
        match self.context.tasks.say(self.task, &NonBlank::new(text)?, &Actor::Baton).await {
            // Its attempt ended meanwhile.
            Err(error) if error.is_stale() => Ok(()),
            said => said.map(drop),
        }
    }
}

/// The name with nothing that means something in a path or a variable.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
