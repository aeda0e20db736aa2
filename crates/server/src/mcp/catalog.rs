//! The tools: name, description and input schema.

use baton_core::people::role::PersonRole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mcp::inputs::{
    AcceptArguments, AddTaskArguments, AnswerArguments, AskArguments, ChatArguments, GetTaskArguments,
    ListTasksArguments, NoArguments, PlanArguments, RejectArguments, ReportArguments, RunUserTaskArguments,
    SetStatusArguments, UpdateTaskArguments,
};
use crate::schema::tool_input;
use crate::schema::words;

/// A tool as a caller sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Tool")]
pub struct ToolSpec {
    #[schemars(with = "words::ToolName")]
    pub name: String,
    #[schemars(with = "words::NonBlank")]
    pub description: String,
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub input_schema: Value,
    /// MCP clients decide by this whether to ask the user first.
    pub touches: SideEffects,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideEffects {
    Nothing,
    /// Baton's records; every change is in the event log.
    Records,
    /// Whatever the project's own commands change.
    Anything,
}

/// Gemini drops every tool named `ask_user`; this is the same tool under another name.
pub(super) const ASK_ALIAS: &str = "ask_human";

impl ToolSpec {
    fn new<T: JsonSchema>(name: &str, touches: SideEffects, description: &str) -> Self {
        let input_schema = tool_input::<T>();
        Self { name: name.to_owned(), description: description.to_owned(), input_schema, touches }
    }

    /// The role a person needs to call it.
    pub fn needs(&self) -> PersonRole {
        match self.touches {
            SideEffects::Nothing => PersonRole::Viewer,
            SideEffects::Records | SideEffects::Anything => PersonRole::Operator,
        }
    }

    pub fn arguments(&self) -> Vec<&str> {
        let properties = self.input_schema["properties"].as_object();
        properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    /// None for an unknown name.
    pub fn find(name: &str) -> Option<Self> {
        use SideEffects::{Anything, Nothing, Records};
        Some(match name {
            "ask_user" | ASK_ALIAS => Self::new::<AskArguments>(
                name,
                Records,
                "Ask the human something only they can decide. Describe the situation, the decision and the consequences of each option: they may read it hours later. Ask one question at a time. If no answer arrives soon, you are told to end your turn and will be restarted with the answer.",
            ),
            "report_outcome" => Self::new::<ReportArguments>(
                name,
                Records,
                "Report how your step ended, as your last action. Use one of the outcomes listed in your prompt; `other` needs a description.",
            ),
            "load_workflow_context" => Self::new::<NoArguments>(
                name,
                Nothing,
                "Load the current context of your step: the project, your task, the hand-off, and the tasks that are ready.",
            ),
            "submit_breakdown" => Self::new::<PlanArguments>(
                name,
                Records,
                "Submit the plan of your breakdown for the human's approval. Submit again to replace it.",
            ),
            "get_next_task" => Self::new::<NoArguments>(
                name,
                Nothing,
                "Get the next task: your own if you were given one, else the first that is ready. Says so if there is none.",
            ),
            "list_tasks" => Self::new::<ListTasksArguments>(
                name,
                Nothing,
                "List tasks, oldest first. Check here before you add one: it may already exist.",
            ),
            "get_task" => Self::new::<GetTaskArguments>(
                name,
                Nothing,
                "Get everything about one task. `landing` says where accepted work stands: being checked, waiting behind another task, or sent back and why.",
            ),
            "add_task" => Self::new::<AddTaskArguments>(
                name,
                Records,
                "Add a task to the queue. Write it so that someone who knows nothing about your work can do it.",
            ),
            "update_task" => Self::new::<UpdateTaskArguments>(
                name,
                Records,
                "Change a task's title, description or priority while no agent works on it. Omitted fields stay.",
            ),
            "set_task_status" => Self::new::<SetStatusArguments>(
                name,
                Records,
                "Cancel a task, or requeue a failed one. Only the human accepts finished work.",
            ),
            "chat" => Self::new::<ChatArguments>(
                name,
                Records,
                "Send a message to Baton in the user's name: it becomes a task, or reaches the run that is at work in the session.",
            ),
            "list_questions" => Self::new::<NoArguments>(
                name,
                Nothing,
                "List the questions that wait for the user, oldest first.",
            ),
            "list_recipes" => Self::new::<NoArguments>(
                name,
                Nothing,
                "List the recipes: workflows that a task or a session can follow.",
            ),
            "answer_question" => Self::new::<AnswerArguments>(
                name,
                Records,
                "Answer a question in the user's name. Only what they told you counts. Dangerous operations, escalations and claims of success without work are theirs to answer.",
            ),
            "accept_task" => Self::new::<AcceptArguments>(
                name,
                Records,
                "Accept finished work in the user's name. Its checks still decide whether it lands; work that has to be looked at is left to the user.",
            ),
            "reject_task" => Self::new::<RejectArguments>(
                name,
                Records,
                "Send finished work back to its agent in the user's name, with the reason.",
            ),
            "list_user_tasks" => Self::new::<NoArguments>(
                name,
                Nothing,
                "List the commands defined for you in .agent/Taskfile.yml. Prefer them to commands of your own.",
            ),
            "run_user_task" => Self::new::<RunUserTaskArguments>(
                name,
                Anything,
                "Run one of the project's own commands and get its output.",
            ),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::words::STATUSES;
    use baton_core::people::toolset::{ClientPowers, ToolClient, tools_for};
    use baton_core::task::state::TaskStatus;

    const ALL_POWERS: ToolClient = ToolClient::Person { powers: ClientPowers { answer: true, accept: true } };

    #[test]
    fn every_offered_tool_is_described() {
        for client in [ToolClient::Attempt { is_breakdown: true }, ALL_POWERS] {
            for name in tools_for(client, true) {
                let spec = ToolSpec::find(name).unwrap_or_else(|| panic!("{name}"));
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
        let all =
            [ToolClient::Attempt { is_breakdown: true }, ALL_POWERS].map(|client| tools_for(client, true));
        for name in all.concat() {
            assert!(docs.contains(&format!("`{name}`")), "{name} is not in docs/tools.md");
        }
    }

    #[test]
    fn core_knows_every_status() {
        for status in STATUSES {
            assert!(serde_json::from_value::<TaskStatus>(Value::from(status)).is_ok(), "{status}");
        }
    }
}
