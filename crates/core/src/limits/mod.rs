//! Limits on use: holds on an agent's account, budgets and what was spent.
//!
//! How many tasks may run at once is in [`schedule`](crate::schedule).

pub mod budget;
pub mod hold;
pub mod machine;
pub mod quiet_hours;
pub mod spending;
