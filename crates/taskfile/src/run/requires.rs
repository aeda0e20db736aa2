//! Checks required variables.

use crate::compile::CompiledTask;
use crate::context::TaskRunErrorKind;
use crate::go::Value;
use crate::shell::reveal;

pub(super) fn check_set(compiled: &CompiledTask<'_>) -> Result<(), TaskRunErrorKind> {
    let missing: Vec<String> = compiled
        .allowed
        .iter()
        .filter(|(name, _)| !compiled.variables.contains(name))
        .map(|(name, allowed)| {
            if allowed.is_empty() {
                name.clone()
            } else {
                format!("{name} (allowed values: [{}])", allowed.join(" "))
            }
        })
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(TaskRunErrorKind::MissingVars { task: compiled.name().to_owned(), missing })
    }
}

pub(super) fn check_allowed(compiled: &CompiledTask<'_>) -> Result<(), TaskRunErrorKind> {
    let mut wrong = Vec::new();
    for (name, allowed) in compiled.allowed.iter().filter(|(_, allowed)| !allowed.is_empty()) {
        // Only strings are checked: a number from another task's `vars:` passes, as in go-task.
        let Some(Value::Str(value)) = compiled.variables.values.get(name.as_str()) else { continue };
        let value = reveal(value);
        if !allowed.iter().any(|known| *known == value) {
            wrong.push(format!(
                "  - {name} has an invalid value : '{value}' (allowed values : [{}])\n",
                allowed.join(" ")
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(TaskRunErrorKind::WrongVars { task: compiled.name().to_owned(), wrong })
    }
}
