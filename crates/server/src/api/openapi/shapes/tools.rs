//! Tools and user tasks.

use serde_json::json;

use crate::api::openapi::shapes::{Shapes, flag, list, object, refer, request, said, text};

pub fn shapes() -> Shapes {
    let tool = object(&[
        ("name", refer("ToolName")),
        ("description", said()),
        ("input_schema", json!({ "type": "object", "additionalProperties": true })),
        ("touches", json!({ "type": "string", "enum": ["nothing", "records", "anything"] })),
    ]);
    let user_task = object(&[("name", refer("UserTaskName")), ("description", said())]);
    vec![
        ("Tool", tool),
        ("ToolList", object(&[("tools", list(&refer("Tool")))])),
        ("ToolArguments", json!({ "type": "object", "additionalProperties": true })),
        ("ToolAnswer", object(&[("text", text()), ("is_error", flag())])),
        ("UserTask", user_task),
        ("UserTaskList", object(&[("tasks", list(&refer("UserTask"))), ("message", said())])),
        ("UserTaskRun", request(&[("args?", text())])),
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
