//! Ids, names and other values of core, as schemas. Used as `#[schemars(with = "words::TaskId")]`.
//!
//! Those that only refer (`Hold`, `PlanRecord`, `TaskView`) are described by `api::openapi::shapes`.

use std::borrow::Cow;

use baton_core::base::id::SessionId as CoreSessionId;
use baton_core::base::task_type::TaskType as CoreTaskType;
use baton_core::people::role::PersonRole as CoreRole;
use baton_core::records::receipt::ReceiptKey;
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema, json_schema};

use crate::http::limits::{PAGE_DEFAULT, PAGE_MAX, TITLE_CHARS_MAX};

/// The statuses of a task, as clients see them.
pub(crate) const STATUSES: [&str; 8] = [
    "QUEUED",
    "RUNNING",
    "AWAITING_RESPONSE",
    "BLOCKED",
    "WAITING_CHILDREN",
    "COMPLETE",
    "ERROR",
    "CANCELLED",
];

const QUEUES: [&str; 11] = [
    "incoming",
    "breakdown",
    "claimed",
    "needs_continuation",
    "escalated",
    "provisional",
    "landing",
    "recycled",
    "done",
    "failed",
    "rejected",
];

macro_rules! words {
    ($($(#[$inline:ident])? $name:ident: $schema:tt),* $(,)?) => {
        $(
            pub(crate) enum $name {}

            impl JsonSchema for $name {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn inline_schema() -> bool {
                    false $(|| stringify!($inline) == "inline")?
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!($schema)
                }
            }
        )*

        /// The words that parameters of routes refer to by name.
        pub(crate) fn add_all(generator: &mut SchemaGenerator) -> Schema {
            $(generator.subschema_for::<$name>();)*
            Schema::from(true)
        }
    };
}

words! {
    TaskId: { "type": "string", "pattern": "^TASK-[0-9a-f]{8}$" },
    ProjectId: { "type": "string", "pattern": "^PROJ-[0-9a-f]{8}$" },
    QuestionId: { "type": "string", "pattern": "^Q-[0-9a-f]{8}$" },
    AttemptId: { "type": "string", "pattern": "^ATT-[0-9a-f]{16}$" },
    RoutineId: { "type": "string", "pattern": "^RTN-[0-9a-f]{8}$" },
    #[inline] Overlap: { "type": "string", "enum": ["skip", "queue", "replace"] },
    #[inline] CatchUp: { "type": "string", "enum": ["none", "one", "all"] },
    #[inline] RoutineState: { "type": "string", "enum": ["active", "paused", "removed"] },
    #[inline] RoutineCallStatus: { "type": "string", "enum": ["started", "waiting", "skipped", "paused"] },
    #[inline] RunId: { "type": "string", "pattern": "^RUN-[0-9a-f]{8}$" },
    SessionId: { "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.:-]*$", "maxLength": (CoreSessionId::LEN_MAX) },
    IdPrefix: { "type": "string", "minLength": 1 },
    Name: { "type": "string", "pattern": "^[a-z0-9][a-z0-9_-]*$", "maxLength": 64 },
    PersonName: { "type": "string", "pattern": "^[a-z0-9][a-z0-9_-]*$", "maxLength": 64 },
    UserTaskName: { "type": "string", "minLength": 1 },
    ToolName: { "type": "string", "minLength": 1 },
    IdempotencyKey: { "type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": (ReceiptKey::LEN_MAX) },
    Limit: { "type": "integer", "minimum": 1, "maximum": (PAGE_MAX), "default": (PAGE_DEFAULT) },
    Seq: { "type": "integer", "minimum": 0, "maximum": (u64::MAX) },
    TaskCursor: { "type": "string", "pattern": "^[0-9]{1,15}~TASK-[0-9a-f]{8}$" },
    ProjectCursor: { "type": "string", "pattern": "^[0-9]{1,15}~PROJ-[0-9a-f]{8}$" },
    QuestionCursor: { "type": "string", "pattern": "^[0-9]{1,15}~Q-[0-9a-f]{8}$" },
    GroupCursor: { "type": "string", "pattern": "^[0-9]{1,15}~[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$" },
    EntryCursor: { "type": "string", "pattern": "^[0-9]{1,15}~[0-9][0-9A-Za-z-]+$" },
    TaskType: { "type": "string", "enum": (CoreTaskType::ALL.map(CoreTaskType::as_str)) },
    Priority: { "type": "string", "enum": ["P0", "P1", "P2", "P3"] },
    PersonRole: { "type": "string", "enum": (CoreRole::ALL.map(CoreRole::as_str)) },
    QuestionState: { "type": "string", "enum": ["pending", "closed", "answered"] },
    Queue: { "type": "string", "enum": (QUEUES) },
    Status: { "type": "string", "enum": (STATUSES) },
    #[inline] NonBlank: { "type": "string", "minLength": 1, "pattern": "\\S" },
    #[inline] Title: { "type": "string", "minLength": 1, "pattern": "\\S", "maxLength": (TITLE_CHARS_MAX) },
    #[inline] Text: { "type": "string" },
    #[inline] AtOnceMax: { "type": ["integer", "null"], "minimum": 0, "maximum": (u32::MAX) },
    RunCursor: { "type": "string", "pattern": "^[0-9]{1,15}~RUN-[0-9a-f]{8}$" },
    #[inline] FirstPhase: { "type": "string", "enum": ["plan", "execute", "review"] },
    RunFilterState: { "type": "string", "enum": ["open", "exited"] },
    #[inline] ExitCategory: { "type": "string", "enum": ["completed", "guardrail", "error"] },
    #[inline] RunState: { "type": "string", "enum": ["working", "at_gate", "leaving", "exited"] },
    #[inline] HealthStatus: { "type": "string", "enum": ["ok", "degraded"] },
    #[inline] Timestamp: { "type": "string", "format": "date-time" },
    #[inline] AcceptPolicy: { "type": "string", "enum": ["person", "green", "reviewed"] },
    #[inline] RecycleReason: { "type": "string", "enum": ["too_large", "cumulative_failures"] },
    Actor: {
        "type": "object",
        "properties": {
            "kind": { "type": "string", "enum": ["human", "policy", "agent", "baton"] },
            "name": { "type": "string" },
            "attempt": { "$ref": "#/components/schemas/AttemptId" },
        },
        "required": ["kind"],
    },
    #[inline] Revoked: {
        "type": "object",
        "properties": {
            "at": { "type": "string", "format": "date-time" },
            "by": { "$ref": "#/components/schemas/Actor" },
        },
        "required": ["at", "by"],
    },
    #[inline] QueuedAnswer: {
        "type": "object",
        "properties": {
            "text": { "type": "string", "minLength": 1, "pattern": "\\S" },
            "task": { "$ref": "#/components/schemas/TaskId" },
        },
        "required": ["text"],
    },
    #[inline] Hold: { "$ref": "#/components/schemas/Hold" },
    #[inline] PlanRecord: { "$ref": "#/components/schemas/PlanRecord" },
    #[inline] TaskView: { "$ref": "#/components/schemas/Task" },
}

/// A background service of the server.
#[derive(JsonSchema)]
#[schemars(rename = "Service")]
#[expect(dead_code, reason = "describes the engine's type, which knows no schemas")]
pub(crate) struct ServiceReport {
    name: String,
    #[schemars(extend("enum" = ["running", "restarting", "failing"]))]
    state: String,
    #[schemars(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
    restarts: u64,
    rounds: u64,
    items_done: u64,
    items_failed: u64,
    items_failing: u64,
}
