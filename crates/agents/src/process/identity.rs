//! Who a process is, in a form that outlives Baton: written down when it starts, looked for after a restart.

use std::fs;

use rustix::io::Errno;
use rustix::process::test_kill_process_group;
use serde::{Deserialize, Serialize};

use crate::process::table::{Entry, pid_of};

/// A process, told apart from every other that had or will have its pid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// Clock ticks since boot; none where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// The boot those ticks count from. After another one, nothing of then is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
}

/// What a look at the system says of an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    /// That very process is running.
    Alive,
    /// It has ended, and nobody has asked for its status yet. Its pid is still its own.
    Unreaped,
    /// It is not there; whoever has its pid now is somebody else.
    Gone,
    /// The system does not tell processes of one pid apart, and there is one.
    Unknown,
}

impl ProcessIdentity {
    /// The process that has `pid` now. Certain only while it cannot have been reaped: for one's own child.
    pub fn of(pid: u32) -> Self {
        Self { pid, started: Entry::of(pid).map(|entry| entry.started), boot_id: boot_id() }
    }

    pub fn sighting(&self) -> Sighting {
        if self.is_of_another_boot() {
            return Sighting::Gone;
        }
        match (self.started, Entry::of(self.pid)) {
            (Some(started), Some(now)) if now.started == started && now.is_zombie => Sighting::Unreaped,
            (Some(started), Some(now)) if now.started == started => Sighting::Alive,
            (Some(_), Some(_)) => Sighting::Gone,
            // With a table to look at, absence says something; without one only an empty group does.
            (_, None) if Entry::of(std::process::id()).is_some() => Sighting::Gone,
            (_, None | Some(_)) => self.group_sighting(),
        }
    }

    fn group_sighting(&self) -> Sighting {
        match pid_of(self.pid).map(test_kill_process_group) {
            None | Some(Err(Errno::SRCH)) => Sighting::Gone,
            Some(Ok(()) | Err(_)) => Sighting::Unknown,
        }
    }

    pub fn is_of_another_boot(&self) -> bool {
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
        let myself = ProcessIdentity::of(std::process::id());
        assert_eq!(myself.sighting(), Sighting::Alive);

        let reused = ProcessIdentity { started: myself.started.map(|ticks| ticks - 1), ..myself.clone() };
        assert_eq!(reused.sighting(), Sighting::Gone);

        let before = ProcessIdentity { boot_id: Some("another".to_owned()), ..myself };
        assert_eq!(before.sighting(), Sighting::Gone);
    }

    #[test]
    fn an_identity_survives_being_written_down() {
        let identity = ProcessIdentity { pid: 7, started: Some(9), boot_id: Some("b".to_owned()) };
        let text = serde_json::to_string(&identity).unwrap();
        assert_eq!(text, r#"{"pid":7,"started":9,"boot_id":"b"}"#);
        assert_eq!(serde_json::from_str::<ProcessIdentity>(&text).unwrap(), identity);
    }
}
