//! The shapes of requests and answers, by name. A test holds every real answer against them, key by key.

use baton_core::id::SessionId;
use baton_core::receipt::ReceiptKey;
use baton_core::task_type::TaskType;
use serde_json::{Map, Value, json};

use crate::limits::{PAGE_DEFAULT, PAGE_MAX, TITLE_CHARS_MAX};

pub fn refer(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Whether a body of this shape may be left out.
pub fn may_be_empty(name: &str) -> bool {
    all().get(name).is_some_and(|shape| shape.get("required").is_none())
}

pub fn all() -> Map<String, Value> {
    words()
        .into_iter()
        .chain(requests())
        .chain(task_shapes())
        .chain(question_shapes())
        .chain(session_shapes())
        .chain(tool_shapes())
        .chain(other_shapes())
        .map(|(name, shape)| (name.to_owned(), shape))
        .collect()
}

type Shapes = Vec<(&'static str, Value)>;

/// An object; names that end in `?` may be absent.
fn object(fields: &[(&str, Value)]) -> Value {
    let required: Vec<&str> =
        fields.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('?')).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, shape)| (name.trim_end_matches('?').to_owned(), shape.clone())).collect();
    let mut shape = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        shape["required"] = json!(required);
    }
    shape
}

/// A request takes nothing it does not know.
fn request(fields: &[(&str, Value)]) -> Value {
    let mut shape = object(fields);
    shape["additionalProperties"] = json!(false);
    shape
}

fn text() -> Value {
    json!({ "type": "string" })
}

