//! Why a task that is ready is not started, as far as the limits tell that this machine goes by.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use baton_core::base::id::{ProjectId, QuestionId};
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::limits::machine::MachineShortage;
use baton_core::schedule::{
    AgentIntake, AgentRoutes, Candidate, Capacity, LimitsByKey, Load, OwnedQueue, OwnedQueues, RouteRefusal,
    StartRefusal, may_start,
};
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use baton_store::model::query::TaskFilter;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::limits::Limits;
use crate::limits::machine::Machine;
use crate::projects::hold::HeldProjects;
use crate::projects::setups::SetupTurns;
use crate::runs::Runs;
use crate::settings::Settings;
use crate::tasks::service::TaskService;

/// What keeps it, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotStarted {
    pub code: String,
    pub message: String,
}

/// The limits and what counts against them, at one moment.
pub struct Queueing {
    agents: BTreeMap<Role, AgentName>,
    capacity: Capacity,
    load: Load,
    intakes: BTreeMap<AgentName, AgentIntake>,
    owned: OwnedQueues,
    held: HeldProjects,
    /// Projects that no further attempt can set up now.
    in_setup: BTreeSet<Option<ProjectId>>,
    /// What the machine is short of, if it takes no more work.
    short: Vec<MachineShortage>,
    routes: AgentRoutes,
    /// Accounts in their quiet hours, with the end of those.
    quiet: BTreeMap<AgentName, Timestamp>,
    now: Timestamp,
}

/// Judges which ready tasks may start on this machine. Cheap to clone.
#[derive(Clone)]
pub struct Scheduling {
    pub tasks: TaskService,
    pub settings: Arc<Settings>,
    pub limits: Limits,
    pub held: HeldProjects,
    pub setups: SetupTurns,
    pub machine: Machine,
    /// Whether other machines may use the same store.
    pub is_shared: bool,
}

impl Scheduling {
    /// On a store of this machine's own all limits are judged there, over everything that runs on it. Where machines
    /// share one, how many run at once is each machine's own affair. Common are the limits that were set for a role, a
    /// project or a person.
    pub(crate) fn capacity(&self) -> Capacity {
        let mut capacity = self.settings.capacity();
        if self.is_shared {
            capacity.total_max = u32::MAX;
            capacity.per_role.default_max = u32::MAX;
            capacity.per_agent = LimitsByKey::none();
        }
        capacity
    }

    /// What these tasks are judged by.
    pub async fn queueing(&self, tasks: impl IntoIterator<Item = &Task>) -> Result<Queueing, EngineError> {
        let store = &self.tasks.store;
        let mut capacity = self.capacity();
        let provisional = TaskFilter { queue: Some(QueueName::Provisional), ..TaskFilter::default() };
        let counted_max = capacity.unaccepted_max.saturating_add(1).min(COUNTED_MAX);
        let unaccepted = store.tasks(&provisional, None, counted_max).await?.items.len();
        let mut load = Load::new([], u32::try_from(unaccepted).unwrap_or(u32::MAX));
        for lease in store.leases().await? {
            load.start(&lease.role, &lease.agent);
            load.occupy(&lease.share, 1);
        }
        let projects: BTreeSet<ProjectId> =
            tasks.into_iter().filter_map(|task| task.spec().project_id).collect();
        for id in projects {
            let own = store.project(id).await?.and_then(|project| project.value.at_once_max);
            capacity.per_project.own_max.extend(own.map(|max| (id, max)));
        }
        let intakes = self.limits.holds.intakes(&self.limits.intakes).await?;
        let agents = self.settings.served_roles();
        let owned = Runs::new(&self.tasks).owned_queues().await?;
        let held = self.held.clone();
        // Where machines share a store, another one may set it up.
        let in_setup = if self.is_shared { BTreeSet::new() } else { self.setups.busy() };
        let routes = self.limits.routes().await?;
        // Where machines share a store, another one may have room.
        let short = if self.is_shared { Vec::new() } else { self.machine.shortages() };
        let now = store.now().await?;
        let quiet = self.settings.accounts.iter();
        let quiet =
            quiet.filter_map(|(name, account)| Some((name.clone(), account.quiet_until(now)?))).collect();
        Ok(Queueing { agents, capacity, load, intakes, owned, held, in_setup, short, routes, quiet, now })
    }
}

/// Tasks that wait to be accepted are counted up to here; a limit beyond it is never told as the reason.
const COUNTED_MAX: u32 = 1_000;

