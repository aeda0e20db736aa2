//! Limits on use: holds on an agent's account, budgets, what was spent, and agents that get nowhere.
//!
//! How many tasks may run at once is in [`schedule`](crate::schedule).

pub mod budget;
pub mod hold;
pub mod machine;
pub mod quiet_hours;
pub mod spending;
pub mod stall;
