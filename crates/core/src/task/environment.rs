//! What an attempt works with beside its code: folders that were brought in, values it has alone, services that run beside it.
//!
//! Each change is an event, so every surface on every machine shows the same. [`AttemptEnvironment`] is what they add up to.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::id::AttemptId;
use crate::base::text::NonBlank;

/// One change of the environment of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum EnvironmentChange {
    /// Folders of the person's checkout were brought into the worktree.
    FoldersReused {
        folders: Vec<ReusedFolder>,
    },
    /// Values that no other task on the machine has.
    ValuesLeased {
        values: BTreeMap<String, String>,
    },
    ServiceStarted {
        service: NonBlank,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// The service ended by itself while its attempt was at work.
    ServiceEnded {
        service: NonBlank,
        reason: NonBlank,
    },
    /// The processes of the attempt are stopped until the machine has room again.
    Paused {
        reason: NonBlank,
    },
    Resumed,
}

/// A folder that was brought in, and what that took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReusedFolder {
    pub path: String,
    pub way: ReuseWay,
    pub files: u64,
    pub bytes: u64,
    pub duration_ms: u64,
}

/// How the files of a folder were brought in. Where they differ, the slowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReuseWay {
    /// The same blocks on the disk until either side writes.
    Reflink,
    /// The same file: what one side writes in place, the other sees.
    HardLink,
    Copy,
}

impl ReuseWay {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reflink => "reflink",
            Self::HardLink => "hard link",
            Self::Copy => "copy",
        }
    }
}

/// What the changes of a task's attempts add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnvironment {
    /// The folders that were brought in last.
    pub reused: Vec<ReusedFolder>,
    pub values: BTreeMap<String, String>,
    /// The services of the last attempt that had some.
    pub services: Vec<AttemptService>,
    /// Why the processes of the live attempt are stopped, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<NonBlank>,
}

/// A service of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptService {
    pub name: NonBlank,
    pub attempt_id: AttemptId,
    pub is_running: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Why it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<NonBlank>,
}

impl AttemptEnvironment {
    /// Adds up the changes, oldest first. Nothing runs of an attempt that is not live.
    pub fn of<'a>(
        changes: impl IntoIterator<Item = (AttemptId, &'a EnvironmentChange)>,
        live: Option<AttemptId>,
    ) -> Self {
        let mut all = Self::default();
        for (attempt, change) in changes {
            all.add(attempt, change, live);
        }
        all
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, attempt: AttemptId, change: &EnvironmentChange, live: Option<AttemptId>) {
        let is_live = live == Some(attempt);
        match change {
            EnvironmentChange::FoldersReused { folders } => self.reused.clone_from(folders),
            EnvironmentChange::ValuesLeased { values } => self.values.clone_from(values),
            EnvironmentChange::ServiceStarted { service, url } => {
                self.services.retain(|known| known.attempt_id == attempt && known.name != *service);
                self.services.push(AttemptService {
                    name: service.clone(),
                    attempt_id: attempt,
                    is_running: is_live,
                    url: url.clone(),
                    ended: None,
                });
            }
            EnvironmentChange::ServiceEnded { service, reason } => {
                let is_it =
                    |known: &&mut AttemptService| known.attempt_id == attempt && known.name == *service;
                if let Some(known) = self.services.iter_mut().find(is_it) {
                    known.is_running = false;
                    known.ended = Some(reason.clone());
                }
            }
            EnvironmentChange::Paused { reason } => self.paused = is_live.then(|| reason.clone()),
            EnvironmentChange::Resumed => self.paused = None,
        }
    }
}

impl fmt::Display for ReusedFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, way, files, bytes, duration_ms } = self;
        let size = if *bytes < 1 << 20 {
            format!("{} kB", bytes / 1_000)
        } else {
            format!("{} MB", bytes / 1_000_000)
        };
        write!(f, "{path} by {} ({files} files, {size}, {duration_ms} ms)", way.as_str())
    }
}

impl fmt::Display for EnvironmentChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FoldersReused { folders } => {
                let folders: Vec<String> = folders.iter().map(ToString::to_string).collect();
                write!(f, "brought in {}", folders.join(", "))
            }
            Self::ValuesLeased { values } => {
                let values: Vec<String> =
                    values.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "leased {}", values.join(", "))
            }
            Self::ServiceStarted { service, url: Some(url) } => {
                write!(f, "service {service} started at {url}")
            }
            Self::ServiceStarted { service, url: None } => write!(f, "service {service} started"),
            Self::ServiceEnded { service, reason } => write!(f, "service {service} ended: {reason}"),
            Self::Paused { reason } => write!(f, "paused: {reason}"),
            Self::Resumed => write!(f, "resumed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> NonBlank {
        NonBlank::new(text).unwrap()
    }

    #[test]
    fn changes_add_up_and_nothing_of_an_attempt_that_is_over_runs() {
        let (first, second) = (AttemptId::from_bits(1), AttemptId::from_bits(2));
        let started = |name: &str| EnvironmentChange::ServiceStarted {
            service: text(name),
            url: Some("http://127.0.0.1:3000".to_owned()),
        };
        let (dev, db) = (started("dev"), started("db"));
        let ended = EnvironmentChange::ServiceEnded { service: text("db"), reason: text("exit code 1") };
        let paused = EnvironmentChange::Paused { reason: text("no memory") };
        let all = [(first, &dev), (first, &paused), (second, &dev), (second, &db), (second, &ended)];
        let seen = AttemptEnvironment::of(all, Some(second));
        let services: Vec<_> = seen.services.iter().map(|one| (one.name.as_str(), one.is_running)).collect();
        assert_eq!(services, [("dev", true), ("db", false)]);
        assert_eq!(seen.paused, None, "the first attempt is over");
        let seen = AttemptEnvironment::of(all, None);
        assert!(seen.services.iter().all(|service| !service.is_running));
        let resumed = [(first, &paused), (first, &EnvironmentChange::Resumed)];
        assert_eq!(AttemptEnvironment::of(resumed, Some(first)).paused, None);
        assert!(AttemptEnvironment::of([], Some(first)).is_empty());
    }
}
