//! A `baton up` whose services fail on demand.

use std::time::Duration;

use baton_engine::base::supervisor::FAIL_VARIABLE;
use serde_json::Value;

use crate::engine::test_repo::{BatonProcess, TestRepo};
use crate::server::client::{Events, get};
use crate::wait;

const PATIENCE: Duration = Duration::from_mins(4);

pub(crate) struct FaultyServer {
    pub(crate) repo: TestRepo,
    pub(crate) up: BatonProcess,
    pub(crate) address: String,
}

impl FaultyServer {
    /// Starts it with these failures injected.
    pub(crate) fn start(mut repo: TestRepo, failures: &str) -> Self {
        let file = repo.home.join("failures");
        std::fs::write(&file, failures).unwrap();
        repo.variables.push((FAIL_VARIABLE.to_owned(), format!("@{}", file.display())));
        let up = repo.up();
        let line = up.wait_for_line("Listening on http://");
        let address = line.rsplit("http://").next().unwrap().to_owned();
        Self { repo, up, address }
    }

    /// Replaces the injected failures.
    pub(crate) fn fail(&self, failures: &str) {
        let file = self.repo.home.join("failures");
        let draft = file.with_extension("new");
        std::fs::write(&draft, failures).unwrap();
        std::fs::rename(draft, file).unwrap();
    }

    pub(crate) fn health(&self) -> Value {
        get(&self.address, "/api/health").json()
    }

    /// The health of a service; null before it was started.
    pub(crate) fn service(&self, name: &str) -> Value {
        let health = self.health();
        let services = health["services"].as_array().unwrap();
        services.iter().find(|service| service["name"] == name).cloned().unwrap_or_default()
    }

    pub(crate) fn until(&self, what: &str, is_so: impl FnMut() -> bool) {
        wait::until(PATIENCE, is_so, || format!("{what}: {:#}", self.health()));
    }

    pub(crate) fn until_state(&self, name: &str, state: &str) {
        self.until(&format!("{name} is {state}"), || self.service(name)["state"] == state);
    }

    pub(crate) fn last_event(&self) -> u64 {
        self.health()["last_seq"].as_u64().unwrap()
    }

    /// The next failure of an item of this kind after an event.
    pub(crate) fn item_failure(&self, kind: &str, after: u64) -> Value {
        let is_one = |event: &Value| {
            event["event"] == "item_failed"
                && event["item"].as_str().unwrap().starts_with(&format!("{kind} "))
        };
        let found = Events::after(&self.address, after).find(is_one);
        found.unwrap_or_else(|| panic!("no failure of a {kind}: {:#}", self.health()))
    }
}
