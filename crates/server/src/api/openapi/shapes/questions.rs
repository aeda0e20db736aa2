//! Questions and answers.

use crate::api::openapi::shapes::{Shapes, list, object, one_of, open, page, said, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let kinds = one_of(&["clarification", "confirmation", "gate", "permission", "danger", "escalation"]);
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
                ("refused?", open(object(&[]))),
                ("message?", text()),
                ("hint?", text()),
            ]),
        ),
    ]
}
