//! Lanes, candidates and verdicts.

use crate::api::openapi::shapes::{Shapes, count, flag, list, object, or_null, said, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let candidate = object(&[
        ("task_id", refer("TaskId")),
        ("title", said()),
        ("priority", refer("Priority")),
        ("accepted_by", text()),
        ("since", time()),
        ("is_being_checked", flag()),
        ("behind", or_null(&refer("TaskId"))),
    ]);
    let lane = object(&[
        ("branch", said()),
        ("project_id", or_null(&refer("ProjectId"))),
        ("remote", or_null(&text())),
        ("checking", list(&refer("TaskId"))),
        ("checking_since", or_null(&time())),
        ("error", or_null(&text())),
        ("candidates", list(&candidate)),
    ]);
    let verdict = object(&[
        ("branch", said()),
        ("commit", said()),
        ("base", said()),
        ("tree", said()),
        ("passed", flag()),
        ("flaky", list(&said())),
        ("failed", list(&object(&[("name", said()), ("exit_code", count()), ("output_tail", text())]))),
        ("runs", count()),
        ("checked_at", or_null(&time())),
        ("duration_ms", count()),
    ]);
    vec![("Landing", object(&[("lanes", list(&lane)), ("verdicts", list(&verdict))]))]
}
