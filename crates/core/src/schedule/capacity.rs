//! How many tasks may run at once: in total, per role, per agent, per project and per person.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::id::ProjectId;
use crate::base::text::{AgentName, NonBlank, Role};
use crate::base::time::Timestamp;
use crate::schedule::Candidate;
use crate::schedule::rank::Urgency;
use crate::schedule::share::Share;

/// A limit per key, and a default for keys without their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "K: Ord + Deserialize<'de>"))]
pub struct LimitsByKey<K: Ord> {
    pub default_max: u32,
    #[serde(default = "BTreeMap::new")]
    pub own_max: BTreeMap<K, u32>,
}

impl<K: Ord> LimitsByKey<K> {
    pub const fn all(default_max: u32) -> Self {
        Self { default_max, own_max: BTreeMap::new() }
    }

    /// Unlimited.
    pub const fn none() -> Self {
        Self::all(u32::MAX)
    }

    pub fn max(&self, name: &K) -> u32 {
        self.own_max.get(name).copied().unwrap_or(self.default_max)
    }

    /// Whether it limits anything.
    pub fn is_set(&self) -> bool {
        self.default_max < u32::MAX || self.own_max.values().any(|max| *max < u32::MAX)
    }
}

/// The configured limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    pub total_max: u32,
    pub per_role: LimitsByKey<Role>,
    pub per_agent: LimitsByKey<AgentName>,
    /// With this many tasks waiting for acceptance, no new one starts: the human is the bottleneck, and more unread
    /// work would not help. Resumed work still runs, since it shrinks the pile.
    pub unaccepted_max: u32,
    /// Per project, over all machines. A project's own limit is stored with the project, so the store adds it.
    #[serde(default = "LimitsByKey::none")]
    pub per_project: LimitsByKey<ProjectId>,
    /// Per person who asked, over all machines.
    #[serde(default = "LimitsByKey::none")]
    pub per_person: LimitsByKey<NonBlank>,
}

impl Capacity {
    /// Whether any limit depends on who a task belongs to. If not, nobody has to count it.
    pub fn is_shared(&self) -> bool {
        self.per_project.is_set() || self.per_person.is_set()
    }
}

/// What runs now, and how much waits for acceptance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    by_role: BTreeMap<Role, u32>,
    by_agent: BTreeMap<AgentName, u32>,
    by_project: BTreeMap<ProjectId, u32>,
    by_person: BTreeMap<NonBlank, u32>,
    total: u32,
    unaccepted: u32,
}

impl Load {
    pub fn new(running: impl IntoIterator<Item = (Role, AgentName)>, unaccepted: u32) -> Self {
        let mut load = Self { unaccepted, ..Self::default() };
        for (role, agent) in running {
            load.start(&role, &agent);
        }
        load
    }

    /// The same from counts, as a store keeps them.
    pub fn from_counts(running: impl IntoIterator<Item = (Role, AgentName, u32)>, unaccepted: u32) -> Self {
        let mut load = Self { unaccepted, ..Self::default() };
        for (role, agent, count) in running {
            *load.by_role.entry(role).or_default() += count;
            *load.by_agent.entry(agent).or_default() += count;
            load.total += count;
        }
        load
    }

    pub fn start(&mut self, role: &Role, agent: &AgentName) {
        *self.by_role.entry(role.clone()).or_default() += 1;
        *self.by_agent.entry(agent.clone()).or_default() += 1;
        self.total += 1;
    }

    /// How many run.
    pub const fn running(&self) -> u32 {
        self.total
    }

    /// Counts tasks by owner that are already counted by role and agent.
    pub fn occupy(&mut self, share: &Share, count: u32) {
        if let Some(project) = share.project {
            *self.by_project.entry(project).or_default() += count;
        }
        if let Some(person) = &share.person {
            *self.by_person.entry(person.clone()).or_default() += count;
        }
    }

    pub const fn total(&self) -> u32 {
        self.total
    }

    pub const fn unaccepted(&self) -> u32 {
        self.unaccepted
    }

    pub fn for_role(&self, role: &Role) -> u32 {
        self.by_role.get(role).copied().unwrap_or(0)
    }

    pub fn for_agent(&self, agent: &AgentName) -> u32 {
        self.by_agent.get(agent).copied().unwrap_or(0)
    }

    pub fn for_project(&self, project: ProjectId) -> u32 {
        self.by_project.get(&project).copied().unwrap_or(0)
    }

