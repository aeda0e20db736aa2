//! What the crate promises, seen from outside.

mod template;
mod template_conformance;
mod template_limits;
mod template_time;
