//! Projects and task groups.

use serde_json::json;

use crate::api::openapi::shapes::{Shapes, count, list, object, or_null, page, refer, said, text, time};

pub fn shapes() -> Shapes {
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
                ("branch", text()),
                ("remote", or_null(&text())),
                ("at_once_max", or_null(&count())),
                ("session_id", refer("SessionId")),
                ("created_at", time()),
                ("completed_at", or_null(&time())),
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
            "Message",
            object(&[
                ("session_id", refer("SessionId")),
                ("number", count()),
                ("author", refer("Actor")),
                ("text", said()),
                ("at", time()),
                ("task_id?", refer("TaskId")),
            ]),
        ),
        (
            "QueuedAnswers",
            object(&[
                ("session_id", refer("SessionId")),
                ("queued", list(&object(&[("text", said()), ("task?", refer("TaskId"))]))),
            ]),
        ),
    ]
}
