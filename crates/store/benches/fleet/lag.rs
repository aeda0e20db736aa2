//! How far a reader is behind the writers: from a commit's answer to the moment its events were read elsewhere.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[derive(Default)]
pub(crate) struct Lag(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Commits whose events were not read yet, by the number of the last of them.
    open: BTreeMap<u64, Instant>,
    read_to: u64,
    times: Vec<Duration>,
}

impl Lag {
    pub(crate) fn written(&self, seq: u64) {
        let mut inner = self.0.lock().unwrap();
        if seq <= inner.read_to {
            // The reader was told before the writer was.
            inner.times.push(Duration::ZERO);
        } else {
            inner.open.insert(seq, Instant::now());
        }
    }

    pub(crate) fn read(&self, to: u64) {
        let now = Instant::now();
        let mut inner = self.0.lock().unwrap();
        inner.read_to = inner.read_to.max(to);
        let later = inner.open.split_off(&(to + 1));
        let read = std::mem::replace(&mut inner.open, later);
        inner.times.extend(read.into_values().map(|written| now - written));
    }

    /// All that were seen since the last time it was asked.
    pub(crate) fn take(&self) -> Vec<Duration> {
        std::mem::take(&mut self.0.lock().unwrap().times)
    }
}
