//! Recipes through the real binary.

mod commands;
mod dangerous;
mod fixture;
mod guardrails;
mod no_tasks;
mod people;
mod questions;
mod reports;
mod stopping;
