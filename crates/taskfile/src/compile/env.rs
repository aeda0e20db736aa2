//! The environment of a task's commands.

use std::path::PathBuf;

use crate::ast::{Var, Vars};
use crate::load::join;
use crate::run::{Engine, RunError};
use crate::value::{Map, Value};
use crate::vars::Renderer;

use super::Compiled;

impl Engine<'_> {
    /// The environment of a task: the file's, then its dotenv files, then its own.
    pub(super) fn compile_env(
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
}
