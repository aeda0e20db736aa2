//! Ids, names and other single words.

use baton_core::id::SessionId;
use baton_core::person_role::PersonRole;
use baton_core::receipt::ReceiptKey;
use baton_core::task_type::TaskType;
use serde_json::json;

use crate::api::openapi::shapes::{Shapes, cursor, id, one_of};
use crate::http::limits::{PAGE_DEFAULT, PAGE_MAX};
use crate::mcp::STATUSES;

pub fn shapes() -> Shapes {
    let name = json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9_-]*$", "maxLength": 64 });
    let session = json!({
        "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.:-]*$", "maxLength": SessionId::LEN_MAX,
    });
    let key =
        json!({ "type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": ReceiptKey::LEN_MAX });
    vec![
        ("TaskId", id("TASK-", 8)),
        ("IdPrefix", json!({ "type": "string", "minLength": 1 })),
        ("ProjectId", id("PROJ-", 8)),
        ("QuestionId", id("Q-", 8)),
        ("AttemptId", id("ATT-", 16)),
        ("SessionId", session),
        ("Name", name.clone()),
        ("IdempotencyKey", key),
        ("Limit", json!({ "type": "integer", "minimum": 1, "maximum": PAGE_MAX, "default": PAGE_DEFAULT })),
        ("TaskCursor", cursor("TASK-[0-9a-f]{8}")),
        ("ProjectCursor", cursor("PROJ-[0-9a-f]{8}")),
        ("QuestionCursor", cursor("Q-[0-9a-f]{8}")),
        ("GroupCursor", cursor("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}")),
        ("EntryCursor", cursor("[0-9][0-9A-Za-z-]+")),
        ("Seq", json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX })),
        ("TaskType", one_of(&TaskType::ALL.map(TaskType::as_str))),
        ("Priority", one_of(&["P0", "P1", "P2", "P3"])),
        ("QuestionState", one_of(&["pending", "closed"])),
        ("UserTaskName", json!({ "type": "string", "minLength": 1 })),
        ("PersonName", name),
        ("PersonRole", one_of(&PersonRole::ALL.map(PersonRole::as_str))),
        ("ToolName", json!({ "type": "string", "minLength": 1 })),
        (
            "Queue",
            one_of(&[
                "incoming",
                "breakdown",
                "claimed",
                "needs_continuation",
                "escalated",
                "provisional",
                "recycled",
                "done",
                "failed",
                "rejected",
            ]),
        ),
        ("Status", one_of(&STATUSES)),
    ]
}
