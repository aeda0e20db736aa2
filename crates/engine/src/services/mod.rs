//! The background services of `baton up` and `baton worker`, and the engine that runs them.
//!
//! A service makes no decisions: it reads what is due and calls the folder that owns the rule. Services are run, restarted
//! and reported by `supervisor`. The dispatcher, leader election, the log relay and the loop driver are services too; they
//! are in the folders they belong to.

mod auto_responder;
mod changes;
pub mod engine;
pub mod heartbeat;
mod landing;
pub mod leases;
mod notices;
pub mod notifier;
pub mod outbox;
pub mod pruner;
mod push;
mod queues;
mod recovery;
pub mod recycler;
mod removal;
mod remover;
mod room;
mod routines;
mod runs;
pub mod timers;
pub mod workspace;
pub mod worktree_pool;
