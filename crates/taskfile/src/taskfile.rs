//! The crate's API: opening, listing and running a Taskfile.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::ast::{TaskfileWarning, Var, Vars};
use crate::context::{
    ProjectPaths, RunOptions, TaskCall, TaskEnvironment, TaskRunError, TaskRunErrorKind, TaskfileContext,
};
use crate::go::path::join;
use crate::listing::{self, ListOrder, ListedTask};
use crate::load::{FileStamp, LoadError, LoadedTaskfile, ProjectTree, load};
use crate::output::{Capture, Console, ProcessConsole};
use crate::run::{STACK_BYTES, TaskRunner};
use crate::shell::{CancelReason, CancelScope, CancelToken, TaskShim};
use crate::template::System;

/// A Taskfile with everything it includes, as of when it was opened.
#[derive(Debug)]
pub struct Taskfile {
    place: ProjectPaths,
    loaded: LoadedTaskfile,
    environment: TaskEnvironment,
    task_shim: Option<TaskShim>,
}

/// A task to run, and how.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct TaskInvocation {
    pub name: String,
    /// Arguments that templates see as `CLI_ARGS` (quoted) and `CLI_ARGS_LIST`.
    pub args: Vec<String>,
    /// Variables that override the Taskfile's, as `NAME=value` on a command line does.
    pub vars: Vec<(String, String)>,
    /// Environment variables of every command, by which the caller finds its processes.
    pub marks: Vec<(String, String)>,
    /// Time limit for the whole run.
    pub timeout: Option<Duration>,
    /// Do not print commands before they run.
    pub silent: bool,
    /// Answer prompts with yes; otherwise a task with a prompt fails.
    pub assume_yes: bool,
    /// Print commands without running them.
    pub dry: bool,
    /// Run tasks that are up to date too.
    pub force: bool,
}

impl TaskInvocation {
    pub fn new(name: impl Into<String>) -> TaskInvocation {
        TaskInvocation { name: name.into(), ..TaskInvocation::default() }
    }
}

/// Where the output of a run goes.
#[derive(Clone, Default)]
pub enum OutputTarget {
    /// Captured, stdout and stderr separately.
    #[default]
    Separate,
    /// Captured in the order written, all in [`InvocationResult::stdout`].
    Interleaved,
    /// The process's own streams; commands read its standard input.
    Inherit,
    /// Passed on as it arrives.
    Streamed(Arc<dyn Console>),
}

/// How a run ended.
#[derive(Debug)]
pub struct InvocationResult {
    pub stdout: String,
    pub stderr: String,
    /// Zero, the exit code of the failed command, or go-task's code for the error.
    pub exit_code: i32,
    pub error: Option<TaskRunError>,
}

impl InvocationResult {
    pub fn is_success(&self) -> bool {
        self.error.is_none()
    }
}

impl Taskfile {
    /// Opens a Taskfile. Its tasks run in `project_dir`, whatever directory the file is in.
    pub fn open(project_dir: &Path, taskfile: &Path) -> Result<Taskfile, LoadError> {
        Taskfile::open_in(&ProjectTree::single(project_dir), taskfile, TaskEnvironment::from_process())
    }

    /// Like [`Taskfile::open`], with an explicit environment, and possibly in another checkout than the definitions'.
    pub fn open_in(
        tree: &ProjectTree,
        taskfile: &Path,
        environment: TaskEnvironment,
    ) -> Result<Taskfile, LoadError> {
        let tree = tree.absolute().map_err(|source| LoadError::Read { path: tree.dir.clone(), source })?;
        let dir = tree.dir.clone();
        let path = join(&dir, &taskfile.display().to_string());
        if !path.is_file() {
            return Err(LoadError::NotFound {
                uri: path.display().to_string(),
                searched_above: false,
                at_root: false,
            });
        }
        let loaded = load(&path, &dir, Some(&tree), &environment.values(), &System::new(dir.clone()))?;
        let place = ProjectPaths { user_dir: dir.clone(), dir, taskfile: path, tree: Some(tree) };
        Ok(Taskfile { place, loaded, environment, task_shim: TaskShim::current() })
    }

    /// Sets the executable that commands find as `task`; it must act as `task` when called by that name.
    pub fn with_task_shim(mut self, task_shim: Option<TaskShim>) -> Taskfile {
        self.task_shim = task_shim;
        self
    }

    /// Whether every file read is unchanged on disk.
    pub fn is_current(&self) -> bool {
        self.loaded.files.iter().all(FileStamp::is_current)
    }

    /// Problems that do not keep the Taskfile from working, with the file each is in.
    pub fn warnings(&self) -> &[(PathBuf, TaskfileWarning)] {
        &self.loaded.warnings
    }

    pub fn path(&self) -> &Path {
        &self.place.taskfile
    }

