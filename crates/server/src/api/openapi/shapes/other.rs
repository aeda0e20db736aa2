//! Events, recipes and messages.

use crate::api::openapi::shapes::{Shapes, count, list, object, open, or_null, page, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let event = open(object(&[("seq", count()), ("at", time()), ("by", refer("Actor")), ("event", text())]));
    let recipes = object(&[
        ("recipes", list(&refer("Recipe"))),
        ("next_cursor", or_null(&text())),
        // The errors of recipe files that are not in use.
        ("faults", list(&text())),
    ]);
    vec![
        ("RecipePage", recipes),
        ("Event", event),
        ("EventPage", page("events", "Event")),
        ("TaskMessagePage", page("messages", "TaskMessageView")),
    ]
}
