//! Processes that Baton did not start itself, such as the commands of a Taskfile: found by a mark in their environment.

use std::thread;
use std::time::{Duration, Instant};

use baton_core::base::id::AttemptId;
use rustix::process::Signal;

use crate::process::environment::RUN_ID;
use crate::process::tree::ProcessTree;
use crate::process::watchdog::{self, Watch};

/// Poll interval while processes end by themselves.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A run whose processes carry a mark. When it ends, or Baton does, none of them is left.
pub struct MarkedRun {
    id: AttemptId,
    tree: ProcessTree,
    is_ended: bool,
    _watch: Watch,
}

impl MarkedRun {
    /// Begins a run; the id must not be used for anything else.
    pub fn begin(id: AttemptId) -> Self {
        let tree = ProcessTree::new(id, None);
        Self { id, tree, is_ended: false, _watch: watchdog::watch(id) }
    }

    /// The variable that every process of the run must have in its environment.
    pub fn mark(&self) -> (String, String) {
        (RUN_ID.to_owned(), self.id.to_string())
    }

    /// Ends what the run left behind: TERM, `grace`, KILL. Blocks.
    pub fn end(mut self, grace: Duration) {
        self.is_ended = true;
        if self.tree.members().is_empty() {
            return;
        }
        self.tree.signal_members(Signal::TERM);
        // A stopped process handles TERM only after CONT.
        self.tree.signal_members(Signal::CONT);
        let killing_starts = Instant::now() + grace;
        while Instant::now() < killing_starts {
            thread::sleep(LOOK_EVERY);
            if self.tree.members().is_empty() {
                return;
            }
        }
        self.tree.kill_now();
    }
}

impl Drop for MarkedRun {
    fn drop(&mut self) {
        if !self.is_ended {
            self.tree.kill_now();
        }
    }
}
