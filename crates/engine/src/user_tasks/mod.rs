//! User tasks: the commands that the people of a project have written down in `.agent/Taskfile.yml`.
//!
//! What a task is comes from the human's checkout, and for checks from the branch that work lands on; never from a copy an agent may have edited; where it runs is the
//! project's root or the attempt's worktree. Each run is on its own: its output, its environment, its time and its
//! end. What a Taskfile means is the business of `baton-taskfile`.

mod check_reader;
pub mod checks;
mod error;
mod explained;
pub mod fenced_run;
mod live_capture;
mod output;
pub(crate) mod permits;
pub(crate) mod service_log;
mod settings;
mod site;
#[cfg(test)]
mod tests;
mod trust;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_agents::fence::FenceRequest;
use baton_agents::output::live::LiveOutput;
use baton_agents::process::marked::MarkedRun;
use baton_agents::process::memory_limit::wait_for_excess_of;
use baton_agents::process::tree::ProcessTree;
use baton_taskfile::ast::TaskfileWarning;
use baton_taskfile::cli::TaskCliOptions;
use baton_taskfile::{
    CancelToken, Capture, Console, OutputTarget, ProjectTree, TaskEnvironment, TaskInvocation, Taskfile,
    TaskfileCache, split_args,
};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, SemaphorePermit, watch};

pub use error::UserTaskError;
pub use output::Ran;
pub use permits::{HeavyPermit, HeavyPermits};
pub use settings::{Trust, UserTaskSettings};
pub use site::{Site, TASKFILE};

use crate::base::ids::Ids;
use live_capture::{LiveCapture, RunCapture};
use service_log::ServiceLog;
use trust::Trusted;

/// User tasks at work at once. One more waits until another has ended.
const RUNS_MAX: usize = 32;

/// How long processes that a user task left in the background may take to end, before they are killed.
const LEFTOVER_GRACE: Duration = Duration::from_secs(2);

/// Shared by everyone who lists or runs; cheap to clone.
#[derive(Clone)]
pub struct UserTasks {
    shared: Arc<UserTaskState>,
    /// Of the project at hand.
    settings: UserTaskSettings,
}

struct UserTaskState {
    cache: TaskfileCache,
    /// Where whole outputs are kept, and what is trusted.
    folder: PathBuf,
    places: Semaphore,
    permits: HeavyPermits,
}

/// What is on offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTaskList {
    pub tasks: Vec<UserTask>,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTask {
    pub name: String,
    pub description: String,
}

impl UserTasks {
    pub fn new(state_dir: &Path, settings: UserTaskSettings) -> Self {
        Self::limited(state_dir, settings, HeavyPermits::default())
    }

    /// Where heavy ones need a permit of the machine.
    pub fn limited(state_dir: &Path, settings: UserTaskSettings, permits: HeavyPermits) -> Self {
        let folder = state_dir.join("user-tasks");
        let places = Semaphore::new(RUNS_MAX);
        let shared = UserTaskState { cache: TaskfileCache::default(), folder, places, permits };
        Self { shared: Arc::new(shared), settings }
    }

    /// The same for a project with these settings.
    #[must_use]
    pub fn with_settings(&self, settings: &UserTaskSettings) -> Self {
        Self { shared: self.shared.clone(), settings: settings.clone() }
    }

    /// The tasks that are not internal and have a description, in the order of the file.
    pub fn list(&self, site: &Site) -> Result<UserTaskList, UserTaskError> {
        let tasks = described(&*self.open(site)?)?;
        let message = format!("Successfully listed {} user-defined tasks from {TASKFILE}.", tasks.len());
        Ok(UserTaskList { tasks, message })
    }

    /// Runs one of the listed tasks to its end. A caller that stops waiting for it ends it, with everything it started.
    pub async fn run(&self, site: &Site, name: &str, args: &str) -> Result<Ran, UserTaskError> {
        if args.contains('\0') {
            return Err(UserTaskError::NulInArgs);
        }
        let args = split_args(args).ok_or(UserTaskError::OpenQuote)?;
        self.check_offered(site, name)?;
        let timeout = Duration::from_secs(self.settings.timeout);
        self.run_words(site, name, args, Some(timeout)).await
    }

    /// Refuses a task that is there and not listed. What a name that is not there is worth is said where it is looked for.
    pub fn check_offered(&self, site: &Site, name: &str) -> Result<(), UserTaskError> {
        let taskfile = self.open(site)?;
        if taskfile.is_listed(name.trim()).is_ok_and(|is_listed| !is_listed) {
            return Err(unknown(&taskfile, name.trim())?);
        }
        Ok(())
    }

    /// The same for a person: any task that is not internal, with arguments that are words already.
    pub async fn run_words(
        &self,
        site: &Site,
        name: &str,
        args: Vec<String>,
        timeout: Option<Duration>,
    ) -> Result<Ran, UserTaskError> {
        let permit = self.permit_for(name).await?;
        let marks = permit.marks();
        let call = TaskInvocation { args, timeout, marks, ..TaskInvocation::new(name.trim()) };
        self.run_call(site, call, None).await
    }

