//! The Taskfile engine from outside: its command line, its library, its templates, and the shared cases.

mod cases;
mod cli;
mod conformance;
mod library;
mod project;
mod properties;
mod template;
mod template_conformance;
mod template_limits;
mod template_time;
