//! What requests hold.

use serde_json::json;

use crate::api::openapi::shapes::{Shapes, flag, list, one_of, or_null, refer, request, said, text, time};
use crate::http::limits::TITLE_CHARS_MAX;

pub fn shapes() -> Shapes {
    let title = json!({ "type": "string", "minLength": 1, "pattern": "\\S", "maxLength": TITLE_CHARS_MAX });
    let at_once = or_null(&json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }));
    let nullable = |name: &str| or_null(&refer(name));
    vec![
        (
            "NewProject",
            request(&[
                ("path?", json!({ "type": "string" })),
                ("remote?", or_null(&said())),
                ("title?", or_null(&title)),
                ("description?", text()),
                ("base_branch?", or_null(&said())),
                ("feature?", flag()),
                ("at_once_max?", at_once.clone()),
            ]),
        ),
        ("ProjectLimit", request(&[("at_once_max", at_once)])),
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
                ("title", title.clone()),
                ("description?", text()),
                ("task_type?", nullable("TaskType")),
                ("project_id?", nullable("ProjectId")),
                ("session_id?", nullable("SessionId")),
                ("depends_on?", list(&refer("TaskId"))),
                ("priority?", refer("Priority")),
                ("recipe?", nullable("Name")),
                ("needs?", list(&refer("Name"))),
            ]),
        ),
        (
            "Revising",
            request(&[
                ("title?", or_null(&title)),
                ("description?", or_null(&text())),
                ("priority?", nullable("Priority")),
                ("after?", list(&refer("TaskId"))),
                ("seen?", nullable("Seen")),
            ]),
        ),
        (
            "Seen",
            request(&[
                ("title?", or_null(&text())),
                ("description?", or_null(&text())),
                ("priority?", nullable("Priority")),
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
        (
            "NewToken",
            request(&[
                ("name", refer("PersonName")),
                ("role", refer("PersonRole")),
                ("expires_at?", or_null(&time())),
            ]),
        ),
        ("NewQuestion", request(&[("question", said()), ("options?", list(&text()))])),
        ("Login", request(&[("token", text())])),
        ("Reply", request(&[("reply", said())])),
        ("NewAnswer", request(&[("answer", said())])),
        ("NewSaying", request(&[("text", said())])),
        ("NewQueuedAnswer", request(&[("answer", said()), ("task_id?", nullable("TaskId"))])),
        ("Acceptance", request(&[("force?", flag())])),
        ("AcceptancePreview", request(&[("task_ids", list(&refer("TaskId"))), ("force?", flag())])),
        ("Rejection", request(&[("reason", said())])),
        ("Recycling", request(&[("reason?", or_null(&one_of(&["too_large", "cumulative_failures"])))])),
        ("Cancelling", request(&[("reason?", or_null(&said()))])),
        ("Nothing", request(&[])),
    ]
}
