//! Questions and answers, and what stands still.

use serde_json::Value;

use crate::api::openapi::shapes::{Shapes, list, object, one_of, open, or_null, page, said, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let kinds = one_of(&[
        "clarification",
        "confirmation",
        "gate",
        "permission",
        "danger",
        "escalation",
        "completion",
    ]);
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
        ("StandstillList", object(&[("standstills", list(&refer("Standstill")))])),
        ("Standstill", standstill()),
        (
            "AnsweredBy",
            object(&[("by", one_of(&["queued", "policy", "human", "expiry"])), ("name?", text())]),
        ),
        (
            "AskedQuestion",
            object(&[
                ("question_id?", refer("QuestionId")),
                ("answer?", said()),
                ("answered_by?", refer("AnsweredBy")),
            ]),
        ),
    ]
}

fn standstill() -> Value {
    let reasons = [
        "plan_to_approve",
        "no_progress",
        "plan_wanted",
        "held",
        "breakdown_cancelled",
        "dead_dependency",
        "failed",
        "project_unavailable",
        "branch_fails",
        "landing_stopped",
        "contains_refused",
        "not_accepted",
        "review_stuck",
    ];
    object(&[
        ("reason", one_of(&reasons)),
        ("task_id", or_null(&refer("TaskId"))),
        ("project_id", or_null(&refer("ProjectId"))),
        ("on", or_null(&refer("TaskId"))),
        ("title", said()),
        ("message", said()),
        ("commands", list(&said())),
    ])
}
