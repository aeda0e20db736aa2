//! What is told of a project as a whole.

use serde_json::json;

use crate::api::openapi::shapes::{Shapes, count, flag, list, object, or_null, said, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let counts = |names: &[&'static str]| names.iter().map(|name| (*name, count())).collect::<Vec<_>>();
    let mut progress = counts(&[
        "total",
        "done",
        "cancelled",
        "recycled",
        "replaced",
        "failed",
        "to_accept",
        "asking",
        "running",
        "queued",
    ]);
    progress.push(("is_complete", flag()));
    let effort = counts(&[
        "attempts",
        "commits",
        "turns",
        "insertions",
        "deletions",
        "input_tokens",
        "output_tokens",
        "cost_micro_usd",
        "worked_ms",
    ]);
    let attempt = object(&[
        ("attempt_id", refer("AttemptId")),
        ("agent", refer("Name")),
        ("started_at", time()),
        ("ended_at", or_null(&time())),
        ("end", said()),
        ("effort", refer("Effort")),
        ("checks", json!({ "type": "array", "items": { "type": "array", "items": true } })),
    ]);
    let task = object(&[
        ("task_id", refer("TaskId")),
        ("title", said()),
        ("queue", refer("Queue")),
        ("status", refer("Status")),
        ("accepted_by", or_null(&json!({ "type": "object", "additionalProperties": true }))),
        ("created_at", time()),
        ("updated_at", time()),
        ("attempts", list(&attempt)),
    ]);
    let sum = ["attempts", "turns", "input_tokens", "output_tokens", "cost_micro_usd"];
    let mut row = vec![("id", or_null(&text())), ("title", or_null(&text()))];
    row.extend(counts(&sum));
    let row = object(&row);
    let limit = or_null(&count());
    let costs = object(&[
        ("since", time()),
        ("until", time()),
        ("total", object(&counts(&sum))),
        ("by_project", list(&row)),
        ("by_agent", list(&row)),
        ("by_task", list(&row)),
        ("used_today", object(&counts(&["turns", "tokens", "cost_micro_usd", "wall_ms"]))),
        ("budgets", object(&[("day", limit.clone()), ("project", limit.clone()), ("task", limit)])),
    ]);
    vec![
        ("Costs", costs),
        ("Progress", object(&progress)),
        ("Effort", object(&effort)),
        (
            "ProjectReport",
            object(&[
                ("project", refer("Project")),
                ("progress", refer("Progress")),
                ("effort", refer("Effort")),
                ("tasks", list(&task)),
            ]),
        ),
    ]
}
