//! What is known of the tool calls that run: what they were called with, and what they have returned so far.

use std::collections::BTreeMap;

use crate::output::activity::Activity;
use crate::output::excerpt::excerpt;
use crate::report::tool_call::{EndedCall, ToolCall, ToolKind, ToolOutcome};

/// As much as is kept of an input or a result.
const TEXT_BYTES_MAX: usize = 2 * 1024;

#[derive(Debug, Default)]
pub(crate) struct OpenCalls(BTreeMap<String, OpenCall>);

#[derive(Debug, Default)]
struct OpenCall {
    title: String,
    input: Option<String>,
    result: String,
}

impl OpenCalls {
    pub(crate) fn begin(&mut self, call: &ToolCall) {
        // The title of a command is the command; of other tools it may be the tool's name only.
        let input = (call.kind == ToolKind::Execute).then(String::new);
        self.0.insert(call.id.clone(), OpenCall { title: call.title.clone(), input, result: String::new() });
    }

    pub(crate) fn note(&mut self, activity: &Activity) {
        match activity {
            Activity::Input { id, text } => self.change(id, |call| call.input = Some(short(text))),
            Activity::Change { id, path, old, new } => {
                let change = format!("{path}\n- {}\n+ {}", short(old), short(new));
                self.change(id, |call| call.input = Some(change));
            }
            Activity::Output { id, text } => self.change(id, |call| call.result = short(text)),
            Activity::Thought { .. }
            | Activity::Todo { .. }
            | Activity::Tool { .. }
            | Activity::ToolEnd { .. } => {}
        }
    }

    pub(crate) fn end(&mut self, id: &str, outcome: ToolOutcome) -> EndedCall {
        let OpenCall { title, input, result } = self.0.remove(id).unwrap_or_default();
        let call = input.map(|input| {
            // Some agents show a command as the title, others as the input, others as both.
            if input.is_empty() || title.contains(&input) { title } else { format!("{title}: {input}") }
        });
        EndedCall { id: id.to_owned(), outcome, call, result }
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut OpenCall)) {
        if let Some(call) = self.0.get_mut(id) {
            change(call);
        }
    }
}

fn short(text: &str) -> String {
    excerpt(text.trim(), TEXT_BYTES_MAX)
}
