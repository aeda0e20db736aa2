//! What may be spent and who may be used: budgets, holds on agents, and failures in a row.
//!
//! Core decides; this folder reads and writes the rows. Which task is claimed next belongs to `dispatch`.

pub mod budgets;
pub mod holds;
pub mod intakes;