    /// For a user task, if it is heavy: waits until one is free.
    pub async fn permit_for(&self, name: &str) -> Result<HeavyPermit, UserTaskError> {
        self.shared.permits.take_for(name.trim()).await
    }

    /// For Baton's own ends: without arguments, both streams in one as they came. None when a stop was asked for.
    pub async fn run_unless_stopped(
        &self,
        site: &Site,
        name: &str,
        timeout: Duration,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<Option<Ran>, UserTaskError> {
        self.run_watched(site, name, timeout, stop, None).await
    }

    /// The same, while its output can be watched.
    pub async fn run_watched(
        &self,
        site: &Site,
        name: &str,
        timeout: Duration,
        stop: &mut watch::Receiver<bool>,
        live: Option<&LiveOutput>,
    ) -> Result<Option<Ran>, UserTaskError> {
        let permit = tokio::select! {
            permit = self.permit_for(name) => permit?,
            () = stopped(stop) => return Ok(None),
        };
        self.run_permitted(site, name, timeout, stop, live, &permit).await
    }

    /// The same for a caller that has a permit already.
    pub(crate) async fn run_permitted(
        &self,
        site: &Site,
        name: &str,
        timeout: Duration,
        stop: &mut watch::Receiver<bool>,
        live: Option<&LiveOutput>,
        permit: &HeavyPermit,
    ) -> Result<Option<Ran>, UserTaskError> {
        let capture = Arc::new(LiveCapture::new(live.cloned()));
        let (timeout, marks) = (Some(timeout), permit.marks());
        let call = TaskInvocation { timeout, marks, ..TaskInvocation::new(name.trim()) };
        tokio::select! {
            ran = self.run_call(site, call, Some(capture)) => ran.map(Some),
            () = stopped(stop) => Ok(None),
        }
    }

    async fn run_call(
        &self,
        site: &Site,
        mut call: TaskInvocation,
        // Both streams in one; without it they are kept apart.
        capture: Option<Arc<dyn RunCapture>>,
    ) -> Result<Ran, UserTaskError> {
        let taskfile = self.ready_to_run(site, &call.name)?;
        if let Some(request) = &site.fence {
            let _place = self.place(&call).await;
            // On the heap: it holds the state of a process and its pipes.
            return Box::pin(run_fenced(site, request, &taskfile, &call, capture)).await;
        }
        let cancel = CancelToken::new().map_err(|error| UserTaskError::Lost(error.to_string()))?;
        let _ending = CancelOnDrop(cancel.clone());
        let _place = self.place(&call).await;
        let id = Ids::random().attempt();
        let run = move || {
            let marked = MarkedRun::begin(id);
            call.marks.push(marked.mark());
            let io = match &capture {
                Some(capture) => OutputTarget::Streamed(capture.clone()),
                None => OutputTarget::Separate,
            };
            let mut outcome = taskfile.run(&call, &io, Some(&cancel));
            if let Some(capture) = capture {
                outcome.stdout = capture.take();
            }
            let ran = Ran::of(&call.name, outcome);
            marked.end(LEFTOVER_GRACE);
            ran
        };
        let mut running = tokio::task::spawn_blocking(run);
        let lost = |error: tokio::task::JoinError| UserTaskError::Lost(error.to_string());
        let tree = ProcessTree::new(id, None);
        tokio::select! {
            ran = &mut running => ran.map_err(lost),
            excess = wait_for_excess_of(&tree, site.memory_bytes_max) => {
                // Whatever is left of it is ended with the run.
                let _ = tree.kill().await;
                Ok(running.await.map_err(lost)?.ended_for_memory(&excess))
            }
        }
    }

    /// For a check, which is heavy. None when a stop was asked for.
    pub(crate) async fn check_permit(
        &self,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<Option<HeavyPermit>, UserTaskError> {
        tokio::select! {
            permit = self.shared.permits.take() => permit.map(Some),
            () = stopped(stop) => Ok(None),
        }
    }

    /// Runs a task for as long as it likes, as a service. A caller that stops waiting for it ends it.
    pub(crate) async fn run_service(
        &self,
        site: &Site,
        name: &str,
        log: Arc<ServiceLog>,
    ) -> Result<Ran, UserTaskError> {
        self.run_call(site, TaskInvocation::new(name.trim()), Some(log)).await
    }

    /// One that may run for ever takes no place from the others.
    async fn place(&self, call: &TaskInvocation) -> Option<SemaphorePermit<'_>> {
        match call.timeout {
            // Never closed, so there is always a place in the end.
            Some(_) => self.shared.places.acquire().await.ok(),
            None => None,
        }
    }

    /// What a model is told of a run: long output keeps its head and its tail, and the whole is in a file.
    pub fn told(&self, ran: &Ran) -> String {
        ran.told(&self.shared.folder)
    }

    /// Everything that can be wrong before a task starts.
    pub fn ready_to_run(&self, site: &Site, name: &str) -> Result<Arc<Taskfile>, UserTaskError> {
        let taskfile = self.open(site)?;
        let name = name.trim();
        if name.is_empty() || taskfile.find(name).is_err() {
            return Err(unknown(&taskfile, name)?);
        }
        if self.settings.trust == Trust::Prompt
            && !Trusted::in_folder(&self.shared.folder).holds(site, &taskfile)?
        {
            return Err(UserTaskError::Untrusted);
        }
        match taskfile.warnings() {
            [] => Ok(taskfile),
            warnings => Err(UserTaskError::UnknownKeys(warnings.iter().map(describe_warning).collect())),
        }
    }

    /// Runs a task in this terminal, with its streams; returns the exit code. Nothing it started is left when it ends.
    pub fn run_in_terminal(
        &self,
        site: &Site,
        name: &str,
        args: &[String],
        limit: Option<Duration>,
        permit: &HeavyPermit,
    ) -> i32 {
        let (file, folder) = (site.taskfile(), &site.folder);
        let mut words: Vec<String> =
            ["-x", "-t", &file.to_string_lossy(), "-d", &folder.to_string_lossy(), name, "--"]
                .map(str::to_owned)
                .to_vec();
        words.extend_from_slice(args);
        let marked = MarkedRun::begin(Ids::random().attempt());
        let marks = permit.marks().into_iter().chain([marked.mark()]).collect();
        let caller = TaskCliOptions { limit, definitions: Some(site.root.clone()), marks };
        let code = baton_taskfile::cli::main_with(&words, &caller);
        marked.end(LEFTOVER_GRACE);
        code
    }

    /// A person has read the file as it is now and lets it run.
    pub fn trust(&self, site: &Site) -> Result<(), UserTaskError> {
        Trusted::in_folder(&self.shared.folder).add(site, &*self.open(site)?)
    }

    /// What stands for the file, with all it includes, as it is now.
    pub fn digest(&self, site: &Site) -> Result<String, UserTaskError> {
        Trusted::digest(site, &*self.open(site)?)
    }

    /// The same for the same definitions in any folder, on any machine.
    pub(crate) fn portable_digest(&self, site: &Site) -> Result<String, UserTaskError> {
        Trusted::portable_digest(site, &*self.open(site)?)
    }

    /// A person has read the file when this was its digest, and lets it run; false when it is another by now.
    pub fn trust_if(&self, site: &Site, digest: &str) -> Result<bool, UserTaskError> {
        let taskfile = self.open(site)?;
        let is_same = Trusted::digest(site, &taskfile)? == digest;
        if is_same {
            Trusted::in_folder(&self.shared.folder).add(site, &taskfile)?;
        }
        Ok(is_same)
    }

    /// The Taskfile as it is now; read again only when it changed.
    fn open(&self, site: &Site) -> Result<Arc<Taskfile>, UserTaskError> {
        if !site.has_taskfile() {
            return Err(UserTaskError::NoTaskfile);
        }
        let environment = match &site.environment {
            Some(variables) => TaskEnvironment::from_vars(variables.iter().cloned()),
            None => TaskEnvironment::from_process(),
        };
        let (definitions, dir, copy_of) = (site.root.clone(), site.folder.clone(), site.copy_of.clone());
        let tree = ProjectTree { definitions, dir, copy_of };
        Ok(self.shared.cache.open_in(&tree, &site.taskfile(), environment)?)
    }
}

async fn run_fenced(
    site: &Site,
    request: &FenceRequest,
    taskfile: &Taskfile,
    call: &TaskInvocation,
    capture: Option<Arc<dyn RunCapture>>,
) -> Result<Ran, UserTaskError> {
    let apart = Capture::separate();
    let console: &dyn Console = match &capture {
        Some(capture) => capture.as_ref(),
        None => &apart,
    };
    let end = fenced_run::run(site, request, taskfile, call, console).await?;
    let (stdout, stderr) = match capture {
        Some(capture) => (capture.take(), String::new()),
        None => apart.take(),
    };
    Ok(Ran::of_fenced(&call.name, end, stdout, stderr))
}

fn describe_warning((path, warning): &(PathBuf, TaskfileWarning)) -> String {
    let TaskfileWarning { message, position } = warning;
    format!("{}:{}:{}: {message}", path.display(), position.line, position.column)
}

/// That there is no such task, with the names there are.
fn unknown(taskfile: &Taskfile, name: &str) -> Result<UserTaskError, UserTaskError> {
    let names = described(taskfile)?.into_iter().map(|task| task.name).collect();
    Ok(UserTaskError::Unknown { name: name.to_owned(), names })
}

fn described(taskfile: &Taskfile) -> Result<Vec<UserTask>, UserTaskError> {
    let listed = taskfile.list(false).map_err(|error| UserTaskError::Unreadable(error.to_string()))?;
    Ok(listed.into_iter().map(|task| UserTask { name: task.name, description: task.desc }).collect())
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|is_stopped| *is_stopped).await.is_err() {
        // Nobody is left who could stop it.
        std::future::pending::<()>().await;
    }
}

/// Ends the run when nobody waits for it any more.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
