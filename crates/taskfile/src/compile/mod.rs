//! A task with its variables filled in and its loops written out, ready to run or to be shown.
//!
//! Nothing here runs a task's commands; `sh:` variables are evaluated by the context.

mod env;
mod items;
mod steps;

use std::ffi::OsString;
use std::path::PathBuf;

use crate::ast::{AllowedValues, Glob, Precondition, TaskAst, Vars};
use crate::context::{TaskCall, TaskRunError, TaskRunErrorKind, TaskfileContext, VarRenderer, Variables};
use crate::fingerprint::{FingerprintInput, FingerprintMethod};
use crate::go::Value;
use crate::shell::{expand_literal, reveal};
use crate::template::TemplateError;

pub(crate) use steps::{CompiledDep, CompiledStep, render_action};

/// A task ready to run or to be shown.
pub(crate) struct CompiledTask<'t> {
    pub task: &'t TaskAst,
    /// The name with its wildcards filled in.
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
    pub steps: Vec<CompiledStep<'t>>,
    pub deps: Vec<CompiledDep>,
    /// Environment variables of the commands, in addition to the run's.
    pub env: Vec<(String, OsString)>,
    /// The `env:` of the file and the task, as shown.
    pub env_vars: Vars,
    pub variables: Variables,
    /// The required variables with their allowed values, if restricted.
    pub allowed: Vec<(String, Vec<String>)>,
}

impl CompiledTask<'_> {
    /// The name used in messages.
    pub(crate) fn name(&self) -> &str {
        if !self.label.is_empty() {
            &self.label
        } else if !self.full_name.is_empty() {
            &self.full_name
        } else {
            &self.task.name
        }
    }

    /// The files of the task, for its fingerprint.
    pub(crate) fn subject<'s>(
        &'s self,
        context: &'s TaskfileContext<'_>,
        lookup: &'s dyn Fn(&str) -> Option<String>,
    ) -> FingerprintInput<'s> {
        FingerprintInput {
            task: &self.task.name,
            label: self.name(),
            dir: &self.dir,
            root: &context.place.dir,
            state: context.state_dir(),
            sources: &self.sources,
            generates: &self.generates,
            gitignore: self.task.use_gitignore.unwrap_or(false),
            dry: context.options.dry,
            lookup,
            scope: &context.scope,
        }
    }

    /// How the task's sources are compared.
    pub(crate) fn fingerprint_method(
        &self,
        context: &TaskfileContext<'_>,
    ) -> Result<FingerprintMethod, TaskRunError> {
        let named = [&self.method, &context.file.method].into_iter().find(|m| !m.is_empty());
        Ok(FingerprintMethod::parse(named.map_or("checksum", String::as_str))?)
    }

    /// Whether the sources are unchanged; `None` for a task without sources.
    pub(crate) fn sources_up_to_date(
        &self,
        context: &TaskfileContext<'_>,
    ) -> Result<Option<bool>, TaskRunError> {
        let method = self.fingerprint_method(context)?;
        if self.sources.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.subject(context, &context.lookup()).is_up_to_date(method)?))
    }
}

/// Fills the variables into a task. With `evaluate`, `sh:` variables are run and an invalid template is an
/// error; without, the task is only to be shown.
pub(crate) fn compile<'e>(
    context: &TaskfileContext<'e>,
    call: &mut TaskCall,
    evaluate: bool,
) -> Result<CompiledTask<'e>, TaskRunError> {
    let task = context.find(call)?;
    let mut variables = context.variables(Some(task), Some(call), evaluate)?;
    let full_name = full_name(task, &variables);
    let mut render = VarRenderer::new(&variables.values, &context.host);
    let dir = expand_literal(&render.plain(&task.dir), &|name| context.environment.get(name));
    let dir = context.place.locate(&dir);
    let mut compiled = CompiledTask {
        task,
        full_name,
        label: render.plain(&task.label),
        desc: render.plain(&task.desc),
        prompts: render.plains(&task.prompts),
        summary: render.plain(&task.summary),
        sources: globs(&task.sources, &mut render),
        generates: globs(&task.generates, &mut render),
        method: render.plain(&task.method),
        prefix: render.plain(&task.prefix),
        run: render.plain(&task.run),
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
    env::compile_env(context, &mut compiled, &mut render, evaluate)?;
    let rendered = render.finish();
    if evaluate {
        rendered.map_err(|error| template_error(error, task))?;
    }
    let method = if task.method.is_empty() { &context.file.method } else { &task.method };
    if !task.sources.is_empty() && method != "none" {
        let (name, value) = compiled.subject(context, &context.lookup()).value(method == "timestamp")?;
        variables.set(name, value);
    }
    let mut render = VarRenderer::new(&variables.values, &context.host);
    let masked = variables.mask_secrets();
    steps::compile_steps(context, &mut compiled, &variables, masked.as_ref(), &mut render)?;
    steps::compile_deps(context, &mut compiled, &variables, &mut render)?;
    for precondition in &task.preconditions {
        let (sh, message) = (render.text(&precondition.sh), render.plain(&precondition.message));
        compiled.preconditions.push(Precondition { sh, message });
    }
    compiled.status = render.texts(&task.status);
    compiled.allowed = allowed(task, &mut render, evaluate)?;
    let rendered = render.finish();
    if evaluate {
        rendered.map_err(|error| template_error(error, task))?;
    }
    compiled.variables = variables;
    Ok(compiled)
}

fn template_error(error: TemplateError, task: &TaskAst) -> TaskRunErrorKind {
    TaskRunErrorKind::TaskTemplate { error, task: task.name.clone(), location: task.location.clone() }
}

fn full_name(task: &TaskAst, variables: &Variables) -> String {
    let mut name = task.name.clone();
    if let Some(Value::List(matched)) = variables.values.get("MATCH") {
        for part in matched {
            name = name.replacen('*', &part.display(), 1);
        }
    }
    name
}

fn globs(globs: &[Glob], render: &mut VarRenderer<'_>) -> Vec<Glob> {
    globs.iter().map(|g| Glob { pattern: render.plain(&g.pattern), exclude: g.exclude }).collect()
}

/// The allowed values of each required variable; references are resolved only when the task is to run.
fn allowed(
    task: &TaskAst,
    render: &mut VarRenderer<'_>,
    evaluate: bool,
) -> Result<Vec<(String, Vec<String>)>, TaskRunErrorKind> {
    let mut all = Vec::with_capacity(task.requires.len());
    for required in &task.requires {
        let values = match &required.allowed {
            AllowedValues::Values(values) => values.clone(),
            AllowedValues::Reference(_) if !evaluate => Vec::new(),
            AllowedValues::Reference(reference) => match render.reference(reference) {
                Some(Value::List(items)) => {
                    items.iter().map(|item| reveal(&item.display()).into_owned()).collect()
                }
                _ => return Err(TaskRunErrorKind::EnumReference { reference: reference.clone() }),
            },
        };
        all.push((required.name.clone(), values));
    }
    Ok(all)
}
