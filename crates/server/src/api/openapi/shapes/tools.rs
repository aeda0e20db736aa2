//! Tools and user tasks.

use serde_json::json;

use crate::api::openapi::shapes::{Shapes, flag, list, object, said, text};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let user_task = object(&[("name", refer("UserTaskName")), ("description", said())]);
    vec![
        ("ToolList", object(&[("tools", list(&refer("Tool")))])),
        ("ToolArguments", json!({ "type": "object", "additionalProperties": true })),
        ("UserTask", user_task),
        ("UserTaskList", object(&[("tasks", list(&refer("UserTask"))), ("message", said())])),
        (
            "UserTaskRan",
            object(&[
                ("task_name", refer("UserTaskName")),
                ("succeeded", flag()),
                ("exit_code", json!({ "type": "integer" })),
                ("stdout", text()),
                ("stderr", text()),
                ("message", said()),
            ]),
        ),
    ]
}
