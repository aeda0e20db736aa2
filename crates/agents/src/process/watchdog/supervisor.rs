//! The watchdog's own process: reads until Baton is gone, then ends what Baton left.

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};

use crate::process::tree::ProcessTree;
use crate::process::watchdog::message::{WatchMessage, WatchedTree, WatchedTrees};

/// Between TERM and KILL. All of it is over within a second.
const GRACE: Duration = Duration::from_millis(300);
/// How long a process that was just being started may take to become visible as the attempt's.
const START_WINDOW: Duration = Duration::from_millis(300);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Shown in process lists, so that killing by Baton's name does not take the watchdog along.
#[cfg(target_os = "linux")]
const NAME: &std::ffi::CStr = c"agent-watchdog";

/// The whole program: trees are announced on standard input, and ended when that ends.
pub fn program() -> ExitCode {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return ExitCode::FAILURE };
    ignore_signals(&runtime);
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(NAME);
    let trees = read_until_baton_is_gone(io::stdin().lock()).into_trees();
    if trees.is_empty() || runtime.block_on(end_all(trees)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// It ends when Baton has ended. A signal that asks Baton to end its work may reach both.
fn ignore_signals(runtime: &Runtime) {
    let _inside = runtime.enter();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        // Without a handler the watchdog still works; it is only easier to end.
        let _ = signal(kind);
    }
}

fn read_until_baton_is_gone(input: impl BufRead) -> WatchedTrees {
    let mut trees = WatchedTrees::default();
    for line in input.lines().map_while(Result::ok) {
        // Baton and its watchdog are the same program; what cannot be read is a line that Baton did not finish.
        if let Ok(message) = serde_json::from_str::<WatchMessage>(&line) {
            trees.apply(&message);
        }
    }
    trees
}

/// False when something could not be ended.
async fn end_all(trees: Vec<WatchedTree>) -> bool {
    let is_starting = trees.iter().any(|tree| tree.leader.is_none());
    let tree = ProcessTree::of_attempts(trees.into_iter().map(|tree| (tree.attempt, tree.leader)));
    let ended = tree.end(GRACE).await.is_ok();
    if is_starting {
        // A process between fork and exec still shows Baton's environment and not the attempt's.
        let window_ends = Instant::now() + START_WINDOW;
        while Instant::now() < window_ends {
            tree.kill_now();
            sleep(LOOK_EVERY).await;
        }
    }
    ended
}
