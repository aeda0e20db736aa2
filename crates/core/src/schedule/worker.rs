//! A worker: one process that claims tasks and runs agents on them, as it describes itself.
//!
//! Many of them may share one store. Each tells again and again that it lives; the store notes when, on its own clock,
//! so that machines whose clocks disagree still agree on who is there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::base::id::ProjectId;
use crate::base::text::{AgentName, Label, Role};
use crate::base::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// Its machine and a few digits of its own: the same after a restart, and nobody else's.
    pub name: String,
    pub host: String,
    pub duty: Duty,
    pub version: String,
    /// The roles it serves.
    pub roles: BTreeSet<Role>,
    /// The agents that are set up there and whose programs were found.
    pub agents: BTreeSet<AgentName>,
    /// What it has that not every machine has.
    #[serde(default)]
    pub labels: BTreeSet<Label>,
    /// Agents it runs at once, at most.
    pub capacity: u32,
    /// It finishes what it has and takes nothing new.
    #[serde(default)]
    pub is_draining: bool,
    /// Projects whose code it has already.
    #[serde(default)]
    pub warm: BTreeSet<ProjectId>,
    pub started_at: Timestamp,
}

/// What the process is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// `baton up`: page, API, timers and notices, and agents as far as it has room for them.
    Server,
    /// `baton worker`: agents only.
    Worker,
}

/// A worker, and when the store last heard of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    pub worker: Worker,
    pub seen_at: Timestamp,
}

/// How a worker seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Live,
    Draining,
    /// It has not been heard of for so long that its leases have run out, or soon will.
    Lost,
}

/// How often a worker tells that it lives.
pub const BEAT_MS: i64 = 2_000;
/// After this many beats in a row were missed it counts as lost.
const BEATS_MISSED_MAX: i64 = 5;

impl Sighting {
    pub fn health(&self, now: Timestamp) -> Health {
        if now.ms().saturating_sub(self.seen_at.ms()) > BEAT_MS * BEATS_MISSED_MAX {
            Health::Lost
        } else if self.worker.is_draining {
            Health::Draining
        } else {
            Health::Live
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
            duty: Duty::Worker,
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
        let seen = Sighting { worker: worker(), seen_at: Timestamp::from_ms(1_000) };
        let last_moment = 1_000 + BEAT_MS * BEATS_MISSED_MAX;
        assert_eq!(seen.health(Timestamp::from_ms(last_moment)), Health::Live);
        assert_eq!(seen.health(Timestamp::from_ms(last_moment + 1)), Health::Lost);
        let draining = Sighting { worker: Worker { is_draining: true, ..worker() }, ..seen };
        assert_eq!(draining.health(Timestamp::from_ms(1_000)), Health::Draining);
        assert_eq!(draining.health(Timestamp::from_ms(last_moment + 1)), Health::Lost);
    }

    #[test]
    fn the_stored_form_is_stable() {
        let stored = serde_json::to_string(&worker()).unwrap();
        insta::assert_snapshot!(stored, @r#"{"name":"build-7-1a2b3c4d","host":"build-7","duty":"worker","version":"0.1.0","roles":["implement"],"agents":["claude"],"labels":["gpu"],"capacity":4,"is_draining":false,"warm":[],"started_at":"1970-01-01T00:00:00.000Z"}"#);
        assert_eq!(serde_json::from_str::<Worker>(&stored).unwrap(), worker());
    }
}
