//! How the server is: enough to tell what is wrong without looking at the machine.

use std::path::Path;
use std::time::Duration;

use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::Hold;
use baton_core::records::change::Change;
use baton_engine::query::{QuestionFilter, TaskFilter};
use baton_engine::settings::AgentSettings;
use baton_engine::supervisor::{ServiceReport, ServiceState};
use baton_engine::workshop::Workshop;
use serde::Serialize;
use tokio::time::timeout;

/// A store that takes longer than this to write nothing is not well.
const STORE_PATIENCE: Duration = Duration::from_secs(5);
/// Below this much room on the disk, work will soon fail.
const DISK_BYTES_MIN: u64 = 256 * 1024 * 1024;
/// Pending questions are counted up to here.
const COUNTED_MAX: u32 = 500;

#[derive(Debug, Clone, Serialize)]
pub struct Health {
    /// `ok`, or `degraded` when `problems` says why.
    pub status: &'static str,
    pub namespace: String,
    pub version: &'static str,
    pub store: StoreHealth,
    pub agents: Vec<AgentHealth>,
    /// What keeps agents from being given work now.
    pub holds: Vec<Hold>,
    pub disk: DiskHealth,
    pub counts: Counts,
    /// The background services of this process.
    pub services: Vec<ServiceReport>,
    pub last_seq: u64,
    /// The store's own time; none when it cannot be reached.
    pub now: Option<Timestamp>,
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct StoreHealth {
    pub is_writable: bool,
    pub detail: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct AgentHealth {
    pub name: AgentName,
    pub program: String,
    pub is_found: bool,
    /// When it takes work again by itself; see `holds`.
    pub paused_until: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize)]
pub struct DiskHealth {
    pub free_bytes: Option<u64>,
}

/// Each is counted up to 500.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counts {
    pub ready: u64,
    pub running: u64,
    pub pending_questions: u64,
    pub unaccepted: u64,
}

pub async fn health(shop: &Workshop) -> Health {
    let store = store_health(shop).await;
    let holds = shop.tasks.holds().await.unwrap_or_default();
    let agents: Vec<AgentHealth> =
        shop.settings.agents.iter().map(|(name, agent)| agent_health(name, agent, &holds)).collect();
    let disk = DiskHealth { free_bytes: free_bytes(&shop.place.state_dir) };
    let counts = counts(shop).await.unwrap_or_default();
    let mut problems = Vec::new();
    if let Some(detail) = &store.detail {
        problems.push(format!("the store cannot be written: {detail}"));
    }
    let services = shop.services.snapshot();
    for service in services.iter().filter(|service| service.state == ServiceState::Failing) {
        problems.push(failing(service));
    }
    if agents.is_empty() {
        problems.push("no agent is set up; add one to .agent/baton.toml".to_owned());
    }
    for agent in &agents {
        if !agent.is_found {
            problems.push(format!("agent {}: {} is not installed or not on PATH", agent.name, agent.program));
        }
    }
    for hold in &holds {
        let until = match hold.until {
            Some(until) => format!("rests until {until}"),
            None => format!("is held; see to it, then: baton hold release {}", hold.agent),
        };
        problems.push(format!("agent {} {until} ({})", hold.agent, hold.why.as_str()));
    }
    if disk.free_bytes.is_some_and(|free| free < DISK_BYTES_MIN) {
        problems.push("the disk of the state directory is nearly full".to_owned());
    }
    let now = shop.tasks.store.now().await.ok();
    Health {
        status: if problems.is_empty() { "ok" } else { "degraded" },
        namespace: shop.place.namespace.clone(),
        version: env!("CARGO_PKG_VERSION"),
        store,
        agents,
        holds,
        disk,
        counts,
        services,
        last_seq: *shop.tasks.changes().borrow(),
        now,
        problems,
    }
}

/// One sentence about a service that fails.
pub fn failing(service: &ServiceReport) -> String {
    let error = service.last_error.as_deref().unwrap_or("no reason given");
    format!("service {} is failing: {error}", service.name)
}

/// Writing nothing goes the whole way to the writer and back.
async fn store_health(shop: &Workshop) -> StoreHealth {
    let detail = match timeout(STORE_PATIENCE, shop.tasks.store.commit(Change::new())).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("it gave no answer within {} s", STORE_PATIENCE.as_secs())),
    };
    StoreHealth { is_writable: detail.is_none(), detail }
}

fn agent_health(name: &AgentName, agent: &AgentSettings, holds: &[Hold]) -> AgentHealth {
    let first = agent.command.first().cloned().unwrap_or_default();
    let is_found = agent.is_found();
    let paused_until = holds.iter().find(|hold| hold.agent == *name).and_then(|hold| hold.until);
    AgentHealth { name: name.clone(), program: first, is_found, paused_until }
}

fn free_bytes(folder: &Path) -> Option<u64> {
    rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

pub async fn counts(shop: &Workshop) -> Result<Counts, baton_engine::store_error::StoreError> {
    let store = &shop.tasks.store;
    let pending = store.questions(&QuestionFilter::pending(), None, COUNTED_MAX).await?;
    let provisional =
        TaskFilter { queue: Some(baton_core::task::state::QueueName::Provisional), ..TaskFilter::default() };
    let unaccepted = store.tasks(&provisional, None, COUNTED_MAX).await?;
    Ok(Counts {
        ready: store.ready_count().await?,
        running: shop.running.count() as u64,
        pending_questions: pending.items.len() as u64,
        unaccepted: unaccepted.items.len() as u64,
    })
}
