//! Tasks, their attempts and their plans.

use serde_json::{Value, json};

use crate::api::openapi::shapes::{
    Shapes, count, flag, list, object, one_of, open, or_null, page, said, text, time,
};
use crate::schema::refer;

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
        ("is_breakdown", flag()),
        ("re_breakdown_depth", count()),
        ("replaces_task_id", or_null(&refer("TaskId"))),
        ("too_large", or_null(&one_of(&["too_large", "cumulative_failures"]))),
        ("needs_review", list(&text())),
        ("open_question", or_null(&said())),
        ("left_to_person?", said()),
        ("held_because", or_null(&said())),
        ("start_at", or_null(&time())),
        ("waits_until", or_null(&time())),
        ("waits_behind", or_null(&refer("TaskId"))),
        ("added_by", or_null(&refer("AttemptId"))),
        ("created_at", time()),
        ("updated_at", time()),
        ("version", count()),
    ]
}

pub(super) fn shapes() -> Shapes {
    let mut ready = summary_fields();
    ready.push(("not_started", or_null(&refer("NotStarted"))));
    let mut task = summary_fields();
    task.extend([
        ("description", text()),
        ("role", or_null(&refer("Name"))),
        ("state", open(object(&[("name", text())]))),
        ("output", or_null(&text())),
        ("depends_on", list(&refer("TaskId"))),
        ("waiting_on", list(&refer("TaskId"))),
        ("rests_on", list(&refer("TaskId"))),
        ("came_of", or_null(&refer("TaskId"))),
        ("asked_by", or_null(&text())),
        ("not_started", or_null(&refer("NotStarted"))),
        ("recipe_id", or_null(&refer("Name"))),
        ("accept_when", or_null(&one_of(&["person", "green", "reviewed"]))),
        ("verify", list(&said())),
        ("agent", or_null(&refer("Name"))),
        ("model", or_null(&said())),
        ("no_fallback", flag()),
        ("run", or_null(&refer("Run"))),
        ("environment?", environment()),
        ("landing?", refer("TaskLanding")),
        ("standing?", standing()),
        ("problem?", object(&[("service", said()), ("error", said()), ("since", time())])),
        ("dead_edges", list(&object(&[("on", refer("TaskId")), ("reason", text())]))),
        ("attempts", list(&refer("Attempt"))),
        ("reported", or_null(&refer("Reported"))),
        ("verified", or_null(&refer("Evidence"))),
        ("notes", list(&open(object(&[("note", text()), ("at", time())])))),
    ]);
    vec![
        ("TaskSummary", object(&summary_fields())),
        ("Task", object(&task)),
        ("TaskPage", page("tasks", "TaskSummary")),
        ("ReadyTask", object(&ready)),
        ("ReadyPage", page("tasks", "ReadyTask")),
        ("NotStarted", object(&[("code", text()), ("message", said())])),
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
        ("TaskLog", piece(&[("attempt_id", or_null(&refer("AttemptId"))), ("machine?", text())])),
        ("TaskDiff", piece(&[])),
        (
            "Preview",
            object(&[(
                "preview",
                list(&object(&[
                    ("task_id", refer("TaskId")),
                    ("refused", or_null(&text())),
                    ("merge", or_null(&trial_merge())),
                    ("is_checked", flag()),
                    ("would_start", list(&refer("TaskId"))),
                ])),
            )]),
        ),
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
    ]
}

/// What attempts work with beside the code.
fn environment() -> Value {
    let folder = object(&[
        ("path", text()),
        ("way", one_of(&["reflink", "hard_link", "copy"])),
        ("files", count()),
        ("bytes", count()),
        ("duration_ms", count()),
    ]);
    let service = object(&[
        ("name", said()),
        ("attempt_id", refer("AttemptId")),
        ("is_running", flag()),
        ("url?", text()),
        ("ended?", said()),
    ]);
    object(&[
        ("reused", list(&folder)),
        ("values", json!({ "type": "object", "additionalProperties": text() })),
        ("services", list(&service)),
        ("paused?", said()),
    ])
}

/// A part of a long text of a task's.
fn piece(more: &[(&str, Value)]) -> Value {
    let mut fields = vec![
        ("task_id", refer("TaskId")),
        ("text", text()),
        ("is_cut", flag()),
        ("next_offset", or_null(&count())),
        ("end_offset", count()),
    ];
    fields.extend_from_slice(more);
    object(&fields)
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
    fields.extend([
        ("accounts?", list(&refer("Name"))),
        ("base?", text()),
        ("head?", text()),
        ("findings?", list(&object(&[("finding", text())]))),
    ]);
    object(&fields)
}

/// What else is known about finished work: where its branch stands, and what keeps a policy from it.
fn standing() -> Value {
    object(&[
        ("into", text()),
        ("ahead?", said()),
        ("moved_by", count()),
        ("withdrawn?", list(&said())),
        ("waits_for?", refer("TaskId")),
        ("waits_because?", said()),
    ])
}

/// How the work of a task merges. What else it says depends on that.
fn trial_merge() -> Value {
    object(&[
        ("merge", one_of(&["nothing", "fits", "conflict", "moved", "on_withdrawn", "rests_on"])),
        ("into?", text()),
        ("with?", said()),
        ("files?", list(&text())),
        ("is_with_earlier?", flag()),
        ("fits_without?", flag()),
        ("commits?", list(&said())),
        ("waits_for?", refer("TaskId")),
        ("task_id?", refer("TaskId")),
    ])
}
