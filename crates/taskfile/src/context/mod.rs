//! What the tasks of one run are evaluated against: the Taskfile, the options, the environment, and the
//! variables computed from them.
//!
//! Turning a task into commands belongs to `compile`, carrying it out to `run`.

mod call;
mod environment;
mod error;
mod evaluate;
mod options;
mod renderer;
mod variables;

pub(crate) use call::TaskCall;
pub use environment::TaskEnvironment;
pub use error::{TaskRunError, TaskRunErrorKind};
pub(crate) use options::RunOptions;
pub(crate) use renderer::VarRenderer;
pub(crate) use variables::Variables;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::ast::{SchemaVersion, TaskfileAst, Var, Vars};
use crate::go::path::join;
use crate::go::{Map, Value};
use crate::load::{LoadError, ProjectTree, parse_dotenv, read_regular_file};
use crate::output::{Console, OutputMode, Stream};
use crate::shell::{CancelScope, DataKind, TaskShim, conceal, conceal_words, reveal};
use crate::template::System;

/// Where a Taskfile is, and where its tasks run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectPaths {
    /// The default directory of tasks.
    pub dir: PathBuf,
    pub taskfile: PathBuf,
    /// The caller's working directory.
    pub user_dir: PathBuf,
    /// Maps the definitions' checkout to the one tasks run in; `None` follows go-task.
    pub tree: Option<ProjectTree>,
}

impl ProjectPaths {
    /// A directory that tasks run in: relative to the project's, and never in the checkout of the definitions if that
    /// is another one.
    pub(crate) fn locate(&self, dir: &str) -> PathBuf {
        let dir = join(&self.dir, dir);
        match &self.tree {
            Some(tree) => tree.locate(dir),
            None => dir,
        }
    }
}

/// Runs share nothing but the files.
pub(crate) struct TaskfileContext<'e> {
    pub(crate) file: &'e TaskfileAst,
    pub(crate) place: &'e ProjectPaths,
    pub(crate) options: &'e RunOptions,
    pub(crate) console: &'e dyn Console,
    pub(crate) environment: &'e TaskEnvironment,
    pub(crate) task_shim: Option<&'e TaskShim>,
    pub(crate) output_mode: OutputMode,
    pub(crate) host: System,
    /// Cancellation and time limit of the whole run.
    pub(crate) scope: CancelScope,
    /// The Taskfile's variables and those of the command line.
    vars: Vars,
    /// The Taskfile's environment, including its dotenv files.
    env: Vars,
    sh_results: Mutex<HashMap<String, String>>,
    base: OnceLock<Map>,
    search_path: OnceLock<Option<OsString>>,
}

