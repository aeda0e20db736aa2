//! A task with its variables put in, ready to run or to be shown.

mod items;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::ast::{Action, Allowed, Command, Dependency, Glob, Precondition, Task, Var, Vars};
use crate::fingerprint::Subject;
use crate::load::join;
use crate::run::{Call, Cause, Engine, RunError};
use crate::shell::expand_literal;
use crate::template::TemplateError;
use crate::value::{Map, Value};
use crate::vars::{Renderer, Variables};

/// A task as it will run.
pub struct Compiled<'t> {
    pub task: &'t Task,
    /// The name with what its stars stood for.
    pub full_name: String,
    pub label: String,
    pub desc: String,
    pub prompts: Vec<String>,
    pub summary: String,
    pub sources: Vec<Glob>,
    pub generates: Vec<Glob>,
    pub dir: PathBuf,
    pub method: String,
    pub prefix: String,
    pub run: String,
    pub condition: String,
    pub status: Vec<String>,
    pub preconditions: Vec<Precondition>,
    pub steps: Vec<Step<'t>>,
    pub deps: Vec<Dep>,
    /// What its commands have in their environment beside that of the run.
    pub env: Vec<(String, OsString)>,
    /// The `env:` of the file and the task, as shown.
    pub env_vars: Vars,
    pub variables: Variables,
    /// What each required variable may be, where that is said.
    pub allowed: Vec<(String, Vec<String>)>,
}

/// One command or call of a task.
pub struct Step<'t> {
    pub command: &'t Command,
    pub action: Action,
    /// The command as shown to people.
    pub shown: Option<String>,
    pub condition: String,
}

/// A task to run first.
pub struct Dep {
    pub task: String,
    pub vars: Vars,
    pub silent: bool,
    pub timeout: Option<Duration>,
    pub condition: String,
}

impl Compiled<'_> {
    /// The name messages use.
    pub fn name(&self) -> &str {
        if !self.label.is_empty() {
            &self.label
        } else if !self.full_name.is_empty() {
            &self.full_name
        } else {
            &self.task.name
        }
    }
}

impl<'e> Engine<'e> {
    /// Puts the variables into a task. With `evaluate`, `sh:` variables are run and a mistake in a template is
    /// an error; without, the task is only to be looked at.
    pub(crate) fn compile(&self, call: &mut Call, evaluate: bool) -> Result<Compiled<'e>, RunError> {
        let task = self.find(call)?;
        let mut variables = self.variables(Some(task), Some(call), evaluate)?;
        let full_name = full_name(task, &variables);
        let mut render = Renderer::new(&variables.values, &self.host);
        let dir = expand_literal(&render.text(&task.dir), &|name| self.environment.get(name));
        let dir = join(&self.place.dir, &dir);
        let mut compiled = Compiled {
            task,
            full_name,
            label: render.text(&task.label),
            desc: render.text(&task.desc),
            prompts: render.texts(&task.prompts),
            summary: render.text(&task.summary),
            sources: globs(&task.sources, &mut render),
            generates: globs(&task.generates, &mut render),
            method: render.text(&task.method),
            prefix: render.text(&task.prefix),
            run: render.text(&task.run),
            condition: render.text(&task.condition),
            status: Vec::new(),
            preconditions: Vec::new(),
            steps: Vec::new(),
            deps: Vec::new(),
            env: Vec::new(),
            env_vars: Vars::new(),
            variables: Variables::default(),
            allowed: Vec::new(),
            dir,
        };
        if compiled.prefix.is_empty() {
            compiled.prefix.clone_from(&task.name);
        }
        self.compile_env(&mut compiled, &mut render, evaluate)?;
        let mistakes = render.finish();
        if evaluate {
            mistakes.map_err(|error| misplaced(error, task))?;
        }
        let method = if task.method.is_empty() { &self.file.method } else { &task.method };
        if !task.sources.is_empty() && method != "none" {
            let (name, value) =
                self.subject(&compiled, &|n| self.environment.get(n)).value(method == "timestamp")?;
            variables.set(name, value);
        }
        let mut render = Renderer::new(&variables.values, &self.host);
        let masked = variables.masked();
        self.compile_steps(&mut compiled, &variables, masked.as_ref(), &mut render)?;
        self.compile_deps(&mut compiled, &variables, &mut render)?;
        for precondition in &task.preconditions {
            let (sh, message) = (render.text(&precondition.sh), render.text(&precondition.message));
            compiled.preconditions.push(Precondition { sh, message });
        }
        compiled.status = render.texts(&task.status);
        compiled.allowed = allowed(task, &mut render, evaluate)?;
        let mistakes = render.finish();
        if evaluate {
            mistakes.map_err(|error| misplaced(error, task))?;
        }
        compiled.variables = variables;
        Ok(compiled)
    }

    /// The environment of a task: the file's, then its dotenv files, then its own.
    fn compile_env(
        &self,
        compiled: &mut Compiled<'_>,
        render: &mut Renderer<'_>,
        evaluate: bool,
    ) -> Result<(), RunError> {
        let mut env = render.vars(self.file_env());
        let mut from_files = Vars::new();
        for path in render.texts(&compiled.task.dotenv) {
            for (name, value) in crate::run::read_dotenv_file(&join(&compiled.dir, &path))? {
                from_files.entry(name).or_insert_with(|| Var::of(value));
            }
        }
        env.extend(render.vars(&from_files));
        env.extend(render.vars(&compiled.task.env));
        let mut values = Map::new();
        for (name, var) in &env {
            let value = match (&var.value, &var.sh) {
                (None, Some(sh)) if evaluate => {
                    let dir = var.dir.as_ref().map_or_else(|| compiled.dir.clone(), PathBuf::from);
                    Value::Str(self.dynamic(sh, &dir, &self.exported(&values))?)
                }
                (value, _) => value.clone().unwrap_or_default(),
            };
            values.insert(name.clone(), value);
        }
        compiled.env = self.exported(&values);
        compiled.env_vars = env;
        Ok(())
    }

    fn compile_steps(
        &self,
        compiled: &mut Compiled<'e>,
        variables: &Variables,
        masked: Option<&Map>,
        render: &mut Renderer<'_>,
    ) -> Result<(), RunError> {
        for command in &compiled.task.commands {
            if command.deferred {
                // Rendered when it runs, since only then is the exit code known.
                let action = command.action.clone();
                compiled.steps.push(Step {
                    command,
                    action,
                    shown: None,
                    condition: command.condition.clone(),
                });
                continue;
            }
            let Some(iteration) = &command.iteration else {
                compiled.steps.push(step(command, render, masked.map(|m| Renderer::new(m, &self.host))));
                continue;
            };
            let mut data = variables.values.clone();
            let mut shown = masked.cloned();
            for item in self.items(iteration, compiled, variables, render)? {
                for map in std::iter::once(&mut data).chain(&mut shown) {
                    item.set(iteration.item_name(), map);
                }
                let mut with_item = Renderer::new(&data, &self.host);
                compiled.steps.push(step(
                    command,
                    &mut with_item,
                    shown.as_ref().map(|m| Renderer::new(m, &self.host)),
                ));
                render.adopt(with_item);
            }
        }
        Ok(())
    }

    fn compile_deps(
        &self,
        compiled: &mut Compiled<'e>,
        variables: &Variables,
        render: &mut Renderer<'_>,
    ) -> Result<(), RunError> {
        for dependency in &compiled.task.deps {
            let Some(iteration) = &dependency.iteration else {
                compiled.deps.push(dep(dependency, render));
                continue;
            };
            let mut data = variables.values.clone();
            for item in self.items(iteration, compiled, variables, render)? {
                item.set(iteration.item_name(), &mut data);
                let mut with_item = Renderer::new(&data, &self.host);
                compiled.deps.push(dep(dependency, &mut with_item));
                render.adopt(with_item);
            }
        }
        Ok(())
    }

    /// The files of a task, for its fingerprint.
    pub(crate) fn subject<'s>(
        &'s self,
        compiled: &'s Compiled<'_>,
        lookup: &'s dyn Fn(&str) -> Option<String>,
    ) -> Subject<'s> {
        Subject {
            task: &compiled.task.name,
            label: compiled.name(),
            dir: &compiled.dir,
            root: &self.place.dir,
            state: self.state_dir(),
            sources: &compiled.sources,
            generates: &compiled.generates,
            gitignore: compiled.task.use_gitignore.unwrap_or(false),
            dry: self.options.dry,
            lookup,
        }
    }
}

