//! Health, holds and workers.

use baton_core::hold::HoldReason;

use crate::api::openapi::shapes::{
    Shapes, count, flag, list, object, one_of, or_null, refer, said, text, time,
};

pub fn shapes() -> Shapes {
    let agent = object(&[
        ("name", refer("Name")),
        ("program", text()),
        ("is_found", flag()),
        ("paused_until", or_null(&time())),
    ]);
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
