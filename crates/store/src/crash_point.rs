//! Faults on purpose, for tests: the process ends, or an answer is lost, at a named boundary. Not in release builds.
//!
//! Every change of the store, every claim, every call of git and every item of a background service is a boundary. With
//! `BATON_CRASH_LOG=/path` each one that is reached is written down, so that a test can enumerate them. With
//! `BATON_CRASH=before:task_claimed` the process ends at the first one of that name:
//!
//! - `before`, `after`: the process ends at once, before the step or after it;
//! - `away`, `busy`, `full`: the store cannot be reached, is locked by another program, or has no space; nothing is written;
//! - `unknown-before`, `unknown-after`: the connection is lost, and nobody knows whether the change was written.

use std::path::PathBuf;

use baton_core::records::change::Change;

use crate::StoreError;

/// Used in debug builds only.
pub const CRASH_VARIABLE: &str = "BATON_CRASH";
/// Used in debug builds only.
pub const CRASH_LOG_VARIABLE: &str = "BATON_CRASH_LOG";

/// One boundary that is passed.
pub struct CrashPoint {
    #[cfg_attr(not(debug_assertions), expect(dead_code, reason = "release builds pass every boundary"))]
    name: String,
}

impl CrashPoint {
    /// By the kinds of the events that the change writes, or of its records where it has none.
    pub(crate) fn of_change(change: &Change) -> Self {
        Self { name: if is_watched() { change_name(change) } else { String::new() } }
    }

    pub fn named(name: &str) -> Self {
        Self { name: if is_watched() { name.to_owned() } else { String::new() } }
    }

    /// The step begins.
    pub fn before(&self) {
        self.reach("before");
    }

    /// The step is over.
    pub fn after(&self) {
        self.reach("after");
    }

    /// The step begins, and a store may be away by then.
    pub(crate) fn before_write(&self) -> Result<(), StoreError> {
        self.before();
        let path = || PathBuf::from("the store");
        if self.is_due("away") {
            return Err(StoreError::Unreachable { detail: "injected".to_owned() });
        }
        if self.is_due("busy") {
            return Err(StoreError::Busy { path: path(), waited_ms: 1 });
        }
        if self.is_due("full") {
            return Err(StoreError::DiskFull { path: path() });
        }
        self.lose_answer("unknown-before")
    }

    /// The step is over, and its answer may be lost.
    pub(crate) fn after_write(&self) -> Result<(), StoreError> {
        self.after();
        self.lose_answer("unknown-after")
    }

    fn lose_answer(&self, fault: &str) -> Result<(), StoreError> {
        if self.is_due(fault) {
            return Err(StoreError::CommitUnknown { detail: "injected".to_owned() });
        }
        Ok(())
    }

    fn reach(&self, when: &str) {
        if self.is_due(when) {
            std::process::abort();
        }
    }

    #[cfg(not(debug_assertions))]
    #[expect(clippy::unused_self, reason = "debug builds look at its name")]
    const fn is_due(&self, _: &str) -> bool {
        false
    }

    /// Whether this is the fault that is wanted, which happens once.
    #[cfg(debug_assertions)]
    fn is_due(&self, fault: &str) -> bool {
        use std::fs::OpenOptions;
        use std::io::Write;
        use std::sync::OnceLock;
        use std::sync::atomic::{AtomicBool, Ordering};
        static WANTED: OnceLock<Option<String>> = OnceLock::new();
        static LOG: OnceLock<Option<String>> = OnceLock::new();
        static HAS_HAPPENED: AtomicBool = AtomicBool::new(false);
        if !is_watched() {
            return false;
        }
        let point = format!("{fault}:{}", self.name);
        if let Some(path) = LOG.get_or_init(|| std::env::var(CRASH_LOG_VARIABLE).ok())
            && let Ok(mut log) = OpenOptions::new().create(true).append(true).open(path)
        {
            // An incomplete list means fewer faults are tried; no need to stop the work.
            let _ = log.write_all(format!("{point}\n").as_bytes());
        }
        let wanted = WANTED.get_or_init(|| std::env::var(CRASH_VARIABLE).ok());
        wanted.as_ref() == Some(&point) && !HAS_HAPPENED.swap(true, Ordering::SeqCst)
    }
}

/// Whether a test has asked for faults, or for the list of boundaries.
fn is_watched() -> bool {
    use std::sync::OnceLock;
    static IS_WATCHED: OnceLock<bool> = OnceLock::new();
    let is_set = |name| std::env::var_os(name).is_some();
    cfg!(debug_assertions) && *IS_WATCHED.get_or_init(|| is_set(CRASH_VARIABLE) || is_set(CRASH_LOG_VARIABLE))
}

/// Names without ids or numbers, so that they are the same in every run.
fn change_name(change: &Change) -> String {
    let mut names: Vec<String> = change.events.iter().filter_map(|event| event_name(&event.body)).collect();
    if names.is_empty() {
        names = change.puts.iter().map(|put| crate::columns::record_key(&put.record).0.to_string()).collect();
    }
    names.dedup();
    names.join("+")
}

fn event_name(body: &baton_core::records::event::EventBody) -> Option<String> {
    let value = serde_json::to_value(body).ok()?;
    value["event"].as_str().map(str::to_owned)
}
