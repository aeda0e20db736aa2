//! Projects and task groups.

use crate::api::openapi::shapes::{Shapes, count, list, object, or_null, page, said, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let namespace = ("namespace", text());
    vec![
        ("ProjectPage", page("projects", "Project")),
        (
            "TaskGroupPage",
            object(&[
                namespace.clone(),
                ("task_groups", list(&refer("TaskGroup"))),
                ("next_cursor", or_null(&text())),
            ]),
        ),
        (
            "GroupTaskPage",
            object(&[
                namespace,
                ("task_group_id", refer("SessionId")),
                ("tasks", list(&refer("TaskSummary"))),
                ("next_cursor", or_null(&text())),
            ]),
        ),
        (
            "Message",
            object(&[
                ("session_id", refer("SessionId")),
                ("number", count()),
                ("author", refer("Actor")),
                ("text", said()),
                ("at", time()),
                ("task_id?", refer("TaskId")),
            ]),
        ),
    ]
}
