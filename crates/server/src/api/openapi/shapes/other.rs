//! Events and recipes.

use crate::api::openapi::shapes::{Shapes, count, object, open, page, text, time};
use crate::schema::refer;

pub(super) fn shapes() -> Shapes {
    let event = open(object(&[("seq", count()), ("at", time()), ("by", refer("Actor")), ("event", text())]));
    vec![("RecipePage", page("recipes", "Recipe")), ("Event", event), ("EventPage", page("events", "Event"))]
}
