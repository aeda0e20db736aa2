//! The health report of `/api/health` and the health page.

use std::path::Path;
use std::time::Duration;

use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::Hold;
use baton_core::records::change::Change;
use baton_engine::base::supervisor::{ServiceState, ServiceStatus};
use baton_engine::dispatch::not_started::describe_busy;
use baton_engine::limits::holds::Holds;
use baton_engine::query::{QuestionFilter, TaskFilter};
use baton_engine::services::workspace::Workspace;
use baton_engine::settings::AgentSettings;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;

use crate::schema::words;

/// A store that takes longer than this for an empty commit is degraded.
const STORE_PATIENCE: Duration = Duration::from_secs(5);
/// Below this much free disk space, work will soon fail.
const DISK_BYTES_MIN: u64 = 256 * 1024 * 1024;
/// Counts are exact up to here.
const COUNTED_MAX: u32 = 500;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
pub(crate) struct HealthView {
    /// `ok`, or `degraded` if there are problems.
    #[schemars(with = "words::HealthStatus")]
    pub status: &'static str,
    pub namespace: String,
    pub version: &'static str,
    pub store: StoreHealth,
    pub agents: Vec<AgentHealth>,
    /// Active holds.
    #[schemars(with = "Vec<words::Hold>")]
    pub holds: Vec<Hold>,
    pub disk: DiskHealth,
    pub machine: MachineHealth,
    pub counts: QueueCounts,
    /// The background services of this process.
    #[schemars(with = "Vec<words::ServiceReport>")]
    pub services: Vec<ServiceStatus>,
    pub last_seq: u64,
    /// The store's clock; none if it is unreachable.
    #[schemars(with = "Option<words::Timestamp>")]
    pub now: Option<Timestamp>,
    pub problems: Vec<String>,
    /// Settings files that were changed since the server started, which goes on by the old ones.
    pub changed_settings: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct StoreHealth {
    pub is_writable: bool,
    pub detail: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct AgentHealth {
    #[schemars(with = "words::Name")]
    pub name: AgentName,
    pub program: String,
    pub is_found: bool,
    /// When its hold ends by itself; see `holds`.
    #[schemars(with = "Option<words::Timestamp>")]
    pub paused_until: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DiskHealth {
    pub free_bytes: Option<u64>,
}

/// The room of the machine that answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MachineHealth {
    /// Whether no agent is started until there is room.
    pub is_busy: bool,
    pub reason: Option<String>,
    pub memory_free_mb: Option<u64>,
    pub disk_free_mb: Option<u64>,
    pub memory_pressure_percent: Option<u64>,
    pub cpu_pressure_percent: Option<u64>,
    pub load_percent: Option<u64>,
}

impl MachineHealth {
    fn look(workspace: &Workspace) -> Self {
        let (short, reading) = (workspace.machine.shortages(), workspace.machine.reading());
        Self {
            is_busy: !short.is_empty(),
            reason: (!short.is_empty()).then(|| describe_busy(&short)),
            memory_free_mb: reading.memory_free_mb,
            disk_free_mb: reading.disk_free_mb,
            memory_pressure_percent: reading.memory_pressure_percent,
            cpu_pressure_percent: reading.cpu_pressure_percent,
            load_percent: reading.load_percent,
        }
    }
}

/// Each is exact up to 500.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct QueueCounts {
    pub ready: u64,
    pub running: u64,
    pub pending_questions: u64,
    pub unaccepted: u64,
}

pub(crate) async fn load_health(workspace: &Workspace) -> HealthView {
    // At the same time, and with the same patience: a store that hangs must not keep the report from saying so.
    let (store, readings) = tokio::join!(store_health(workspace), async {
        timeout(STORE_PATIENCE, StoreReadings::load(workspace)).await.unwrap_or_default()
    });
    let StoreReadings { holds, counts, now } = readings;
    let agents: Vec<AgentHealth> =
        workspace.settings.agents.iter().map(|(name, agent)| agent_health(name, agent, &holds)).collect();
    let disk = DiskHealth { free_bytes: free_bytes(&workspace.place.state_dir) };
    let mut problems = Vec::new();
    if let Some(detail) = &store.detail {
        problems.push(format!("cannot write to the store: {detail}"));
    }
    let services = workspace.services.snapshot();
    for service in services.iter().filter(|service| service.state == ServiceState::Failing) {
        problems.push(failing(service));
    }
    if agents.is_empty() {
        problems.push("no agent is configured; add one to .agent/baton.toml".to_owned());
    }
    for agent in &agents {
        if !agent.is_found {
            problems.push(format!("agent {}: {} is not installed or not on PATH", agent.name, agent.program));
        }
    }
    for hold in &holds {
        let until = match hold.until {
            Some(until) => format!("on hold until {until}"),
            None => format!("on hold; fix the cause, then run: baton hold release {}", hold.agent),
        };
        problems.push(format!("agent {} {until} ({})", hold.agent, hold.why.as_str()));
    }
    let machine = MachineHealth::look(workspace);
    if machine.is_busy {
        problems.extend(machine.reason.clone());
    }
    if disk.free_bytes.is_some_and(|free| free < DISK_BYTES_MIN) {
        problems.push("the state directory's disk is almost full".to_owned());
    }
    HealthView {
        status: if problems.is_empty() { "ok" } else { "degraded" },
        namespace: workspace.place.namespace.clone(),
        version: env!("CARGO_PKG_VERSION"),
        store,
        agents,
        holds,
        disk,
        machine,
        counts,
        services,
        last_seq: *workspace.tasks.changes().borrow(),
        now,
        problems,
        changed_settings: changed_settings(workspace),
    }
}

fn changed_settings(workspace: &Workspace) -> Vec<String> {
    let root = &workspace.place.root;
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    workspace.settings_files.changed().into_iter().map(shown).collect()
}

/// What the report reads from the store; empty where that failed.
#[derive(Default)]
struct StoreReadings {
    holds: Vec<Hold>,
    counts: QueueCounts,
    now: Option<Timestamp>,
}

impl StoreReadings {
    async fn load(workspace: &Workspace) -> Self {
        let (holds, counts, now) = tokio::join!(
            async { Holds::new(&workspace.tasks).active().await.unwrap_or_default() },
            async { counts(workspace).await.unwrap_or_default() },
            async { workspace.tasks.store.now().await.ok() },
        );
        Self { holds, counts, now }
    }
}

/// One sentence about a failing service.
pub(crate) fn failing(service: &ServiceStatus) -> String {
    let error = service.last_error.as_deref().unwrap_or("no reason given");
    format!("service {} is failing: {error}", service.name)
}

/// An empty commit exercises the whole write path.
async fn store_health(workspace: &Workspace) -> StoreHealth {
    let detail = match timeout(STORE_PATIENCE, workspace.tasks.store.commit(Change::new())).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("no response within {} s", STORE_PATIENCE.as_secs())),
    };
    StoreHealth { is_writable: detail.is_none(), detail }
}

fn agent_health(name: &AgentName, agent: &AgentSettings, holds: &[Hold]) -> AgentHealth {
    let first = agent.command.first().cloned().unwrap_or_default();
    let is_found = agent.is_installed();
    let paused_until = holds.iter().find(|hold| hold.agent == *name).and_then(|hold| hold.until);
    AgentHealth { name: name.clone(), program: first, is_found, paused_until }
}

fn free_bytes(folder: &Path) -> Option<u64> {
    rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

pub(crate) async fn counts(
    workspace: &Workspace,
) -> Result<QueueCounts, baton_engine::store_error::StoreError> {
    let store = &workspace.tasks.store;
    let provisional =
        TaskFilter { queue: Some(baton_core::task::state::QueueName::Provisional), ..TaskFilter::default() };
    Ok(QueueCounts {
        ready: store.ready_count().await?,
        running: workspace.running.count() as u64,
        pending_questions: store.count_questions(&QuestionFilter::pending(), COUNTED_MAX).await?,
        unaccepted: store.count_tasks(&provisional, COUNTED_MAX).await?,
    })
}
