//! How many may run at once, counted in every way that matters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::id::ProjectId;
use crate::base::text::{AgentName, NonBlank, Role};
use crate::base::time::Timestamp;
use crate::schedule::Candidate;
use crate::schedule::rank::Urgency;
use crate::schedule::share::Share;

/// A limit for each name, and one for the names without their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "K: Ord + Deserialize<'de>"))]
pub struct Limits<K: Ord> {
    pub default_max: u32,
    #[serde(default = "BTreeMap::new")]
    pub own_max: BTreeMap<K, u32>,
}

impl<K: Ord> Limits<K> {
    pub const fn all(default_max: u32) -> Self {
        Self { default_max, own_max: BTreeMap::new() }
    }

    /// As many as there are.
    pub const fn none() -> Self {
        Self::all(u32::MAX)
    }

    pub fn max(&self, name: &K) -> u32 {
        self.own_max.get(name).copied().unwrap_or(self.default_max)
    }

    /// Whether it keeps anybody from anything.
    pub fn is_set(&self) -> bool {
        self.default_max < u32::MAX || self.own_max.values().any(|max| *max < u32::MAX)
    }
}

/// The limits a person set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    pub total_max: u32,
    pub per_role: Limits<Role>,
    pub per_agent: Limits<AgentName>,
    /// With this many tasks waiting to be accepted no new one is started: the human is the bottleneck then,
    /// and more unread work would not help. Resumed work still runs, since it makes the pile smaller.
    pub unaccepted_max: u32,
    /// Of one project at once, over all machines. A project's own limit is kept with the project, so the store adds it.
    #[serde(default = "Limits::none")]
    pub per_project: Limits<ProjectId>,
    /// Of what one person asked for at once, over all machines.
    #[serde(default = "Limits::none")]
    pub per_person: Limits<NonBlank>,
}

impl Capacity {
    /// Whether it matters whose a task is. Mostly it does not, and then nobody has to count it.
    pub fn is_shared(&self) -> bool {
        self.per_project.is_set() || self.per_person.is_set()
    }
}

/// What runs now, and how much waits to be accepted.
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
    pub fn of(running: impl IntoIterator<Item = (Role, AgentName)>, unaccepted: u32) -> Self {
        let mut load = Self { unaccepted, ..Self::default() };
        for (role, agent) in running {
            load.start(&role, &agent);
        }
        load
    }

    /// The same from counts, as a store keeps them.
    pub fn of_counts(running: impl IntoIterator<Item = (Role, AgentName, u32)>, unaccepted: u32) -> Self {
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

    /// Counts tasks, which are counted already by role and agent, by whose they are.
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

    pub fn of_role(&self, role: &Role) -> u32 {
        self.by_role.get(role).copied().unwrap_or(0)
    }

    pub fn of_agent(&self, agent: &AgentName) -> u32 {
        self.by_agent.get(agent).copied().unwrap_or(0)
    }

    pub fn of_project(&self, project: ProjectId) -> u32 {
        self.by_project.get(&project).copied().unwrap_or(0)
    }

    pub fn of_person(&self, person: &NonBlank) -> u32 {
        self.by_person.get(person).copied().unwrap_or(0)
    }
}

/// What keeps a ready task from starting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Held {
    #[error("{}", total_full(*max))]
    TotalFull { max: u32 },
    #[error(
        "project {project} is at its limit, {running} of {max}; wait, or raise it: baton project limit {project} NUMBER"
    )]
    ProjectFull { project: ProjectId, running: u32, max: u32 },
    #[error("what {person} asked for is at its limit, {running} of {max}; wait, or raise max_per_person")]
    PersonFull { person: NonBlank, running: u32, max: u32 },
    #[error("{max} tasks of role {role} run already; wait, or raise that role's limit")]
    RoleFull { role: Role, max: u32 },
    #[error("agent {agent} runs {max} tasks already; wait, or raise that agent's limit")]
    AgentFull { agent: AgentName, max: u32 },
    #[error("{unaccepted} tasks wait to be accepted and the limit is {max}; accept or reject some first")]
    TooManyUnaccepted { unaccepted: u32, max: u32 },
    #[error("agent {agent} rests until {until} after failures in a row; wait, or resume it by hand")]
    IntakePaused { agent: AgentName, until: Timestamp },
}

impl Held {
    /// The same word in JSON, on the command line and on the page.
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
        0 => "no task may run here, the total limit is 0; raise it".to_owned(),
        1 => "a task runs already and the total limit is 1; wait, or raise it".to_owned(),
        _ => format!("{max} tasks run already, the most allowed in all; wait, or raise the total limit"),
    }
}

/// Whether one more may run: the widest limit is asked first, so the answer names the one worth raising.
pub fn admit(candidate: &Candidate, capacity: &Capacity, load: &Load) -> Result<(), Held> {
    if load.total() >= capacity.total_max {
        return Err(Held::TotalFull { max: capacity.total_max });
    }
    admit_share(&candidate.share, capacity, load)?;
    let Candidate { role, agent, .. } = candidate;
    let role_max = capacity.per_role.max(role);
    if load.of_role(role) >= role_max {
        return Err(Held::RoleFull { role: role.clone(), max: role_max });
    }
    let agent_max = capacity.per_agent.max(agent);
    if load.of_agent(agent) >= agent_max {
        return Err(Held::AgentFull { agent: agent.clone(), max: agent_max });
    }
    match candidate.rank.urgency() {
        Urgency::Resumed => Ok(()),
        Urgency::Normal if load.unaccepted() < capacity.unaccepted_max => Ok(()),
        Urgency::Normal => {
            Err(Held::TooManyUnaccepted { unaccepted: load.unaccepted(), max: capacity.unaccepted_max })
        }
    }
}

/// Resumed work is held too: the limit is there for the others, who would wait all the same.
fn admit_share(share: &Share, capacity: &Capacity, load: &Load) -> Result<(), Held> {
    if let Some(project) = share.project {
        let (running, max) = (load.of_project(project), capacity.per_project.max(&project));
        if running >= max {
            return Err(Held::ProjectFull { project, running, max });
        }
    }
    if let Some(person) = &share.person {
        let (running, max) = (load.of_person(person), capacity.per_person.max(person));
        if running >= max {
            return Err(Held::PersonFull { person: person.clone(), running, max });
        }
    }
    Ok(())
}

impl Share {
    /// How many more of this share may start, whatever else limits them: the smaller of its project's room and its
    /// person's. A store looks no further into a share than this.
    pub fn room(&self, capacity: &Capacity, load: &Load) -> u32 {
        let of_project = self.project.map_or(u32::MAX, |project| {
            capacity.per_project.max(&project).saturating_sub(load.of_project(project))
        });
        let of_person = self.person.as_ref().map_or(u32::MAX, |person| {
            capacity.per_person.max(person).saturating_sub(load.of_person(person))
        });
        of_project.min(of_person)
    }
}
