//! Identifies a process across restarts of Baton.

use std::fs;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::process::test_kill_process_group;
use serde::{Deserialize, Serialize};

use crate::process::table::{ProcessEntry, pid_of};

/// One process, distinct from every other that had or will have its pid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// Start time in clock ticks since boot; None where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// The boot those ticks count from. After another boot no process of it is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// It is not the agent itself but a process around the agent's tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<TreeGuard>,
    /// The control group that it and everything it starts is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<PathBuf>,
}

/// What stands around an agent's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeGuard {
    /// A keeper, which adopts orphans: it is ended last.
    Keeper,
    /// A process namespace, which ends as one when this process does.
    Namespace,
}

/// The state of an identified process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStatus {
    /// It is running.
    Alive,
    /// It has ended and is not reaped yet; its pid is still its own.
    Unreaped,
    /// It is gone; another process may have its pid.
    Gone,
    /// A process with its pid exists, and the system does not tell whether it is the same.
    Unknown,
}

impl ProcessIdentity {
    /// The process that has `pid` now. Reliable only for an own child that is not reaped yet.
    pub fn from_pid(pid: u32) -> Self {
        Self {
            pid,
            started: ProcessEntry::find(pid).map(|entry| entry.started),
            boot_id: boot_id(),
            guard: None,
            group: None,
        }
    }

    pub fn status(&self) -> ProcessStatus {
        if self.is_from_another_boot() {
            return ProcessStatus::Gone;
        }
        match (self.started, ProcessEntry::find(self.pid)) {
            (Some(started), Some(now)) if now.started == started && now.is_zombie => ProcessStatus::Unreaped,
            (Some(started), Some(now)) if now.started == started => ProcessStatus::Alive,
            (Some(_), Some(_)) => ProcessStatus::Gone,
            // With a process table absence is proof; without one only an empty group is.
            (_, None) if ProcessEntry::find(std::process::id()).is_some() => ProcessStatus::Gone,
            (_, None | Some(_)) => self.group_status(),
        }
    }

    fn group_status(&self) -> ProcessStatus {
        match pid_of(self.pid).map(test_kill_process_group) {
            None | Some(Err(Errno::SRCH)) => ProcessStatus::Gone,
            Some(Ok(()) | Err(_)) => ProcessStatus::Unknown,
        }
    }

    pub fn is_from_another_boot(&self) -> bool {
        self.boot_id.is_some() && self.boot_id != boot_id()
    }
}

fn boot_id() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_pid_start_and_boot() {
        let myself = ProcessIdentity::from_pid(std::process::id());
        assert_eq!(myself.status(), ProcessStatus::Alive);

        let reused = ProcessIdentity { started: myself.started.map(|ticks| ticks - 1), ..myself.clone() };
        assert_eq!(reused.status(), ProcessStatus::Gone);

        let before = ProcessIdentity { boot_id: Some("another".to_owned()), ..myself };
        assert_eq!(before.status(), ProcessStatus::Gone);
    }

    #[test]
    fn an_identity_survives_being_written_down() {
        let identity = ProcessIdentity {
            pid: 7,
            started: Some(9),
            boot_id: Some("b".to_owned()),
            guard: None,
            group: None,
        };
        let text = serde_json::to_string(&identity).unwrap();
        assert_eq!(text, r#"{"pid":7,"started":9,"boot_id":"b"}"#);
        assert_eq!(serde_json::from_str::<ProcessIdentity>(&text).unwrap(), identity);
    }
}
