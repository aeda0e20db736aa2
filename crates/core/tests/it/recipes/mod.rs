//! Recipes end to end: what the agent reports, where it leads, and how a run ends.

mod exit_reason;
mod fixture;
mod loop_recipe;
mod outcome;
mod recipe;
mod run;
mod run_guardrails;
