//! The process table from `/proc`, and signals to exactly one process.
//!
//! A pid alone is no identity, because it is reused; here a process is a pid *and* its start time. Where there is no
//! `/proc` there is no table.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal};

/// Environments are a few kilobytes; Baton put nothing beyond this.
const ENVIRON_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Retries for an environment that reads as empty, and the pause between them.
const ENVIRON_LOOKS: u32 = 20;
const ENVIRON_PAUSE: Duration = Duration::from_micros(100);
/// Listings per visit: on a busy machine there is always another new process.
const LISTS_MAX: u32 = 8;

/// A snapshot of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessEntry {
    pub pid: u32,
    pub parent: u32,
    pub group: u32,
    /// Start time in clock ticks since boot.
    pub started: u64,
    /// Ended and not reaped; signals have no effect.
    pub is_zombie: bool,
}

impl ProcessEntry {
    /// The process that has this pid now.
    pub fn find(pid: u32) -> Option<Self> {
        Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// `pid (name) state ppid pgrp …`: the name may contain spaces and parentheses, so fields are counted from the last `)`.
    fn parse(pid: u32, stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|&byte| byte == b')')?;
        let mut fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let threads: u32 = fields.nth(14)?.parse().ok()?;
        let started = fields.nth(1)?.parse().ok()?;
        // A process whose main thread has exited looks like a zombie while its other threads run.
        let is_zombie = matches!(state, "Z" | "X") && threads <= 1;
        Some(Self { pid, parent, group, started, is_zombie })
    }

    /// Whether the pid still belongs to this process.
    pub fn is_still_running(&self) -> bool {
        Self::find(self.pid).is_some_and(|now| now.started == self.started)
    }

    /// Whether it was started with one of `variables` (`NAME=value`) in its environment.
    pub fn has_any_variable(&self, variables: &BTreeSet<Vec<u8>>) -> bool {
        for _ in 0..ENVIRON_LOOKS {
            match self.environ() {
                // A process in the middle of `exec` shows an empty environment.
                Some(environ) if environ.is_empty() && !self.is_kernel_thread() => sleep(ENVIRON_PAUSE),
                Some(environ) => {
                    return environ.split(|&byte| byte == 0).any(|entry| variables.contains(entry));
                }
                // It is gone, or another user's and thus not started by Baton.
                None => return false,
            }
        }
        false
    }

    pub(super) fn environ(&self) -> Option<Vec<u8>> {
        let mut environ = Vec::new();
        let file = File::open(format!("/proc/{}/environ", self.pid)).ok()?;
        file.take(ENVIRON_BYTES_MAX).read_to_end(&mut environ).ok()?;
        Some(environ)
    }

    /// Kernel threads have neither environment nor process group.
    const fn is_kernel_thread(&self) -> bool {
        self.group == 0
    }

    /// Sends `signal` to this process and never to another with the same pid. Does nothing when it is gone.
    pub fn signal(&self, signal: Signal) {
        let Some(pid) = pid_of(self.pid) else { return };
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
            // Open the pidfd first, check second: if the process is still there, the pidfd refers to it.
            if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) {
                if self.is_still_running() {
                    let _ = pidfd_send_signal(&handle, signal);
                }
                return;
            }
        }
        // No pidfd on this kernel: check and signal as close together as possible.
        if self.is_still_running() {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Rejects 0 and negative numbers, which address several processes, and 1, which is init.
pub(super) fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|&pid| pid > 1).and_then(Pid::from_raw)
}

/// Calls `visit` for every process. False where there is no `/proc`.
///
/// The listing is repeated until it shows nothing new, so that a chain of processes that fork and exit quickly is seen.
pub(super) fn visit(mut visit: impl FnMut(ProcessEntry)) -> bool {
    if ProcessEntry::find(std::process::id()).is_none() {
        return false;
    }
    let mut seen = BTreeSet::new();
    for _ in 0..LISTS_MAX {
        let unseen: Vec<u32> = pids().filter(|&pid| seen.insert(pid)).collect();
        if unseen.is_empty() {
            break;
        }
        unseen.into_iter().filter_map(ProcessEntry::find).for_each(&mut visit);
    }
    true
}

pub(super) fn pids() -> impl Iterator<Item = u32> {
    let folders = fs::read_dir("/proc").into_iter().flatten();
    folders.filter_map(|folder| folder.ok()?.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let stat = b"42 (a) b (c) S 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2 3";
        let entry = ProcessEntry { pid: 42, parent: 7, group: 41, started: 98765, is_zombie: false };
        assert_eq!(ProcessEntry::parse(42, stat), Some(entry));
    }

    #[test]
    fn a_zombie_with_threads_at_work_is_alive() {
        let alone = b"42 (x) Z 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765";
        let busy = b"42 (x) Z 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 98765";
        assert!(ProcessEntry::parse(42, alone).is_some_and(|entry| entry.is_zombie));
        assert!(ProcessEntry::parse(42, busy).is_some_and(|entry| !entry.is_zombie));
        assert_eq!(ProcessEntry::parse(42, b"42 (x"), None);
    }

    #[test]
    fn pids_that_mean_many_processes_are_refused() {
        assert_eq!(pid_of(0), None);
        assert_eq!(pid_of(1), None);
        assert_eq!(pid_of(u32::MAX), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_sees_itself() {
        let myself = ProcessEntry::find(std::process::id()).unwrap();
        let mut seen = Vec::new();
        assert!(visit(|entry| seen.push(entry)));
        assert!(seen.contains(&myself));
        assert!(myself.is_still_running());
        assert!(!ProcessEntry { started: myself.started + 1, ..myself }.is_still_running());
    }
}
