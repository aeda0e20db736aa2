//! Runs of recipes and loops.

use crate::api::openapi::shapes::{Shapes, count, flag, object, one_of, or_null, page, said, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let outcome = object(&[("step", refer("Name")), ("outcome", refer("Name")), ("words?", said())]);
    let counts = ["iterations", "tasks_completed", "tasks_failed", "tasks_discovered", "duplicates_skipped"];
    let summary = object(&counts.map(|name| (name, count())));
    let run = object(&[
        ("run_id", text()),
        ("recipe_id", refer("Name")),
        ("session_id", refer("SessionId")),
        ("project_id", or_null(&refer("ProjectId"))),
        ("task_id", or_null(&refer("TaskId"))),
        ("state", one_of(&["working", "at_gate", "leaving", "exited"])),
        ("has_exited", flag()),
        ("current_step", refer("Name")),
        ("step_count", count()),
        ("iteration", count()),
        ("last_outcome", or_null(&outcome)),
        ("question_id", or_null(&refer("QuestionId"))),
        ("reason", or_null(&said())),
        ("category", or_null(&one_of(&["completed", "guardrail", "error"]))),
        ("message", or_null(&said())),
        ("error", or_null(&said())),
        ("summary", or_null(&summary)),
        ("started_at", or_null(&time())),
        ("ended_at", or_null(&time())),
    ]);
    vec![("Run", run), ("RunPage", page("runs", "Run"))]
}
