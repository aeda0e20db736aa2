//! Errors, events, recipes.

use crate::api::openapi::shapes::{
    Shapes, count, flag, id, list, object, one_of, open, or_null, page, refer, said, text, time,
};

pub fn shapes() -> Shapes {
    let codes = one_of(&[
        "INVALID_INPUT",
        "UNAUTHORIZED",
        "FORBIDDEN",
        "NOT_FOUND",
        "METHOD_NOT_ALLOWED",
        "CONFLICT",
        "INVALID_STATUS",
        "ALREADY_ANSWERED",
        "TOO_LARGE",
        "TOO_MANY_REQUESTS",
        "INTERNAL",
        "UNAVAILABLE",
    ]);
    let actors = one_of(&["human", "policy", "agent", "baton"]);
    let event = open(object(&[("seq", count()), ("at", time()), ("by", refer("Actor")), ("event", text())]));
    vec![
        (
            "Error",
            object(&[
                ("error", codes),
                ("message", text()),
                ("hint", text()),
                ("reason?", text()),
                ("conflicts?", list(&text())),
            ]),
        ),
        ("LoggedIn", object(&[("is_logged_in", flag())])),
        ("Actor", object(&[("kind", actors), ("name?", text()), ("attempt?", refer("AttemptId"))])),
        (
            "Recipe",
            object(&[
                ("recipe_id", refer("Name")),
                ("label", said()),
                ("description", said()),
                ("initial_step", refer("Name")),
                ("steps", list(&refer("Name"))),
                ("is_built_in", flag()),
                ("faults", list(&text())),
            ]),
        ),
        ("RecipePage", page("recipes", "Recipe")),
        (
            "Run",
            object(&[
                ("run_id", id("RUN-", 8)),
                ("recipe_id", refer("Name")),
                ("session_id", refer("SessionId")),
                ("task_id", or_null(&refer("TaskId"))),
                ("current_step", refer("Name")),
                ("step_count", count()),
                ("state", one_of(&["working", "at_gate", "leaving", "exited"])),
            ]),
        ),
        ("Event", event),
        ("EventPage", page("events", "Event")),
    ]
}