impl<'e> TaskfileContext<'e> {
    /// Prepares a run. Runs no command, except for `sh:` variables used in dotenv file names.
    pub(crate) fn new(
        file: &'e TaskfileAst,
        place: &'e ProjectPaths,
        options: &'e RunOptions,
        console: &'e dyn Console,
        environment: &'e TaskEnvironment,
        task_shim: Option<&'e TaskShim>,
        scope: CancelScope,
    ) -> Result<TaskfileContext<'e>, TaskRunError> {
        check_version(file)?;
        let style = if options.output.is_set() { &options.output } else { &file.output };
        let output_mode =
            OutputMode::parse(style).ok_or_else(|| LoadError::OutputStyle { name: style.name.clone() })?;
        let mut context = TaskfileContext {
            file,
            place,
            options,
            console,
            environment,
            task_shim,
            output_mode,
            host: System::new(place.dir.clone()),
            scope,
            vars: Vars::new(),
            env: file.env.clone(),
            sh_results: Mutex::default(),
            base: OnceLock::new(),
            search_path: OnceLock::new(),
        };
        // As in go-task, dotenv file names see only the file's own variables, not the command line's.
        context.vars.clone_from(&file.vars);
        context.read_dotenv()?;
        context.vars = context.command_line_vars();
        Ok(context)
    }

    /// Arguments and flags come first, so that the Taskfile's variables can use them; `NAME=value` overrides the
    /// Taskfile's variables.
    fn command_line_vars(&self) -> Vars {
        let options = self.options;
        let words = &options.cli_args;
        let mut vars = Vars::new();
        let mut set = |name: &str, value: Value| {
            vars.insert(name.to_owned(), Var::from_value(value));
        };
        set("CLI_ARGS", Value::Str(conceal_words(words)));
        set("CLI_ARGS_LIST", Value::List(words.iter().map(|w| conceal(w, DataKind::Word).into()).collect()));
        set("CLI_FORCE", options.force.into());
        set("CLI_SILENT", options.silent.into());
        set("CLI_VERBOSE", options.verbose.into());
        set("CLI_OFFLINE", options.offline.into());
        set("CLI_ASSUME_YES", options.assume_yes.into());
        for (name, var) in self.file.vars.iter().chain(&options.globals) {
            vars.insert(name.clone(), var.clone());
        }
        vars
    }

    fn read_dotenv(&mut self) -> Result<(), TaskRunError> {
        if self.file.dotenv.is_empty() {
            return Ok(());
        }
        let templated = self.file.dotenv.iter().any(|p| p.contains("{{"));
        let variables = if templated { self.variables(None, None, true)? } else { Variables::default() };
        let mut renderer = VarRenderer::new(&variables.values, &self.host);
        let paths = renderer.plains(&self.file.dotenv);
        renderer.finish()?;
        for path in paths.iter().filter(|p| !p.is_empty()) {
            for (name, value) in read_dotenv_file(&join(&self.place.dir, path))? {
                self.env.entry(name).or_insert_with(|| Var::from_value(value));
            }
        }
        Ok(())
    }

    pub(crate) fn file_vars(&self) -> &Vars {
        &self.vars
    }

    /// The Taskfile's `env:`, including its dotenv files.
    pub(crate) fn file_env(&self) -> &Vars {
        &self.env
    }

    /// The environment, and the variables that are the same for every task.
    pub(crate) fn base_values(&self) -> &Map {
        self.base.get_or_init(|| {
            let mut base = self.environment.values();
            let executable = self.options.executable.clone().unwrap_or_else(|| "task".to_owned());
            for (name, value) in [
                ("TASK_EXE", executable),
                ("ROOT_TASKFILE", self.place.taskfile.display().to_string()),
                ("ROOT_DIR", self.place.dir.display().to_string()),
                ("USER_WORKING_DIR", self.place.user_dir.display().to_string()),
                ("TASK_VERSION", SchemaVersion::CURRENT.to_string()),
                ("PATH_LIST_SEPARATOR", ":".to_owned()),
                ("FILE_PATH_SEPARATOR", "/".to_owned()),
            ] {
                base.insert(name.to_owned(), Value::Str(value));
            }
            base
        })
    }

    /// The `PATH` of commands with our `task` in front; `None` if it needs no change.
    fn search_path(&self) -> Option<&OsString> {
        let found = self
            .search_path
            .get_or_init(|| self.task_shim?.search_path(&self.environment.get("PATH").unwrap_or_default()));
        found.as_ref()
    }

    pub(crate) fn lookup(&self) -> impl Fn(&str) -> Option<String> {
        |name| self.environment.get(name)
    }

    /// Where state between runs is stored.
    pub(crate) fn state_dir(&self) -> PathBuf {
        let asked = self
            .options
            .state_dir
            .clone()
            .or_else(|| self.environment.get("TASK_TEMP_DIR"))
            .filter(|d| !d.is_empty());
        let Some(asked) = asked else { return self.place.dir.join(".task") };
        let path = crate::shell::expand_literal(&asked, &self.lookup());
        if Path::new(&path).is_absolute() {
            // A shared directory: each project has a subdirectory.
            let project = self.place.dir.file_name().unwrap_or_default();
            return Path::new(&path).join(project);
        }
        join(&self.place.dir, &path)
    }

    pub(crate) fn log(&self, line: &str) {
        self.console.write(Stream::Err, format!("{}\n", reveal(line)).as_bytes());
    }

    pub(crate) fn log_verbose(&self, line: &dyn Fn() -> String) {
        if self.options.verbose {
            self.log(&line());
        }
    }

    pub(crate) fn print_verbose(&self, line: &dyn Fn() -> String) {
        if self.options.verbose {
            self.console.write(Stream::Out, format!("{}\n", reveal(&line())).as_bytes());
        }
    }
}

/// The size limit of a dotenv file.
const MAX_DOTENV_BYTES: u64 = 1024 * 1024;

/// The variables of a dotenv file; a missing file has none.
pub(crate) fn read_dotenv_file(path: &Path) -> Result<indexmap::IndexMap<String, String>, TaskRunError> {
    match read_regular_file(path, MAX_DOTENV_BYTES) {
        Ok(bytes) => Ok(parse_dotenv(&String::from_utf8_lossy(&bytes), &path.display().to_string())?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(indexmap::IndexMap::new()),
        Err(source) => Err(LoadError::Read { path: path.to_owned(), source }.into()),
    }
}

/// Locks, ignoring poison: every change is one insert, so the data is consistent even after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check_version(file: &TaskfileAst) -> Result<(), LoadError> {
    let version = file.version.unwrap_or(SchemaVersion::V3);
    let reason = if version < SchemaVersion::V3 {
        "no longer supported. Please use v3 or above".to_owned()
    } else if version > SchemaVersion::CURRENT {
        format!("is greater than the current version of Task ({})", SchemaVersion::CURRENT)
    } else {
        return Ok(());
    };
    Err(LoadError::Version { location: file.location.clone(), version, reason })
}
