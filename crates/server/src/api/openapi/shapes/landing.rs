//! Lanes, candidates and verdicts.

use crate::api::openapi::shapes::{
    Shapes, count, flag, list, object, one_of, open, or_null, said, text, time,
};
use crate::schema::refer;
use serde_json::{Value, json};

pub(super) fn shapes() -> Shapes {
    let candidate = object(&[
        ("task_id", refer("TaskId")),
        ("title", said()),
        ("priority", refer("Priority")),
        ("accepted_by", text()),
        ("since", time()),
        ("is_being_checked", flag()),
        ("behind", or_null(&refer("TaskId"))),
        ("delayed", or_null(&said())),
    ]);
    let lane = object(&[
        ("branch", said()),
        ("project_id", or_null(&refer("ProjectId"))),
        ("project_title", or_null(&said())),
        ("remote", or_null(&text())),
        ("tip", or_null(&said())),
        ("run", or_null(&count())),
        ("checking", list(&refer("TaskId"))),
        ("checking_since", or_null(&time())),
        ("error", or_null(&text())),
        ("note", or_null(&said())),
        ("candidates", list(&candidate)),
    ]);
    let verdict = object(&[
        ("branch", said()),
        ("commit", said()),
        ("base", said()),
        ("tree", said()),
        ("suite", said()),
        ("suite_from", or_null(&said())),
        ("environment", said()),
        ("passed", flag()),
        ("flaky", list(&said())),
        ("failed", list(&object(&[("name", said()), ("exit_code", exit_code()), ("output_tail", text())]))),
        ("checks", list(&object(&[("name", said()), ("exit_code", exit_code()), ("output_tail?", text())]))),
        ("runs", count()),
        ("checked_at", or_null(&time())),
        ("duration_ms", count()),
    ]);
    let run = object(&[
        ("run", count()),
        ("branch", said()),
        ("task_ids", list(&refer("TaskId"))),
        ("commit", said()),
        ("base", said()),
        ("without_work", or_null(&said())),
        ("since", time()),
        ("is_running", flag()),
        ("output", text()),
        ("output_bytes_before", count()),
    ]);
    let landing = object(&[
        ("lanes", list(&lane)),
        ("runs", list(&run)),
        ("recent", list(&recent())),
        ("verdicts", list(&verdict)),
    ]);
    vec![("Landing", landing), ("TaskLanding", task_landing())]
}

/// Where one task stands. What else it says depends on that.
fn task_landing() -> Value {
    let check = object(&[("name", said()), ("exit_code", exit_code()), ("output_tail?", text())]);
    let evidence = object(&[
        ("commit", said()),
        ("base", said()),
        ("tree", said()),
        ("suite", said()),
        ("suite_from?", said()),
        ("environment", said()),
        ("checks", list(&check)),
        ("flaky?", list(&object(&[("name", said()), ("exit_code", exit_code())]))),
        ("checked_at", time()),
        ("duration_ms", count()),
    ]);
    let verified =
        object(&[("command", said()), ("base", said()), ("before", exit_code()), ("after", exit_code())]);
    object(&[
        ("message", said()),
        ("state", one_of(&["checking", "waiting", "sent_back", "landed", "forced"])),
        ("branch?", said()),
        ("position?", count()),
        ("commit?", or_null(&said())),
        ("base?", or_null(&said())),
        ("suite?", or_null(&said())),
        ("since?", or_null(&time())),
        ("task_ids?", list(&refer("TaskId"))),
        ("behind?", or_null(&refer("TaskId"))),
        ("error?", or_null(&text())),
        ("delayed?", or_null(&said())),
        ("at?", time()),
        ("reason?", said()),
        ("checks?", list(&open(check))),
        ("waits_for_person?", flag()),
        ("evidence?", or_null(&evidence)),
        ("verified?", list(&verified)),
        ("by?", said()),
    ])
}

/// How a task left its lane. What else it says depends on how.
fn recent() -> Value {
    object(&[
        ("at", time()),
        ("task_id", refer("TaskId")),
        ("title", said()),
        ("end", one_of(&["landed", "sent_back", "forced"])),
        ("commit?", or_null(&said())),
        ("flaky?", list(&said())),
        ("reason?", open(object(&[("why", said())]))),
        ("headline?", said()),
        ("by?", said()),
    ])
}

/// Negative if the check was not seen to end.
fn exit_code() -> Value {
    json!({ "type": "integer" })
}
