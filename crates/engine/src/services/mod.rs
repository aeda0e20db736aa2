//! The background services of `baton up` and `baton worker`, and the engine that runs them.
//!
//! A service decides nothing by itself: it reads what is due and calls the folder that owns the rule. How services are
//! run, restarted and reported is in `supervisor`; the dispatcher, the heartbeat, leader election, the log relay and the
//! loop driver are services too and live in the folders they belong to.

mod auto_responder;
mod changes;
pub mod engine;
pub mod heartbeat;
pub mod leases;
mod notices;
pub mod notifier;
pub mod outbox;
pub mod pruner;
mod push;
mod queues;
mod recovery;
pub mod recycler;
mod runs;
pub mod timers;
pub mod workspace;
pub mod worktree_pool;
