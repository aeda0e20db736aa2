//! The background services of `baton up` and `baton worker`, and the engine that runs them.
//!
//! A service decides nothing by itself: it reads what is due and calls the folder that owns the rule.

pub mod engine;
pub mod leases;
pub mod notifier;
pub mod outbox;
pub mod pruner;
pub mod recycler;
pub mod timers;
pub mod worktree_pool;
