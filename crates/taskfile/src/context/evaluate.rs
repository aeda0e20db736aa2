//! Evaluates the variables of a task, each from those before it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::ast::{TaskAst, Var};
use crate::go::{Map, Value};
use crate::output::{CommandSink, Stream};
use crate::shell::{CancelScope, CommandError, CommandRequest, DataKind, conceal, has_data, reveal};

use super::call::TaskCall;
use super::error::{TaskRunError, TaskRunErrorKind};
use super::renderer::VarRenderer;
use super::variables::Variables;
use super::{TaskfileContext, lock};

impl TaskfileContext<'_> {
    /// In increasing precedence: environment, special variables, the Taskfile's `env` and `vars`, those of includes, the
    /// call's, the task's own. Without `evaluate`, no command is run and invalid templates are left as written.
    pub(crate) fn variables(
        &self,
        task: Option<&TaskAst>,
        call: Option<&TaskCall>,
        evaluate: bool,
    ) -> Result<Variables, TaskRunError> {
        let mut variables = Variables::with_base(self.base_values());
        self.set_variables(&mut variables, task, call, evaluate)?;
        Ok(variables)
    }

    /// Like [`TaskfileContext::variables`], on top of the base values.
    pub(crate) fn set_variables(
        &self,
        variables: &mut Variables,
        task: Option<&TaskAst>,
        call: Option<&TaskCall>,
        evaluate: bool,
    ) -> Result<(), TaskRunError> {
        self.set_special(variables, task, call);
        let root = &self.place.dir;
        let task_dir = match task {
            Some(task) => self.task_dir(task, variables)?,
            None => root.clone(),
        };
        for (name, var) in self.env.iter().chain(&self.vars) {
            self.set(variables, name, var, root, evaluate)?;
        }
        let Some(task) = task else { return Ok(()) };
        for (name, var) in &task.include_vars {
            self.set(variables, name, var, root, evaluate)?;
        }
        for (name, var) in task.included_taskfile_vars.iter() {
            self.set(variables, name, var, &task_dir, evaluate)?;
        }
        let Some(call) = call else { return Ok(()) };
        for (name, var) in &call.vars {
            self.set(variables, name, var, root, evaluate)?;
        }
        for (name, var) in &task.vars {
            self.set(variables, name, var, &task_dir, evaluate)?;
        }
        Ok(())
    }

    fn set_special(&self, variables: &mut Variables, task: Option<&TaskAst>, call: Option<&TaskCall>) {
        let taskfile = task.map_or("", |t| t.location.taskfile.as_str());
        let taskfile_dir = Path::new(taskfile).parent().map(Path::to_string_lossy).unwrap_or_default();
        let taskfile_dir = match &self.place.tree {
            Some(_) if !taskfile_dir.is_empty() => self.place.locate(&taskfile_dir).display().to_string(),
            _ => taskfile_dir.into_owned(),
        };
        let task_dir = task.map(|t| self.place.locate(&t.dir)).unwrap_or_default();
        for (name, value) in [
            ("TASK", task.map_or("", |t| t.name.as_str())),
            ("TASK_DIR", &task_dir.to_string_lossy()),
            ("TASKFILE", taskfile),
            ("TASKFILE_DIR", &taskfile_dir),
            ("ALIAS", call.map_or("", |c| c.task.as_str())),
        ] {
            variables.set(name, Value::from(value));
        }
    }

    /// Where a task's own `sh:` variables run. Only the environment is known at this point.
    fn task_dir(&self, task: &TaskAst, variables: &Variables) -> Result<PathBuf, TaskRunError> {
        let mut renderer = VarRenderer::new(&variables.values, &self.host);
        let dir = renderer.plain(&task.dir);
        renderer.finish()?;
        Ok(self.place.locate(&dir))
    }

    fn set(
        &self,
        variables: &mut Variables,
        name: &str,
        var: &Var,
        dir: &Path,
        evaluate: bool,
    ) -> Result<(), TaskRunError> {
        let mut renderer = VarRenderer::new(&variables.values, &self.host);
        let current = renderer.var(var);
        if current.secret {
            variables.secrets.push(name.to_owned());
        }
        if !evaluate {
            match current.sh.filter(|sh| current.value.is_none() && !sh.is_empty()) {
                Some(sh) => variables.set_pending(name, &sh),
                None => variables.set(name, current.value.unwrap_or_else(|| Value::from(""))),
            }
            return Ok(());
        }
        renderer.finish()?;
        let value = match (current.value, &current.sh) {
            (Some(value), _) => value,
            (None, None) => Value::Nil,
            (None, Some(sh)) => {
                let dir = current.dir.as_deref().map_or(dir, Path::new);
                Value::Str(self.evaluate_sh(sh, dir, &self.export(&variables.values))?)
            }
        };
        variables.set(name, value);
        Ok(())
    }

    /// Variables as environment entries; those already in the environment are not overridden.
    pub(crate) fn export(&self, values: &Map) -> Vec<(String, OsString)> {
        let exportable = Variables::exportable(values).filter(|(name, _)| !self.environment.contains(name));
        let mut export: Vec<(String, OsString)> =
            exportable.map(|(name, text)| (name.to_owned(), text.into())).collect();
        export.extend(self.search_path().map(|path| ("PATH".to_owned(), path.clone())));
        export
    }

    /// The output of a command without its trailing newline; each command is run once per run.
    pub(crate) fn evaluate_sh(
        &self,
        sh: &str,
        dir: &Path,
        export: &[(String, OsString)],
    ) -> Result<String, TaskRunError> {
        if sh.is_empty() {
            return Ok(String::new());
        }
        // Held while the command runs, so that concurrent tasks do not run it twice.
        let mut known = lock(&self.sh_results);
        if let Some(result) = known.get(sh) {
            return Ok(result.clone());
        }
        let mut bytes = Vec::new();
        let mut out = |part: &[u8]| bytes.extend_from_slice(part);
        let mut err = |part: &[u8]| self.console.write(Stream::Err, part);
        let sink = if self.console.is_terminal() {
            CommandSink::OutOnly { out: &mut out }
        } else {
            CommandSink::Separate { out: &mut out, err: &mut err }
        };
        if !dir.exists() {
            // A task creates its directory before its commands run, but variables are evaluated earlier.
            std::fs::create_dir_all(dir)
                .map_err(|source| TaskRunErrorKind::Directory { dir: dir.to_owned(), source })?;
        }
        let request = self.command_request(sh, dir, export, &[], &[]);
        crate::shell::run(&request, &self.scope, sink)
            .map_err(|failure| TaskRunErrorKind::Dynamic { command: reveal(sh).into_owned(), failure })?;
        let text = String::from_utf8_lossy(&bytes);
        let result =
            text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(&text).to_owned();
        self.log_verbose(&|| format!("task: dynamic variable: {:?} result: {result:?}", reveal(sh)));
        // What a command makes of arguments is no more to be run than they are.
        let result = if has_data(sh) { conceal(&result, DataKind::Computed) } else { result };
        known.insert(sh.to_owned(), result.clone());
        Ok(result)
    }

    pub(crate) fn command_request<'r>(
        &'r self,
        command: &'r str,
        dir: &'r Path,
        additions: &'r [(String, OsString)],
        set: &'r [String],
        shopt: &'r [String],
    ) -> CommandRequest<'r> {
        CommandRequest {
            command,
            dir,
            environment: self.environment.overrides(),
            additions,
            marks: &self.options.marks,
            set,
            shopt,
            stdin: false,
            own_group: !self.options.share_group,
        }
    }

    /// Runs a command for its exit status and discards its output.
    pub(crate) fn run_quietly(
        &self,
        command: &str,
        dir: &Path,
        env: &[(String, OsString)],
        scope: &CancelScope,
    ) -> Result<(), CommandError> {
        let mut nothing = |_: &[u8]| {};
        crate::shell::run(
            &self.command_request(command, dir, env, &[], &[]),
            scope,
            CommandSink::Combined { all: &mut nothing },
        )
    }
}
