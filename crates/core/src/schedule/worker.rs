//! A worker: a process that claims tasks and runs agents, as it describes itself.
//!
//! Several workers may share one store. Each sends heartbeats; the store records them by its own clock, so that
//! machines with different clocks agree on who is alive.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::base::id::ProjectId;
use crate::base::text::{AgentName, Label, Role};
use crate::base::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// Its host name and a few digits: stable across restarts, and unique.
    pub name: String,
    pub host: String,
    pub duty: WorkerDuty,
    pub version: String,
    /// The roles it serves.
    pub roles: BTreeSet<Role>,
    /// The configured agents whose programs were found.
    pub agents: BTreeSet<AgentName>,
    /// Capabilities that not every machine has.
    #[serde(default)]
    pub labels: BTreeSet<Label>,
    /// The most agents it runs at once.
    pub capacity: u32,
    /// It finishes its tasks and takes no new ones.
    #[serde(default)]
    pub is_draining: bool,
    /// Projects it already has a clone of.
    #[serde(default)]
    pub warm: BTreeSet<ProjectId>,
    pub started_at: Timestamp,
}

/// What the process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerDuty {
    /// `baton up`: page, API, timers and notifications, and agents up to its capacity.
    Server,
    /// `baton worker`: agents only.
    Worker,
}

/// A worker and its last heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSighting {
    pub worker: Worker,
    pub seen_at: Timestamp,
}

/// The state of a worker by its heartbeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerHealth {
    Live,
    Draining,
    /// No heartbeat for so long that its leases have expired or soon will.
    Lost,
}

/// The heartbeat interval.
pub const BEAT_MS: i64 = 2_000;
/// Missed heartbeats after which a worker counts as lost.
const BEATS_MISSED_MAX: i64 = 5;

impl WorkerSighting {
    pub fn health(&self, now: Timestamp) -> WorkerHealth {
        if now.ms().saturating_sub(self.seen_at.ms()) > BEAT_MS * BEATS_MISSED_MAX {
            WorkerHealth::Lost
        } else if self.worker.is_draining {
            WorkerHealth::Draining
        } else {
            WorkerHealth::Live
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker() -> Worker {
        Worker {
            name: "build-7-1a2b3c4d".to_owned(),
            host: "build-7".to_owned(),
            duty: WorkerDuty::Worker,
            version: "0.1.0".to_owned(),
            roles: [Role::implement()].into(),
            agents: ["claude".parse().unwrap()].into(),
            labels: ["gpu".parse().unwrap()].into(),
            capacity: 4,
            is_draining: false,
            warm: BTreeSet::new(),
            started_at: Timestamp::from_ms(0),
        }
    }

    #[test]
    fn a_worker_is_lost_after_some_missed_beats_and_not_before() {
        let seen = WorkerSighting { worker: worker(), seen_at: Timestamp::from_ms(1_000) };
        let last_moment = 1_000 + BEAT_MS * BEATS_MISSED_MAX;
        assert_eq!(seen.health(Timestamp::from_ms(last_moment)), WorkerHealth::Live);
        assert_eq!(seen.health(Timestamp::from_ms(last_moment + 1)), WorkerHealth::Lost);
        let draining = WorkerSighting { worker: Worker { is_draining: true, ..worker() }, ..seen };
        assert_eq!(draining.health(Timestamp::from_ms(1_000)), WorkerHealth::Draining);
        assert_eq!(draining.health(Timestamp::from_ms(last_moment + 1)), WorkerHealth::Lost);
    }

    #[test]
    fn the_stored_form_is_stable() {
        let stored = serde_json::to_string(&worker()).unwrap();
        insta::assert_snapshot!(stored, @r#"{"name":"build-7-1a2b3c4d","host":"build-7","duty":"worker","version":"0.1.0","roles":["implement"],"agents":["claude"],"labels":["gpu"],"capacity":4,"is_draining":false,"warm":[],"started_at":"1970-01-01T00:00:00.000Z"}"#);
        assert_eq!(serde_json::from_str::<Worker>(&stored).unwrap(), worker());
    }
}
