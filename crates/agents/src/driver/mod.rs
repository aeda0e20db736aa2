//! What every kind of agent has in common: it is launched, it tells what it does, and it ends.
//!
//! A driver owns its process tree from the start to the end and leaves nothing of it behind. It knows
//! nothing of tasks, queues or worktrees beyond the folder it is given, and decides nothing about a task: it
//! brings what the agent said into our few words and hands it over.

mod event;
mod launch;
pub mod run_result;
pub mod setup;
pub mod tool_server;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use baton_core::time::Timestamp;
use tokio::sync::{mpsc, watch};

pub use event::{EVENTS_MAX, Event};
pub use launch::{Launch, Limits, Resume, SessionSetup};
use run_result::Ended;

/// What time it is, for the log.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// An attempt under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = Ended> + Send + 'a>>;

pub trait Driver: Send + Sync {
    /// Runs one agent to its end. What happens meanwhile goes to `events`; everything that decides anything is
    /// in the [`Ended`] too, so events may be dropped by whoever only wants the end.
    ///
    /// `cancel` turning true ends the attempt. Its sender may go away; then nobody cancels. Dropping the
    /// future kills the process tree at once.
    fn run(&self, launch: Launch, events: mpsc::Sender<Event>, cancel: watch::Receiver<bool>) -> Running<'_>;
}
