//! Integration tests: command line, library, templates and recorded cases.

#![expect(clippy::unwrap_used, reason = "a helper of tests that cannot go on fails its test")]

mod cases;
mod cli;
mod conformance;
mod evaluation;
mod library;
mod project;
mod properties;
mod template;
mod template_conformance;
mod template_limits;
mod template_time;
