//! What each tool is called, what it says of itself, and what it takes.

use baton_core::base::task_type::TaskType;
use baton_core::people::role::PersonRole;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::openapi::shapes::STATUSES;

/// A tool as a caller sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    /// A careful client asks its human before some calls, and goes by this.
    pub touches: Touches,
}

/// What a call can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touches {
    Nothing,
    /// Baton's own records; each change is in the history and can be made good.
    Records,
    /// Whatever the commands of the project's people touch.
    Anything,
}

/// Gemini drops every tool called `ask_user`, its own and others'; this is the same tool under a name it keeps.
pub const ASK_ALIAS: &str = "ask_human";

impl ToolSpec {
    fn new(name: &str, touches: Touches, description: &str, properties: &Value, required: &[&str]) -> Self {
        let input_schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        Self { name: name.to_owned(), description: description.to_owned(), input_schema, touches }
    }

    /// What a person must be to call it.
    pub fn needs(&self) -> PersonRole {
        match self.touches {
            Touches::Nothing => PersonRole::Viewer,
            Touches::Records | Touches::Anything => PersonRole::Operator,
        }
    }

    /// The names of its arguments.
    pub fn arguments(&self) -> Vec<&str> {
        let properties = self.input_schema["properties"].as_object();
        properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    /// None for a name nobody knows.
    pub fn of(name: &str) -> Option<Self> {
        Self::of_attempts(name).or_else(|| Self::of_queue(name)).or_else(|| Self::of_user_tasks(name))
    }

    fn of_attempts(name: &str) -> Option<Self> {
        Some(match name {
            "ask_user" | ASK_ALIAS => Self::new(
                name,
                Touches::Records,
                "Ask the human something only they can decide. Say what the situation is, what is to be decided and what each option leads to: they may read it hours later. One question at a time. If the answer does not come within a short while, you are told to end your turn; you are started again with the answer.",
                &json!({
                    "question": { "type": "string", "description": "The question, complete in itself" },
                    "options": { "type": "array", "items": { "type": "string" }, "description": "The answers to choose from; leave out for free text" },
                    "default": { "type": "string", "description": "What you would do if nobody answers" },
                    "kind": { "type": "string", "enum": ["clarification", "confirmation", "gate"], "description": "gate: the one question that ends a phase" },
                }),
                &["question"],
            ),
            "report_outcome" => Self::new(
                name,
                Touches::Records,
                "Say how your step ended, as the last thing you do. Use one of the outcomes your prompt lists; `other` needs a description.",
                &json!({
                    "outcome": { "type": "string" },
                    "description": { "type": "string", "description": "What happened, in a sentence or two" },
                }),
                &["outcome"],
            ),
            "load_workflow_context" => Self::new(
                name,
                Touches::Nothing,
                "The fresh context of your step: the project, your task, what was handed over to you, and the work that is ready.",
                &json!({}),
                &[],
            ),
            "submit_breakdown" => Self::new(
                name,
                Touches::Records,
                "Hand in the plan of your breakdown. It waits for the human's approval; hand in another one to replace it.",
                &json!({
                    "items": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "properties": {
                                "title": { "type": "string" },
                                "description": { "type": "string" },
                                "priority": { "type": "string", "enum": ["P0", "P1", "P2", "P3"] },
                                "acceptance_criteria": { "type": "array", "items": { "type": "string" } },
                                "verification": { "type": "array", "items": { "type": "string" } },
                                "depends_on": { "type": "array", "items": { "type": "integer", "minimum": 1 }, "description": "Numbers of other items, counted from 1" },
                            },
                            "required": ["title"],
                        },
                    },
                }),
                &["items"],
            ),
            _ => return None,
        })
    }

    fn of_queue(name: &str) -> Option<Self> {
        Some(match name {
            "get_next_task" => Self::new(
                name,
                Touches::Nothing,
                "The next task of the queue: yours if you were given one, else the first that is ready. Says so when there is none.",
                &json!({}),
                &[],
            ),
            "list_tasks" => Self::new(
                name,
                Touches::Nothing,
                "List tasks, oldest first. Look here before you add one: it may exist already.",
                &json!({
                    "status": { "type": "string", "enum": STATUSES },
                    "title": { "type": "string", "description": "Part of the title" },
                }),
                &[],
            ),
            "get_task" => Self::new(
                name,
                Touches::Nothing,
                "Everything about one task.",
                &json!({ "id": { "type": "string", "description": "TASK-…, or the beginning of it" } }),
                &["id"],
            ),
            "add_task" => Self::new(
                name,
                Touches::Records,
                "Put a task into the queue. Write it so that somebody who knows nothing of your work can do it.",
                &json!({
                    "title": { "type": "string" },
                    "description": { "type": "string" },
                    "priority": { "type": "string", "enum": ["P0", "P1", "P2", "P3"] },
                    "depends_on": { "type": "array", "items": { "type": "string" }, "description": "Tasks that must be done first" },
                    "task_type": { "type": "string", "enum": TaskType::ALL.map(TaskType::as_str) },
                }),
                &["title"],
            ),
            "update_task" => Self::new(
                name,
                Touches::Records,
                "Say better what a task is about, or how urgent it is, while nobody works on it. What you leave out stays as it is.",
                &json!({
                    "id": { "type": "string", "description": "TASK-…, or the beginning of it" },
                    "title": { "type": "string" },
                    "description": { "type": "string" },
                    "priority": { "type": "string", "enum": ["P0", "P1", "P2", "P3"] },
                }),
                &["id"],
            ),
            "set_task_status" => Self::new(
                name,
                Touches::Records,
                "Cancel a task, or put a failed one back into the queue. Finished work is accepted by the human, not by this.",
                &json!({
                    "id": { "type": "string" },
                    "status": { "type": "string", "enum": ["CANCELLED", "QUEUED"] },
                    "reason": { "type": "string" },
                }),
                &["id", "status"],
            ),
            _ => return None,
        })
    }

    fn of_user_tasks(name: &str) -> Option<Self> {
        Some(match name {
            "list_user_tasks" => Self::new(
                name,
                Touches::Nothing,
                "List the commands the people of this project have defined for you in .agent/Taskfile.yml. Prefer them to commands of your own making.",
                &json!({}),
                &[],
            ),
            "run_user_task" => Self::new(
                name,
                Touches::Anything,
                "Run one of the project's own commands and read what it printed.",
                &json!({
                    "task_name": { "type": "string", "description": "A name from list_user_tasks" },
                    "args": { "type": "string", "description": "Arguments for the command, as in a shell: -v -race" },
                }),
                &["task_name"],
            ),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::people::toolset::{ToolClient, tools_for};
    use baton_core::task::state::TaskStatus;

    #[test]
    fn every_tool_on_offer_is_described() {
        for client in [ToolClient::Attempt { is_breakdown: true }, ToolClient::Person] {
            for name in tools_for(client, true) {
                let spec = ToolSpec::of(name).unwrap_or_else(|| panic!("{name}"));
                assert!(!spec.description.is_empty());
                let required = spec.input_schema["required"].as_array().unwrap().clone();
                for argument in required {
                    assert!(spec.arguments().contains(&argument.as_str().unwrap()), "{name}");
                }
            }
        }
    }

    #[test]
    fn every_tool_is_in_the_docs() {
        let docs = include_str!("../../../../docs/tools.md");
        for name in tools_for(ToolClient::Attempt { is_breakdown: true }, true) {
            assert!(docs.contains(&format!("`{name}`")), "{name} is not in docs/tools.md");
        }
    }

    #[test]
    fn the_words_on_offer_are_words_core_knows() {
        for status in STATUSES {
            assert!(serde_json::from_value::<TaskStatus>(json!(status)).is_ok(), "{status}");
        }
    }
}
