//! Read-only views for people: tasks with their context, lineage, project reports, doctor, survey.
//!
//! Nothing here writes to the store.

pub mod accounts;
pub mod checkout;
pub mod costs;
pub mod doctor;
pub mod forecast;
pub mod graph_view;
mod landing_check;
mod landing_standstill;
pub mod lineage;
mod memory_check;
pub mod project_report;
pub mod run_view;
pub mod standstill;
pub mod survey;
pub mod transcript;
pub mod view;
pub mod workers;
mod worktree_check;
