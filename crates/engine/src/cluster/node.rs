//! Who this process is among all that share the store, and what it does.

use crate::base::error::FolderError;
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use baton_core::base::id::ProjectId;
use baton_core::base::text::Label;
use baton_core::base::time::Timestamp;
use baton_core::schedule::worker::{Worker, WorkerDuty};

use crate::base::error::EngineError;
use crate::base::ids::Ids;
use crate::cluster::fleet_size::FleetSize;
use crate::settings::location::StateLocation;
use crate::settings::{AgentSettings, Settings};

/// Digits of the secret that a name ends in; enough that no two machines of one name meet.
const DIGITS: usize = 8;
/// A machine's name as far as it is shown.
const HOST_CHARS_MAX: usize = 40;

/// This process among all that share the store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Node {
    /// The name it claims tasks under, the same after a restart.
    pub name: String,
    pub duty: WorkerDuty,
    /// What this machine has that not every one has.
    pub labels: BTreeSet<Label>,
    /// How long running agents may take to finish after a shutdown was requested.
    pub grace: Duration,
    pub opened_at: Instant,
    /// How many machines share the work.
    pub fleet: FleetSize,
    /// Whether other machines may use the same store.
    pub is_shared: bool,
}

impl Node {
    /// The node of `baton up` or of a single command.
    pub fn new(place: &StateLocation) -> Self {
        Self {
            name: format!("{}:{}", host_name(), place.store_path().display()),
            duty: WorkerDuty::Server,
            labels: BTreeSet::new(),
            grace: Duration::ZERO,
            opened_at: Instant::now(),
            fleet: FleetSize::default(),
            is_shared: place.store.is_shared(),
        }
    }

    /// This worker as others see it.
    pub fn describe(
        &self,
        settings: &Settings,
        started_at: Timestamp,
        is_draining: bool,
        warm: BTreeSet<ProjectId>,
    ) -> Worker {
        let mut roles = settings.served_roles();
        roles.retain(|_, agent| settings.agents.get(agent).is_some_and(AgentSettings::is_installed));
        Worker {
            name: self.name.clone(),
            host: host_name(),
            duty: self.duty,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            agents: roles.values().cloned().collect(),
            roles: roles.into_keys().collect(),
            labels: self.labels.clone(),
            capacity: settings.max_agents,
            is_draining,
            warm,
            started_at,
        }
    }
}

/// The worker's name: the machine's, and digits that are drawn once for each state folder. So it is the same after a
/// restart, and two machines that were set up alike are still two workers.
pub fn worker_name(place: &StateLocation) -> Result<String, EngineError> {
    let path = place.state_dir.join("worker");
    let failed = |error: std::io::Error| FolderError { path: path.clone(), detail: error.to_string() };
    let is_good = |text: &str| text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let known = fs::read_to_string(&path).unwrap_or_default();
    if is_good(known.trim()) {
        return Ok(format!("{}-{}", host_name(), known.trim()));
    }
    let digits: String = Ids::secret().chars().filter(char::is_ascii_hexdigit).take(DIGITS).collect();
    let digits = format!("{digits:0>DIGITS$}").to_ascii_lowercase();
    fs::create_dir_all(&place.state_dir).map_err(failed)?;
    let draft = path.with_extension("new");
    fs::write(&draft, &digits).and_then(|()| fs::rename(&draft, &path)).map_err(failed)?;
    Ok(format!("{}-{digits}", host_name()))
}

/// Which machine this is, for people.
pub fn host_name() -> String {
    let read = |path: &str| fs::read_to_string(path).ok().filter(|name| !name.trim().is_empty());
    let name = read("/proc/sys/kernel/hostname").or_else(|| read("/etc/hostname"));
    let name = name.unwrap_or_else(|| "localhost".to_owned());
    name.trim().chars().take(HOST_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::location::LocationOptions;

    #[test]
    fn a_name_stays_with_its_folder_and_no_other_has_it() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = |folder: &tempfile::TempDir| {
            StateLocation::find(folder.path(), &LocationOptions::default()).unwrap()
        };
        let name = worker_name(&place(&one)).unwrap();
        assert_eq!(worker_name(&place(&one)).unwrap(), name);
        assert_ne!(worker_name(&place(&other)).unwrap(), name);
        assert!(name.starts_with(&host_name()), "{name}");
        fs::write(place(&one).state_dir.join("worker"), "../../etc").unwrap();
        assert_ne!(worker_name(&place(&one)).unwrap(), name, "a damaged file is replaced");
    }
}
