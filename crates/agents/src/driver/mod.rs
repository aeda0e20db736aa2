//! The interface of every agent: launch, events, result.
//!
//! A driver owns its process tree from start to end and leaves nothing of it behind. It knows nothing of tasks or queues
//! and decides nothing about a task: it translates what the agent says into Baton's vocabulary. How a run works is in
//! `run`; how each kind of agent is driven is in `protocols`.

mod event;
mod launch;
pub(crate) mod message_feed;
mod pauses;
pub mod run_result;
pub mod setup;
pub mod tool_server;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use baton_core::base::time::Timestamp;
use tokio::sync::{mpsc, watch};

pub use event::{AgentEvent, EVENTS_MAX};
pub use launch::{Launch, RunLimits, SessionResume, SessionSetup};
pub use message_feed::MessageFeed;
pub use pauses::{PauseSwitch, Pauses};
use run_result::RunResult;

/// Supplies the time for logs and failure classification.
pub type RunClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A run in progress.
pub type RunFuture<'a> = Pin<Box<dyn Future<Output = RunResult> + Send + 'a>>;

pub trait Driver: Send + Sync {
    /// Runs one agent to its end and reports progress to `events`. Everything that matters for a decision is also in the
    /// [`RunResult`], so a caller may ignore events.
    ///
    /// Setting `cancel` to true ends the run; its sender may be dropped. Dropping the future kills the process tree at once.
    fn run(
        &self,
        launch: Launch,
        events: mpsc::Sender<AgentEvent>,
        cancel: watch::Receiver<bool>,
    ) -> RunFuture<'_>;
}