impl Queueing {
    /// None for a task that is not ready as far as the task itself goes, or that may be started any moment.
    pub fn reason(&self, task: &Task) -> Option<NotStarted> {
        if !task.is_claimable() {
            return None;
        }
        if let Some(queue) = self.owned.owner_of(task) {
            return Some(NotStarted::from(queue));
        }
        let spec = task.spec();
        if let Some(question) = self.held.question(spec.project_id) {
            return Some(NotStarted::project_held(question));
        }
        if self.in_setup.contains(&spec.project_id) {
            return Some(NotStarted::in_setup());
        }
        let agent = match self.routes.choose(&task.route_wish(&spec.role)) {
            Ok(place) => place.agent,
            Err(RouteRefusal::NoAgent) => match &spec.agent {
                Some(wanted) => return Some(NotStarted::without_agent(wanted)),
                None => return None,
            },
            Err(RouteRefusal::Closed { place, until }) if self.quiet.get(&place.account) == Some(&until) => {
                return Some(NotStarted::quiet(&place.account, until));
            }
            Err(RouteRefusal::Closed { place, until }) => {
                let paused = StartRefusal::IntakePaused { agent: place.account, until };
                return Some(NotStarted::from(&paused));
            }
        };
        let candidate = Candidate {
            task: spec.id,
            rank: task.claim_rank(),
            created_at: spec.created_at,
            role: spec.role.clone(),
            agent,
            share: task.share(),
        };
        match may_start(&candidate, &self.capacity, &self.load, &self.intakes, self.now) {
            Err(held) => Some(NotStarted::from(&held)),
            Ok(()) if self.short.is_empty() => None,
            Ok(()) => Some(NotStarted::machine_busy(&self.short, self.load.running())),
        }
    }
}

impl Queueing {
    /// Why the task was not claimed here, for the log.
    pub(crate) fn log_reason(&self, task: &Task) -> String {
        let role = &task.spec().role;
        if !self.agents.contains_key(role) {
            return format!("no agent is set up for the role {role}");
        }
        self.reason(task)
            .map_or_else(|| "another worker may take it, or this one soon".to_owned(), |held| held.message)
    }
}

impl NotStarted {
    fn project_held(question: QuestionId) -> Self {
        let message =
            format!("the set-up of its project fails; see to it, then answer: baton answer {question} TEXT");
        Self { code: "project_held".to_owned(), message }
    }

    fn in_setup() -> Self {
        let message = "the set-up of its project is under way for other tasks; it starts when that has ended"
            .to_owned();
        Self { code: "project_in_setup".to_owned(), message }
    }

    /// Nobody knows when a machine has room; but an agent that ends gives some back.
    fn machine_busy(short: &[MachineShortage], running: u32) -> Self {
        let forecast = match running {
            0 => "it starts when the machine has that much to spare".to_owned(),
            1 => "it starts when the agent at work has ended, or before".to_owned(),
            _ => format!("it starts when one of the {running} agents at work has ended, or before"),
        };
        let message = format!("{}; {forecast}", describe_busy(short));
        Self { code: "machine_busy".to_owned(), message }
    }

    /// Nobody has held it: its settings say when it is left alone.
    fn quiet(account: &AgentName, until: Timestamp) -> Self {
        let message =
            format!("account {account} has quiet hours until {until}; wait, or change its quiet_hours");
        Self { code: "intake_paused".to_owned(), message }
    }

    fn without_agent(agent: &AgentName) -> Self {
        let message =
            format!("agent {agent}, which it is for, is not set up here; see [agents] in the settings");
        Self { code: "no_agent".to_owned(), message }
    }
}

/// Why the machine takes no more work.
pub fn describe_busy(short: &[MachineShortage]) -> String {
    let reasons: Vec<String> = short.iter().map(ToString::to_string).collect();
    format!("the machine is busy: {}", reasons.join("; "))
}

impl From<&OwnedQueue> for NotStarted {
    fn from(queue: &OwnedQueue) -> Self {
        let OwnedQueue { session, recipe, .. } = queue;
        let message = format!(
            "{recipe} of session {session} takes the ready tasks one after another; to let others start, stop it: \
             baton recipe exit --session {session}"
        );
        Self { code: "kept_for_run".to_owned(), message }
    }
}

impl From<&StartRefusal> for NotStarted {
    fn from(held: &StartRefusal) -> Self {
        let message = match held {
            // Held until a person has seen to it.
            StartRefusal::IntakePaused { agent, until } if *until >= Timestamp::from_ms(i64::MAX) => {
                format!("agent {agent} is held; see to it, then: baton hold release {agent}")
            }
            StartRefusal::ProjectFull { project, .. } => {
                format!("{held}: baton project limit {project} NUMBER")
            }
            other => other.to_string(),
        };
        Self { code: held.code().to_owned(), message }
    }
}
