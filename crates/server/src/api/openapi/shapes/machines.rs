//! Holds, accounts, routines and workers.

use baton_core::limits::hold::HoldReason;
use baton_engine::reports::accounts::AccountState;

use crate::api::openapi::shapes::{Shapes, count, list, object, one_of, or_null, said, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    vec![
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
        ("RoutineList", object(&[("routines", list(&refer("Routine")))])),
        ("AccountList", object(&[("accounts", list(&refer("Account")))])),
        (
            "Account",
            object(&[
                ("name", refer("Name")),
                ("provider", or_null(&text())),
                ("agents", list(&refer("Name"))),
                ("state", one_of(&AccountState::ALL.map(AccountState::as_str))),
                ("until", or_null(&time())),
                ("why", or_null(&one_of(&HoldReason::ALL.map(HoldReason::as_str)))),
                ("reason", or_null(&text())),
                (
                    "used_today",
                    object(&[
                        ("turns", count()),
                        ("tokens", count()),
                        ("cost_micro_usd", count()),
                        ("wall_ms", count()),
                    ]),
                ),
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
    ]
}
