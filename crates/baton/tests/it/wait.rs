//! Waiting for a condition that gives no signal: a file, a process, a row. The only place where these tests poll.

use std::time::{Duration, Instant};

const POLL_EVERY: Duration = Duration::from_millis(20);

/// Polls until the condition is true; panics with `state` after `patience`.
pub(crate) fn until(patience: Duration, mut is_so: impl FnMut() -> bool, state: impl Fn() -> String) {
    until_some(patience, || is_so().then_some(()), state);
}

/// The same for a condition that yields a value.
pub(crate) fn until_some<T>(
    patience: Duration,
    mut find: impl FnMut() -> Option<T>,
    state: impl Fn() -> String,
) -> T {
    retry(patience, || find().ok_or(())).unwrap_or_else(|()| panic!("waited {patience:?}: {}", state()))
}

/// Repeats `step` with pauses until it returns true.
pub(crate) fn repeat_every(pause: Duration, mut step: impl FnMut() -> bool) {
    while !step() {
        std::thread::sleep(pause);
    }
}

/// Repeats `attempt` until it succeeds; its last error after `patience`.
pub(crate) fn retry<T, E>(patience: Duration, mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let started = Instant::now();
    let mut result = attempt();
    repeat_every(POLL_EVERY, || {
        let is_over = result.is_ok() || started.elapsed() >= patience;
        if !is_over {
            result = attempt();
        }
        is_over
    });
    result
}
