//! The environment of a task's commands.

use std::path::PathBuf;

use crate::ast::{Var, Vars};
use crate::context::{TaskRunError, TaskfileContext, VarRenderer, read_dotenv_file};
use crate::go::path::join;
use crate::go::{Map, Value};

use super::CompiledTask;

/// The file's `env:`, then the task's dotenv files, then the task's own `env:`.
pub(super) fn compile_env(
    context: &TaskfileContext<'_>,
    compiled: &mut CompiledTask<'_>,
    render: &mut VarRenderer<'_>,
    evaluate: bool,
) -> Result<(), TaskRunError> {
    let mut env = render.vars(context.file_env());
    let mut from_files = Vars::new();
    for path in render.plains(&compiled.task.dotenv) {
        for (name, value) in read_dotenv_file(&join(&compiled.dir, &path))? {
            from_files.entry(name).or_insert_with(|| Var::from_value(value));
        }
    }
    env.extend(render.vars(&from_files));
    env.extend(render.vars(&compiled.task.env));
    let mut values = Map::new();
    for (name, var) in &env {
        let value = match (&var.value, &var.sh) {
            (None, Some(sh)) if evaluate => {
                let dir = var.dir.as_ref().map_or_else(|| compiled.dir.clone(), PathBuf::from);
                Value::Str(context.evaluate_sh(sh, &dir, &context.export(&values))?)
            }
            (value, _) => value.clone().unwrap_or_default(),
        };
        values.insert(name.clone(), value);
    }
    compiled.env = context.export(&values);
    compiled.env_vars = env;
    Ok(())
}