/// A text that says something.
fn said() -> Value {
    json!({ "type": "string", "minLength": 1, "pattern": "\\S" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn list(shape: &Value) -> Value {
    json!({ "type": "array", "items": shape })
}

fn or_null(shape: &Value) -> Value {
    json!({ "anyOf": [shape, { "type": "null" }] })
}

fn one_of(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

/// Whatever else it says depends on its kind.
fn open(mut shape: Value) -> Value {
    shape["additionalProperties"] = json!(true);
    shape
}

fn page(name: &str, items: &str) -> Value {
    object(&[(name, list(&refer(items))), ("next_cursor", or_null(&text()))])
}

fn id(prefix: &str, digits: u32) -> Value {
    json!({ "type": "string", "pattern": format!("^{prefix}[0-9a-f]{{{digits}}}$") })
}

/// A place in a list: a time in milliseconds, and the key of what stands there.
fn cursor(key: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^[0-9]{{1,15}}~{key}$") })
}

fn words() -> Shapes {
    let name = json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9_-]*$", "maxLength": 64 });
    let session = json!({
        "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.:-]*$", "maxLength": SessionId::LEN_MAX,
    });
    let key =
        json!({ "type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": ReceiptKey::LEN_MAX });
    vec![
        ("TaskId", id("TASK-", 8)),
        ("ProjectId", id("PROJ-", 8)),
        ("QuestionId", id("Q-", 8)),
        ("AttemptId", id("ATT-", 16)),
        ("SessionId", session),
        ("Name", name),
        ("IdempotencyKey", key),
        ("Limit", json!({ "type": "integer", "minimum": 1, "maximum": PAGE_MAX, "default": PAGE_DEFAULT })),
        ("TaskCursor", cursor("TASK-[0-9a-f]{8}")),
        ("ProjectCursor", cursor("PROJ-[0-9a-f]{8}")),
        ("QuestionCursor", cursor("Q-[0-9a-f]{8}")),
        ("GroupCursor", cursor("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}")),
        ("EntryCursor", cursor("[0-9][0-9A-Za-z-]+")),
        ("Seq", json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX })),
        ("TaskType", one_of(&TaskType::ALL.map(TaskType::as_str))),
        ("Priority", one_of(&["P0", "P1", "P2", "P3"])),
        ("QuestionState", one_of(&["pending", "closed"])),
        ("UserTaskName", json!({ "type": "string", "minLength": 1 })),
        ("ToolName", json!({ "type": "string", "pattern": "^[a-z_]+$" })),
        (
            "Queue",
            one_of(&[
                "incoming",
                "breakdown",
                "claimed",
                "needs_continuation",
                "escalated",
                "provisional",
                "recycled",
                "done",
                "failed",
                "rejected",
            ]),
        ),
        (
            "Status",
            one_of(&[
                "QUEUED",
                "RUNNING",
                "AWAITING_RESPONSE",
                "BLOCKED",
                "WAITING_CHILDREN",
                "COMPLETE",
                "ERROR",
                "CANCELLED",
            ]),
        ),
    ]
}

fn requests() -> Shapes {
    let title = json!({ "type": "string", "minLength": 1, "pattern": "\\S", "maxLength": TITLE_CHARS_MAX });
    let nullable = |name: &str| or_null(&refer(name));
    vec![
        (
            "NewProject",
            request(&[
                ("path", json!({ "type": "string", "minLength": 1 })),
                ("title?", or_null(&title)),
                ("description?", text()),
                ("base_branch?", or_null(&said())),
                ("feature?", flag()),
            ]),
        ),
        (
            "NewMessage",
            request(&[
                ("content", said()),
                ("session_id?", nullable("SessionId")),
                ("task_type?", nullable("TaskType")),
                ("recipe?", nullable("Name")),
            ]),
        ),
        (
            "NewTask",
            request(&[
                ("title", title),
                ("description?", text()),
                ("task_type?", nullable("TaskType")),
                ("project_id?", nullable("ProjectId")),
                ("session_id?", nullable("SessionId")),
                ("depends_on?", list(&refer("TaskId"))),
                ("priority?", refer("Priority")),
                ("recipe?", nullable("Name")),
            ]),
        ),
        (
            "NewRun",
            request(&[
                ("recipe_id", refer("Name")),
                ("project_id?", nullable("ProjectId")),
                ("message?", or_null(&said())),
            ]),
        ),
        ("Reply", request(&[("reply", said())])),
        ("NewAnswer", request(&[("answer", said())])),
        ("Acceptance", request(&[("force?", flag())])),
        ("Rejection", request(&[("reason", said())])),
        ("Recycling", request(&[("reason?", or_null(&one_of(&["too_large", "cumulative_failures"])))])),
        ("Cancelling", request(&[("reason?", or_null(&said()))])),
        ("Nothing", request(&[])),
        ("PlanDraft", open(object(&[("items", list(&refer("PlanItemDraft")))]))),
        (
            "PlanItemDraft",
            open(object(&[
                ("title", said()),
                ("description?", text()),
                ("priority?", or_null(&refer("Priority"))),
                ("acceptance_criteria?", list(&text())),
                ("verification?", list(&text())),
                ("depends_on?", list(&json!({ "type": "integer", "minimum": 1 }))),
            ])),
        ),
    ]
}

fn summary_fields() -> Vec<(&'static str, Value)> {
    vec![
        ("task_id", refer("TaskId")),
        ("task_group_id", refer("SessionId")),
        ("session_id", refer("SessionId")),
        ("project_id", or_null(&refer("ProjectId"))),
        ("title", said()),
        ("task_type", refer("TaskType")),
        ("priority", refer("Priority")),
        ("status", refer("Status")),
        ("queue", refer("Queue")),
        ("show_reply_ui", flag()),
        ("question", or_null(&refer("Question"))),
        ("created_at", time()),
        ("updated_at", time()),
        ("version", count()),
    ]
}

fn task_shapes() -> Shapes {
    let mut task = summary_fields();
    task.extend([
        ("description", text()),
        ("state", open(object(&[("name", text())]))),
        ("output", or_null(&text())),
        ("depends_on", list(&refer("TaskId"))),
        ("waiting_on", list(&refer("TaskId"))),
        ("attempts", list(&refer("Attempt"))),
        ("reported", or_null(&refer("Reported"))),
        ("verified", or_null(&refer("Evidence"))),
        ("notes", list(&open(object(&[("note", text()), ("at", time())])))),
    ]);
    vec![
        ("TaskSummary", object(&summary_fields())),
        ("Task", object(&task)),
        ("TaskPage", page("tasks", "TaskSummary")),
        ("BreakdownPage", page("breakdowns", "TaskSummary")),
        (
            "Attempt",
            object(&[
                ("task_id", refer("TaskId")),
                (
                    "attempt",
                    object(&[
                        ("id", refer("AttemptId")),
                        ("number", count()),
                        ("agent", refer("Name")),
                        ("started_at", time()),
                        ("resumes?", refer("AttemptId")),
                    ]),
                ),
                (
                    "closing?",
                    open(object(&[("closing", one_of(&["ended", "lost", "stopped"])), ("at", time())])),
                ),
            ]),
        ),
        ("Reported", open(object(&[("result", text()), ("output", text())]))),
        ("Evidence", evidence()),
        (
            "Transition",
            object(&[
                ("task_id", refer("TaskId")),
                ("old_status", refer("Status")),
                ("new_status", refer("Status")),
                ("queue", refer("Queue")),
            ]),
        ),
        ("TaskLog", {
            let attempt = or_null(&refer("AttemptId"));
            object(&[
                ("task_id", refer("TaskId")),
                ("attempt_id", attempt),
                ("text", text()),
                ("is_cut", flag()),
            ])
        }),
        ("TaskDiff", object(&[("task_id", refer("TaskId")), ("text", text()), ("is_cut", flag())])),
        ("Plan", object(&[("items", list(&open(object(&[("title", said())]))))])),
        (
            "PlanRecord",
            object(&[
                ("task_id", refer("TaskId")),
                ("plan", refer("Plan")),
                ("submitted_by", refer("Actor")),
                ("submitted_at", time()),
            ]),
        ),
        ("Breakdown", object(&[("breakdown", refer("Task")), ("plan", or_null(&refer("PlanRecord")))])),
        ("Approval", object(&[("breakdown_id", refer("TaskId")), ("subtasks", list(&refer("TaskId")))])),
    ]
}

fn evidence() -> Value {
    let counts = [
        "commits",
        "turns",
        "turns_max",
        "files_changed",
        "insertions",
        "deletions",
        "input_tokens",
        "output_tokens",
        "cost_micro_usd",
        "duration_ms",
    ];
    let mut fields: Vec<(&str, Value)> = counts.iter().map(|name| (*name, count())).collect();
    let check =
        object(&[("name", said()), ("exit_code", json!({ "type": "integer" })), ("output_tail", text())]);
    fields.extend([("uncommitted_changes", flag()), ("checks", list(&check))]);
    object(&fields)
}

fn question_shapes() -> Shapes {
    let kinds = one_of(&["clarification", "confirmation", "gate", "permission", "danger", "escalation"]);
    let question = vec![
        ("id", refer("QuestionId")),
        ("text", said()),
        ("kind", kinds),
        ("options?", list(&said())),
        ("default?", said()),
        ("expires_at?", time()),
    ];
    let mut record = question.clone();
    record.extend([
        ("session_id", refer("SessionId")),
        ("task_id?", refer("TaskId")),
        ("asked_at", time()),
        ("state", one_of(&["pending", "answered", "withdrawn"])),
        ("at?", time()),
        ("answer?", said()),
        ("answered_by?", refer("AnsweredBy")),
        ("reason?", said()),
    ]);
    vec![
        ("Question", open(object(&question))),
        ("QuestionRecord", open(object(&record))),
        ("QuestionPage", page("questions", "QuestionRecord")),
        (
            "AnsweredBy",
            object(&[("by", one_of(&["queued", "policy", "human", "expiry"])), ("name?", text())]),
        ),
        (
            "AnswerGiven",
            object(&[
                ("question_id", refer("QuestionId")),
                ("task_id?", refer("TaskId")),
                ("new_status?", refer("Status")),
            ]),
        ),
    ]
}

fn session_shapes() -> Shapes {
    let namespace = ("namespace", text());
    vec![
        (
            "Project",
            object(&[
                ("project_id", refer("ProjectId")),
                ("title", said()),
                ("description", text()),
                ("path", text()),
                ("base_branch", text()),
                ("feature_branch", or_null(&text())),
                ("session_id", refer("SessionId")),
                ("created_at", time()),
            ]),
        ),
        ("ProjectPage", page("projects", "Project")),
        (
            "ChatAnswer",
            object(&[
                ("task_id", refer("TaskId")),
                ("task_group_id", refer("SessionId")),
                ("session_id", refer("SessionId")),
                ("task_type", refer("TaskType")),
                ("status", refer("Status")),
            ]),
        ),
        (
            "TaskGroup",
            object(&[
                ("task_group_id", refer("SessionId")),
                ("session_id", refer("SessionId")),
                ("task_count", count()),
                ("status_counts", json!({ "type": "object", "additionalProperties": count() })),
                ("latest_status", refer("Status")),
                ("first_prompt", text()),
                ("created_at", time()),
                ("latest_updated_at", time()),
            ]),
        ),
        (
            "TaskGroupPage",
            object(&[
                namespace.clone(),
                ("task_groups", list(&refer("TaskGroup"))),
                ("next_cursor", or_null(&text())),
            ]),
        ),
        (
            "GroupTaskPage",
            object(&[
                namespace,
                ("task_group_id", refer("SessionId")),
                ("tasks", list(&refer("TaskSummary"))),
                ("next_cursor", or_null(&text())),
            ]),
        ),
        (
            "Conversation",
            object(&[
                ("session_id", refer("SessionId")),
                ("entries", list(&refer("ConversationEntry"))),
                ("next_cursor", or_null(&text())),
            ]),
        ),
        (
            "ConversationEntry",
            object(&[
                ("at", time()),
                ("task_id", or_null(&refer("TaskId"))),
                ("kind", one_of(&["message", "result", "question", "answer"])),
                ("text", text()),
                ("number?", count()),
                ("author?", refer("Actor")),
                ("attempt_id?", refer("AttemptId")),
                ("question_id?", refer("QuestionId")),
                ("options?", list(&said())),
                ("is_pending?", flag()),
                ("answered_by?", refer("AnsweredBy")),
            ]),
        ),
    ]
}

fn tool_shapes() -> Shapes {
    let tool = object(&[
        ("name", refer("ToolName")),
        ("description", said()),
        ("input_schema", json!({ "type": "object", "additionalProperties": true })),
        ("is_read_only", flag()),
    ]);
    let user_task = object(&[("name", refer("UserTaskName")), ("description", said())]);
    vec![
        ("Tool", tool),
        ("ToolList", object(&[("tools", list(&refer("Tool")))])),
        ("ToolArguments", json!({ "type": "object", "additionalProperties": true })),
        ("ToolAnswer", object(&[("text", text()), ("is_error", flag())])),
        ("UserTask", user_task),
        ("UserTaskList", object(&[("tasks", list(&refer("UserTask"))), ("message", said())])),
        ("UserTaskRun", request(&[("args?", text())])),
        (
            "UserTaskRan",
            object(&[
                ("task_name", refer("UserTaskName")),
                ("succeeded", flag()),
                ("exit_code", json!({ "type": "integer" })),
                ("stdout", text()),
                ("stderr", text()),
                ("message", said()),
            ]),
        ),
    ]
}

fn other_shapes() -> Shapes {
    let codes = one_of(&[
        "INVALID_INPUT",
        "UNAUTHORIZED",
        "FORBIDDEN",
        "NOT_FOUND",
        "METHOD_NOT_ALLOWED",
        "CONFLICT",
        "INVALID_STATUS",
        "ALREADY_ANSWERED",
        "TOO_LARGE",
        "TOO_MANY_REQUESTS",
        "INTERNAL",
        "UNAVAILABLE",
    ]);
    let actors = one_of(&["human", "policy", "agent", "baton"]);
    let agent = object(&[
        ("name", refer("Name")),
        ("program", text()),
        ("is_found", flag()),
        ("paused_until", or_null(&time())),
    ]);
    let event = open(object(&[("seq", count()), ("at", time()), ("by", refer("Actor")), ("event", text())]));
    vec![
        ("Error", object(&[("error", codes), ("message", text()), ("hint", text())])),
        ("Actor", object(&[("kind", actors), ("name?", text()), ("attempt?", refer("AttemptId"))])),
        (
            "Recipe",
            object(&[
                ("recipe_id", refer("Name")),
                ("label", said()),
                ("description", said()),
                ("initial_step", refer("Name")),
                ("steps", list(&refer("Name"))),
                ("is_built_in", flag()),
                ("faults", list(&text())),
            ]),
        ),
        ("RecipePage", page("recipes", "Recipe")),
        (
            "Run",
            object(&[
                ("run_id", id("RUN-", 8)),
                ("recipe_id", refer("Name")),
                ("session_id", refer("SessionId")),
                ("task_id", or_null(&refer("TaskId"))),
                ("current_step", refer("Name")),
                ("step_count", count()),
                ("state", one_of(&["working", "at_gate", "leaving", "exited"])),
            ]),
        ),
        ("Event", event),
        ("EventPage", page("events", "Event")),
        (
            "Health",
            object(&[
                ("status", one_of(&["ok", "degraded"])),
                ("namespace", text()),
                ("version", text()),
                ("store", object(&[("is_writable", flag()), ("detail", or_null(&text()))])),
                ("agents", list(&agent)),
                ("disk", object(&[("free_bytes", or_null(&count()))])),
                (
                    "counts",
                    object(&[
                        ("ready", count()),
                        ("running", count()),
                        ("pending_questions", count()),
                        ("unaccepted", count()),
                    ]),
                ),
                ("last_seq", count()),
                ("problems", list(&text())),
            ]),
        ),
    ]
}
