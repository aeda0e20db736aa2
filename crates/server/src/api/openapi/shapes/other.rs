//! Events, recipes, messages and take-overs.

use crate::api::openapi::shapes::{Shapes, count, flag, list, object, open, or_null, page, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let event = open(object(&[("seq", count()), ("at", time()), ("by", refer("Actor")), ("event", text())]));
    let recipes = object(&[
        ("recipes", list(&refer("Recipe"))),
        ("next_cursor", or_null(&text())),
        // The errors of recipe files that are not in use.
        ("faults", list(&text())),
    ]);
    let takeover = object(&[
        ("task_id", refer("TaskId")),
        ("taken_by", or_null(&text())),
        ("since", or_null(&time())),
        ("attempt_id", or_null(&text())),
        ("is_free", flag()),
        ("worktree", or_null(&text())),
        ("agent", or_null(&refer("Name"))),
        ("agent_session", or_null(&text())),
        ("agent_command", or_null(&list(&text()))),
    ]);
    vec![
        ("Takeover", takeover),
        ("RecipePage", recipes),
        ("Event", event),
        ("EventPage", page("events", "Event")),
        ("TaskMessagePage", page("messages", "TaskMessageView")),
    ]
}
