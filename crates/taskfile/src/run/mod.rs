//! Running tasks: dependencies, checks, prompts and commands, in go-task's order.
//!
//! What a task comes to is computed by `compile`; starting one command belongs to `shell`.

mod check;
mod command;
mod deps;
mod once;
mod requires;
mod task;

use std::collections::HashMap;
use std::sync::Mutex;

use crate::context::TaskfileContext;

pub(crate) use deps::STACK_BYTES;
use once::Executions;

/// Runs the tasks of one context.
pub(crate) struct TaskRunner<'e> {
    context: &'e TaskfileContext<'e>,
    /// How often each task was called.
    calls: Mutex<HashMap<String, u32>>,
    executions: Executions,
}

impl<'e> TaskRunner<'e> {
    pub(crate) fn new(context: &'e TaskfileContext<'e>) -> TaskRunner<'e> {
        TaskRunner { context, calls: Mutex::default(), executions: Executions::default() }
    }
}