    pub fn for_person(&self, person: &NonBlank) -> u32 {
        self.by_person.get(person).copied().unwrap_or(0)
    }
}

/// Why a ready task may not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum StartRefusal {
    #[error("{}", total_full(*max))]
    TotalFull { max: u32 },
    #[error("project {project} is at its limit, {running} of {max}; wait, or raise it")]
    ProjectFull { project: ProjectId, running: u32, max: u32 },
    #[error("what {person} asked for is at its limit, {running} of {max}; wait, or raise max_per_person")]
    PersonFull { person: NonBlank, running: u32, max: u32 },
    #[error("{max} tasks of role {role} run already; wait, or raise that role's limit")]
    RoleFull { role: Role, max: u32 },
    #[error("agent {agent} runs {max} tasks already; wait, or raise that agent's limit")]
    AgentFull { agent: AgentName, max: u32 },
    #[error("{unaccepted} tasks wait to be accepted and the limit is {max}; accept or reject some first")]
    TooManyUnaccepted { unaccepted: u32, max: u32 },
    #[error("agent {agent} gets no work until {until}; wait, or release its hold")]
    IntakePaused { agent: AgentName, until: Timestamp },
}

impl StartRefusal {
    /// The same code in JSON, on the command line and on the page.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TotalFull { .. } => "total_full",
            Self::ProjectFull { .. } => "project_full",
            Self::PersonFull { .. } => "person_full",
            Self::RoleFull { .. } => "role_full",
            Self::AgentFull { .. } => "agent_full",
            Self::TooManyUnaccepted { .. } => "too_many_unaccepted",
            Self::IntakePaused { .. } => "intake_paused",
        }
    }
}

fn total_full(max: u32) -> String {
    match max {
        0 => "no task may run here: max_agents is 0; raise it".to_owned(),
        1 => "a task runs already and the total limit is 1; wait, or raise it".to_owned(),
        _ => format!("{max} tasks run already, the most allowed in all; wait, or raise the total limit"),
    }
}

/// Whether one more may run. The broadest limit is checked first, so that the answer names the one worth raising.
pub fn admit(candidate: &Candidate, capacity: &Capacity, load: &Load) -> Result<(), StartRefusal> {
    if load.total() >= capacity.total_max {
        return Err(StartRefusal::TotalFull { max: capacity.total_max });
    }
    admit_share(&candidate.share, capacity, load)?;
    let Candidate { role, agent, .. } = candidate;
    let role_max = capacity.per_role.max(role);
    if load.for_role(role) >= role_max {
        return Err(StartRefusal::RoleFull { role: role.clone(), max: role_max });
    }
    let agent_max = capacity.per_agent.max(agent);
    if load.for_agent(agent) >= agent_max {
        return Err(StartRefusal::AgentFull { agent: agent.clone(), max: agent_max });
    }
    match candidate.rank.urgency() {
        Urgency::Resumed => Ok(()),
        Urgency::Normal if load.unaccepted() < capacity.unaccepted_max => Ok(()),
        Urgency::Normal => Err(StartRefusal::TooManyUnaccepted {
            unaccepted: load.unaccepted(),
            max: capacity.unaccepted_max,
        }),
    }
}

/// Resumed work is limited too: the limit protects the others, who would wait either way.
fn admit_share(share: &Share, capacity: &Capacity, load: &Load) -> Result<(), StartRefusal> {
    if let Some(project) = share.project {
        let (running, max) = (load.for_project(project), capacity.per_project.max(&project));
        if running >= max {
            return Err(StartRefusal::ProjectFull { project, running, max });
        }
    }
    if let Some(person) = &share.person {
        let (running, max) = (load.for_person(person), capacity.per_person.max(person));
        if running >= max {
            return Err(StartRefusal::PersonFull { person: person.clone(), running, max });
        }
    }
    Ok(())
}

impl Share {
    /// How many more tasks of this share may start, as far as its project's and its person's limits allow. A store
    /// looks no further into a share than this.
    pub fn room(&self, capacity: &Capacity, load: &Load) -> u32 {
        let of_project = self.project.map_or(u32::MAX, |project| {
            capacity.per_project.max(&project).saturating_sub(load.for_project(project))
        });
        let of_person = self.person.as_ref().map_or(u32::MAX, |person| {
            capacity.per_person.max(person).saturating_sub(load.for_person(person))
        });
        of_project.min(of_person)
    }
}
