//! What requests about breakdowns and their plans hold.

use serde_json::json;

use crate::api::openapi::shapes::{Shapes, flag, list, object, open, or_null, refer, request, said, text};

pub fn shapes() -> Shapes {
    let nullable = |name: &str| or_null(&refer(name));
    vec![
        (
            "NewBreakdown",
            request(&[
                ("title", said()),
                ("description?", text()),
                ("project_id?", nullable("ProjectId")),
                ("session_id?", nullable("SessionId")),
                ("run?", flag()),
            ]),
        ),
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
