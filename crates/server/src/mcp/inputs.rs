//! The arguments of the tools. The input schemas that clients see are derived from these types.

use std::fmt::Display;
use std::str::FromStr;

use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::task::state::TaskStatus;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::schema::words;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskArguments {
    /// The question, complete in itself
    #[schemars(with = "String")]
    pub question: NonBlank,
    /// The answers to choose from; omit for free text
    #[serde(default)]
    pub options: Vec<String>,
    /// What you would do without an answer
    #[schemars(with = "Option<String>")]
    pub default: Option<NonBlank>,
    /// gate: the one question that ends a phase
    pub kind: Option<AskKind>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AskKind {
    Clarification,
    Confirmation,
    Gate,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportArguments {
    #[schemars(with = "String")]
    pub outcome: NonBlank,
    /// What happened, in a sentence or two
    pub description: Option<String>,
}

/// Only for the schema: core parses plans itself, and accepts more than is documented.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct PlanArguments {
    #[schemars(length(min = 1))]
    #[expect(dead_code, reason = "describes the schema")]
    items: Vec<PlanItemArguments>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the schema")]
struct PlanItemArguments {
    title: String,
    description: Option<String>,
    #[schemars(with = "Option<words::Priority>")]
    priority: Option<Priority>,
    acceptance_criteria: Option<Vec<String>>,
    verification: Option<Vec<String>>,
    /// Numbers of other items, counted from 1
    #[schemars(inner(range(min = 1)))]
    depends_on: Option<Vec<u32>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTasksArguments {
    #[schemars(with = "Option<words::Status>")]
    pub status: Option<TaskStatus>,
    /// Part of the title
    pub title: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetTaskArguments {
    /// TASK-…, or the start of it
    #[schemars(with = "String")]
    pub id: NonBlank,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddTaskArguments {
    #[schemars(with = "String")]
    pub title: NonBlank,
    #[serde(default)]
    pub description: String,
    #[serde(default, deserialize_with = "lenient")]
    #[schemars(with = "Option<words::Priority>")]
    pub priority: Option<Priority>,
    /// Ids of tasks that must be done first
    #[serde(default)]
    pub depends_on: Vec<String>,
    #[serde(default, deserialize_with = "lenient")]
    #[schemars(with = "Option<words::TaskType>")]
    pub task_type: Option<TaskType>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateTaskArguments {
    /// TASK-…, or the start of it
    #[schemars(with = "String")]
    pub id: NonBlank,
    #[schemars(with = "Option<String>")]
    pub title: Option<NonBlank>,
    pub description: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    #[schemars(with = "Option<words::Priority>")]
    pub priority: Option<Priority>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetStatusArguments {
    #[schemars(with = "String")]
    pub id: NonBlank,
    /// CANCELLED cancels the task, QUEUED retries it
    #[schemars(with = "SettableStatus")]
    pub status: TaskStatus,
    #[schemars(with = "Option<String>")]
    pub reason: Option<NonBlank>,
}

/// The statuses a tool may set. Others are refused with an explanation, so the argument itself accepts all.
#[derive(JsonSchema)]
#[schemars(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(dead_code, reason = "describes the schema")]
enum SettableStatus {
    Cancelled,
    Queued,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatArguments {
    /// What you want, or what you have to say to the run of the session
    #[schemars(with = "String")]
    pub content: NonBlank,
    /// The conversation it belongs to; by default that of this client
    pub session_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerArguments {
    /// Q-…, as `list_questions` has it
    #[schemars(with = "String")]
    pub question_id: NonBlank,
    #[schemars(with = "String")]
    pub answer: NonBlank,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AcceptArguments {
    /// TASK-…, or the start of it
    #[schemars(with = "String")]
    pub id: NonBlank,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RejectArguments {
    /// TASK-…, or the start of it
    #[schemars(with = "String")]
    pub id: NonBlank,
    /// What has to change; its agent reads it
    #[schemars(with = "String")]
    pub reason: NonBlank,
}

/// A missing name is answered like an unknown one, with the names there are.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["task_name"]))]
pub(super) struct RunUserTaskArguments {
    /// The name of the task to run (e.g., 'test', 'build').
    #[serde(default)]
    pub task_name: String,
    #[schemars(
        description = "Optional arguments to pass to the task. These arguments are made available within the Taskfile via the '{{.CLI_ARGS}}' variable."
    )]
    #[serde(default)]
    pub args: String,
}

/// Parses by `FromStr`, which accepts more spellings than the schema lists: models write `p1` or `read-info`.
fn lenient<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}
