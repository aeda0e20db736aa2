//! Agents of every kind as `baton up` runs them: set up by the settings, asked about, resumed, held and measured.

mod asking;
mod budgets;
mod doctor;
pub mod fake;
mod holds;
mod outcomes;
mod real;
mod settings;
mod soak;
