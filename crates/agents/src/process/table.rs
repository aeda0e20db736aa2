//! The processes of this machine as `/proc` shows them, and a signal sent to exactly one of them.
//!
//! A pid alone names nobody: it is given to another process as soon as its owner is gone. Here a process is
//! a pid *and* the moment it started. Where there is no `/proc` the table is absent, and callers say so.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal};

/// Environments are a few kilobytes. What lies beyond this was not put there by Baton.
const ENVIRON_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Looks at an environment that shows nothing, and the pause between two of them.
const ENVIRON_LOOKS: u32 = 20;
const ENVIRON_PAUSE: Duration = Duration::from_micros(100);
/// On a busy machine there is always somebody new; after this many lists it is somebody else.
const LISTS_MAX: u32 = 8;

/// One process, as it was when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub pid: u32,
    pub parent: u32,
    pub group: u32,
    /// Clock ticks since the machine was booted.
    pub started: u64,
    /// It has ended and waits to be reaped; no signal reaches it.
    pub is_zombie: bool,
}

impl Entry {
    /// The process that has this pid now.
    pub fn of(pid: u32) -> Option<Self> {
        Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// `pid (name) state ppid pgrp …`: the name may hold spaces and parentheses, so the fields are counted
    /// from the last one.
    fn parse(pid: u32, stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|&byte| byte == b')')?;
        let mut fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let threads: u32 = fields.nth(14)?.parse().ok()?;
        let started = fields.nth(1)?.parse().ok()?;
        // A process whose first thread left early looks like a zombie while its other threads work on.
        let is_zombie = matches!(state, "Z" | "X") && threads <= 1;
        Some(Self { pid, parent, group, started, is_zombie })
    }

    /// Whether this very process still has its pid.
    pub fn is_still_there(&self) -> bool {
        Self::of(self.pid).is_some_and(|now| now.started == self.started)
    }

    /// Whether it was started with one of `variables` (`NAME=value`) in its environment.
    pub fn has_any_variable(&self, variables: &BTreeSet<Vec<u8>>) -> bool {
        for _ in 0..ENVIRON_LOOKS {
            match self.environ() {
                // A process shows nothing for the instant in which it becomes another program.
                Some(environ) if environ.is_empty() && !self.is_of_the_kernel() => sleep(ENVIRON_PAUSE),
                Some(environ) => {
                    return environ.split(|&byte| byte == 0).any(|entry| variables.contains(entry));
                }
                // It is gone, or somebody else's; and then it was not started from here.
                None => return false,
            }
        }
        false
    }

    fn environ(&self) -> Option<Vec<u8>> {
        let mut environ = Vec::new();
        let file = File::open(format!("/proc/{}/environ", self.pid)).ok()?;
        file.take(ENVIRON_BYTES_MAX).read_to_end(&mut environ).ok()?;
        Some(environ)
    }

    /// The kernel's own threads have no environment, ever, and no process group.
    const fn is_of_the_kernel(&self) -> bool {
        self.group == 0
    }

    /// Sends `signal` to this process, and to no other that has its pid by now. One that is gone is no error.
    pub fn signal(&self, signal: Signal) {
        let Some(pid) = pid_of(self.pid) else { return };
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
            // The handle is taken first and looked at second: what is then still there is what the handle means.
            if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) {
                if self.is_still_there() {
                    let _ = pidfd_send_signal(&handle, signal);
                }
                return;
            }
        }
        // A kernel without such handles: the check and the signal are as close together as they can be.
        if self.is_still_there() {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Never 0 or negative, which the system takes to mean many processes at once; never 1, which is nobody's child.
pub fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|&pid| pid > 1).and_then(Pid::from_raw)
}

/// Shows `visit` every process there is. False where there is no `/proc`.
///
/// A list is old as soon as it is read, so it is read again until it has nobody new: a process that hands on
/// to the next one faster than a list can be gone through is met all the same.
pub fn visit(mut visit: impl FnMut(Entry)) -> bool {
    if Entry::of(std::process::id()).is_none() {
        return false;
    }
    let mut seen = BTreeSet::new();
    for _ in 0..LISTS_MAX {
        let unseen: Vec<u32> = pids().filter(|&pid| seen.insert(pid)).collect();
        if unseen.is_empty() {
            break;
        }
        unseen.into_iter().filter_map(Entry::of).for_each(&mut visit);
    }
    true
}

fn pids() -> impl Iterator<Item = u32> {
    let folders = fs::read_dir("/proc").into_iter().flatten();
    folders.filter_map(|folder| folder.ok()?.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let stat = b"42 (a) b (c) S 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2 3";
        let entry = Entry { pid: 42, parent: 7, group: 41, started: 98765, is_zombie: false };
        assert_eq!(Entry::parse(42, stat), Some(entry));
    }

    #[test]
    fn a_zombie_with_threads_at_work_is_alive() {
        let alone = b"42 (x) Z 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765";
        let busy = b"42 (x) Z 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 98765";
        assert!(Entry::parse(42, alone).is_some_and(|entry| entry.is_zombie));
        assert!(Entry::parse(42, busy).is_some_and(|entry| !entry.is_zombie));
        assert_eq!(Entry::parse(42, b"42 (x"), None);
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
        let myself = Entry::of(std::process::id()).unwrap();
        let mut seen = Vec::new();
        assert!(visit(|entry| seen.push(entry)));
        assert!(seen.contains(&myself));
        assert!(myself.is_still_there());
        assert!(!Entry { started: myself.started + 1, ..myself }.is_still_there());
    }
}
