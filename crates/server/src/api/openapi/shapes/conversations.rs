//! Conversations.

use crate::api::openapi::shapes::{Shapes, count, flag, list, object, one_of, or_null, said, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    vec![
        (
            "Conversation",
            object(&[
                ("session_id", refer("SessionId")),
                ("entries", list(&refer("ConversationEntry"))),
                ("next_cursor", or_null(&text())),
            ]),
        ),
        (
            "ConversationEntry",
            object(&[
                ("at", time()),
                ("task_id", or_null(&refer("TaskId"))),
                ("kind", one_of(&["message", "result", "question", "answer", "run_ended"])),
                ("text", text()),
                ("number?", count()),
                ("author?", refer("Actor")),
                ("attempt_id?", refer("AttemptId")),
                ("question_id?", refer("QuestionId")),
                ("options?", list(&said())),
                ("is_pending?", flag()),
                ("answered_by?", refer("AnsweredBy")),
                ("run_id?", text()),
                ("recipe_id?", refer("Name")),
                ("reason?", said()),
                ("category?", one_of(&["completed", "guardrail", "error"])),
                ("summary?", object(&[])),
            ]),
        ),
    ]
}
