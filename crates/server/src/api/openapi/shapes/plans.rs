//! Drafts of plans.

use serde_json::json;

use crate::api::openapi::shapes::{Shapes, list, object, open, or_null, said, text};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    vec![
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