fn misplaced(error: TemplateError, task: &Task) -> Cause {
    Cause::TaskTemplate { error, task: task.name.clone(), location: task.location.clone() }
}

fn full_name(task: &Task, variables: &Variables) -> String {
    let mut name = task.name.clone();
    if let Some(Value::List(matched)) = variables.values.get("MATCH") {
        for part in matched {
            name = name.replacen('*', &part.display(), 1);
        }
    }
    name
}

fn globs(globs: &[Glob], render: &mut Renderer<'_>) -> Vec<Glob> {
    globs.iter().map(|g| Glob { pattern: render.text(&g.pattern), exclude: g.exclude }).collect()
}

fn step<'t>(command: &'t Command, render: &mut Renderer<'_>, masked: Option<Renderer<'_>>) -> Step<'t> {
    let action = render_action(&command.action, render);
    let shown = match (&command.action, masked) {
        (Action::Shell(text), Some(mut masked)) => Some(masked.text(text)),
        _ => None,
    };
    Step { command, action, shown, condition: render.text(&command.condition) }
}

pub fn render_action(action: &Action, render: &mut Renderer<'_>) -> Action {
    match action {
        Action::Shell(text) => Action::Shell(render.text(text)),
        Action::Call { task, vars } => Action::Call { task: render.text(task), vars: render.vars(vars) },
    }
}

fn dep(dependency: &Dependency, render: &mut Renderer<'_>) -> Dep {
    Dep {
        task: render.text(&dependency.task),
        vars: render.vars(&dependency.vars),
        silent: dependency.silent,
        timeout: dependency.timeout,
        condition: render.text(&dependency.condition),
    }
}

/// What each required variable may be; a reference is followed only when the task is to run.
fn allowed(
    task: &Task,
    render: &mut Renderer<'_>,
    evaluate: bool,
) -> Result<Vec<(String, Vec<String>)>, Cause> {
    let mut all = Vec::with_capacity(task.requires.len());
    for required in &task.requires {
        let values = match &required.allowed {
            Allowed::Values(values) => values.clone(),
            Allowed::Reference(_) if !evaluate => Vec::new(),
            Allowed::Reference(reference) => match render.reference(reference) {
                Some(Value::List(items)) => items.iter().map(Value::display).collect(),
                _ => return Err(Cause::EnumReference { reference: reference.clone() }),
            },
        };
        all.push((required.name.clone(), values));
    }
    Ok(all)
}