    /// Every file read, including the Taskfile itself.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.loaded.files.iter().map(|stamp| stamp.path.as_path())
    }

    /// Checks that a name, alias or wildcard match denotes a task that is not internal.
    pub fn find(&self, name: &str) -> Result<(), TaskRunError> {
        let options = RunOptions::default();
        let console = Capture::separate();
        let context = self.context(&options, &console, CancelScope::default())?;
        let task = context.find(&mut TaskCall::new(name))?;
        if task.internal { Err(TaskRunErrorKind::Internal { task: name.to_owned() }.into()) } else { Ok(()) }
    }

    /// Whether the name, alias or wildcard match denotes a task that is listed: not internal, with a description.
    pub fn is_listed(&self, name: &str) -> Result<bool, TaskRunError> {
        let options = RunOptions::default();
        let console = Capture::separate();
        let context = self.context(&options, &console, CancelScope::default())?;
        let task = context.find(&mut TaskCall::new(name))?;
        Ok(!task.internal && !task.desc.is_empty())
    }

    /// The tasks that are not internal, in file order: those with a description, or `all`. Runs no command.
    pub fn list(&self, all: bool) -> Result<Vec<ListedTask>, TaskRunError> {
        let options = RunOptions::default();
        let console = Capture::separate();
        let context = self.context(&options, &console, CancelScope::default())?;
        listing::list_tasks(&context, &listing::select_tasks(&context, all, ListOrder::AsWritten))
    }

    /// Runs a task to completion. Runs share nothing, so any number may run concurrently.
    pub fn run(
        &self,
        call: &TaskInvocation,
        io: &OutputTarget,
        cancel: Option<&CancelToken>,
    ) -> InvocationResult {
        let capture = match io {
            OutputTarget::Separate => Some(Capture::separate()),
            OutputTarget::Interleaved => Some(Capture::combined()),
            OutputTarget::Inherit | OutputTarget::Streamed(_) => None,
        };
        let console: &dyn Console = match (&capture, io) {
            (Some(capture), _) => capture,
            (None, OutputTarget::Streamed(console)) => console.as_ref(),
            (None, _) => &ProcessConsole,
        };
        let mut scope =
            cancel.map_or_else(CancelScope::default, |c| CancelScope::default().with_token(c.clone()));
        if let Some(limit) = call.timeout {
            scope = scope.with_timeout(limit);
        }
        let inherit = matches!(io, OutputTarget::Inherit);
        // The caller's stack may be small; commands and templates of a Taskfile must not exhaust it.
        let result = std::thread::scope(|threads| {
            let run = || self.run_on(call, inherit, console, &scope);
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(threads, run);
            match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(source) => Err(TaskRunErrorKind::Thread { task: call.name.clone(), source }.into()),
            }
        });
        let error = result.err().map(|error| match scope.cancel_reason() {
            Some(CancelReason::Cancelled) => TaskRunErrorKind::Cancelled { task: call.name.clone() }.into(),
            Some(CancelReason::DeadlinePassed) => TaskRunErrorKind::TimeLimit {
                task: call.name.clone(),
                limit: call.timeout.unwrap_or_default(),
            }
            .into(),
            None => error,
        });
        let (stdout, stderr) = capture.map(|c| c.take()).unwrap_or_default();
        InvocationResult {
            stdout,
            stderr,
            exit_code: error.as_ref().map_or(0, TaskRunError::exit_code),
            error,
        }
    }

    fn run_on(
        &self,
        call: &TaskInvocation,
        inherit: bool,
        console: &dyn Console,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        let globals: Vars =
            call.vars.iter().map(|(name, value)| (name.clone(), Var::from_value(value.as_str()))).collect();
        let options = RunOptions {
            silent: call.silent,
            assume_yes: call.assume_yes,
            dry: call.dry,
            force: call.force,
            cli_args: call.args.clone(),
            marks: call.marks.clone(),
            stdin: inherit,
            globals,
            ..RunOptions::default()
        };
        let context = self.context(&options, console, scope.clone())?;
        TaskRunner::new(&context).run(&mut [TaskCall::new(&call.name)])
    }

    fn context<'e>(
        &'e self,
        options: &'e RunOptions,
        console: &'e dyn Console,
        scope: CancelScope,
    ) -> Result<TaskfileContext<'e>, TaskRunError> {
        TaskfileContext::new(
            &self.loaded.taskfile,
            &self.place,
            options,
            console,
            &self.environment,
            self.task_shim.as_ref(),
            scope,
        )
    }
}

/// A Taskfile with the project and path it was opened by.
type Opened = ((ProjectTree, PathBuf), Arc<Taskfile>);

/// Opened Taskfiles by path, re-read only when a file changed.
#[derive(Debug, Default)]
pub struct TaskfileCache {
    opened: Mutex<Vec<Opened>>,
}

/// How many Taskfiles are cached; the oldest is evicted first.
const MAX_OPENED: usize = 64;

impl TaskfileCache {
    /// The current Taskfile.
    pub fn open(&self, project_dir: &Path, taskfile: &Path) -> Result<Arc<Taskfile>, LoadError> {
        self.open_in(&ProjectTree::single(project_dir), taskfile, TaskEnvironment::from_process())
    }

    /// Like [`Taskfile::open_in`]; the tree and the environment are part of the cache key.
    pub fn open_in(
        &self,
        tree: &ProjectTree,
        taskfile: &Path,
        environment: TaskEnvironment,
    ) -> Result<Arc<Taskfile>, LoadError> {
        let key = (tree.clone(), taskfile.to_owned());
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|(k, known)| *k != key || known.is_current());
        let is_same = |known: &Taskfile| known.environment.overrides() == environment.overrides();
        if let Some((_, known)) = opened.iter().find(|(k, known)| *k == key && is_same(known)) {
            return Ok(Arc::clone(known));
        }
        let fresh = Arc::new(Taskfile::open_in(tree, taskfile, environment)?);
        if opened.len() >= MAX_OPENED {
            opened.remove(0);
        }
        opened.push((key, Arc::clone(&fresh)));
        Ok(fresh)
    }
}
