//! Recipes from end to end: what the agent says, where it leads, and how a run ends.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test that calls them")]

mod exit_reason;
mod fixture;
mod outcome;
mod recipe;
mod run;
mod run_guardrails;
