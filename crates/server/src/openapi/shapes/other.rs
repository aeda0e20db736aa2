//! Errors, events, recipes and health.

use baton_core::hold::HoldReason;

use super::{Shapes, count, flag, id, list, object, one_of, open, or_null, page, refer, said, text, time};

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
    let agent = object(&[
        ("name", refer("Name")),
        ("program", text()),
        ("is_found", flag()),
        ("paused_until", or_null(&time())),
    ]);
    let event = open(object(&[("seq", count()), ("at", time()), ("by", refer("Actor")), ("event", text())]));
    let token = [
        ("name", refer("PersonName")),
        ("role", refer("PersonRole")),
        ("is_good", flag()),
        ("created_at", time()),
        ("created_by", refer("Actor")),
        ("expires_at?", time()),
        ("revoked?", object(&[("at", time()), ("by", refer("Actor"))])),
    ];
    let created: Vec<_> = [("token", text())].into_iter().chain(token.clone()).collect();
    vec![
        ("TokenList", object(&[("tokens", list(&refer("Token")))])),
        ("Token", object(&token)),
        ("CreatedToken", object(&created)),
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
        ("HoldList", object(&[("holds", list(&refer("Hold")))])),
        (
            "Hold",
            object(&[
                ("agent", refer("Name")),
                ("why", one_of(&HoldReason::ALL.map(HoldReason::as_str))),
                ("reason", said()),
                ("since", time()),
                ("until?", time()),
                ("released?", object(&[("at", time()), ("by", refer("Actor"))])),
            ]),
        ),
        ("WorkerList", object(&[("workers", list(&refer("Worker")))])),
        (
            "Worker",
            object(&[
                ("name", said()),
                ("host", text()),
                ("duty", one_of(&["server", "worker"])),
                ("state", one_of(&["live", "draining", "lost"])),
                ("version", text()),
                ("roles", list(&refer("Name"))),
                ("agents", list(&refer("Name"))),
                ("labels", list(&refer("Name"))),
                ("capacity", count()),
                (
                    "running",
                    list(&object(&[
                        ("task_id", refer("TaskId")),
                        ("title", said()),
                        ("attempt_id", refer("AttemptId")),
                        ("agent", refer("Name")),
                        ("since", time()),
                    ])),
                ),
                ("started_at", time()),
                ("last_heartbeat", time()),
            ]),
        ),
        ("Event", event),
        ("EventPage", page("events", "Event")),
        (
            "Health",
            object(&[
                ("status", one_of(&["ok", "degraded"])),
                ("namespace", text()),
                ("version", text()),
                ("store", object(&[("is_writable", flag()), ("detail", or_null(&text()))])),
                ("agents", list(&agent)),
                ("holds", list(&refer("Hold"))),
                ("disk", object(&[("free_bytes", or_null(&count()))])),
                (
                    "counts",
                    object(&[
                        ("ready", count()),
                        ("running", count()),
                        ("pending_questions", count()),
                        ("unaccepted", count()),
                    ]),
                ),
                ("last_seq", count()),
                ("now", or_null(&time())),
                ("problems", list(&text())),
            ]),
        ),
    ]
}
