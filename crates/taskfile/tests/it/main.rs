//! The Taskfile engine from outside: its command line, its library, and the shared cases.

mod cases;
mod cli;
mod conformance;
mod library;
mod properties;
mod project;
