//! How many leases there are of each role and agent: read once in a transaction, counted in memory, and
//! written back with its commit.

use std::collections::BTreeMap;

use baton_core::base::text::{AgentName, Role};
use baton_core::schedule::Load;
use rusqlite::Connection;

use super::fault::Fault;
use super::rows::name;

#[derive(Debug, Clone, Default)]
pub struct Running {
    counts: BTreeMap<(Role, AgentName), Count>,
    /// The same as core wants it, while no lease has ended since.
    load: Option<Load>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    stored: i64,
    now: i64,
}

impl Running {
    pub fn read(conn: &Connection) -> Result<Self, Fault> {
        let mut statement = conn.prepare_cached("SELECT role, agent, leases FROM running")?;
        let mut rows = statement.query([])?;
        let mut counts = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let role = name(row.get_ref(0)?.as_str(), "lease")?;
            let agent = name(row.get_ref(1)?.as_str(), "lease")?;
            let stored = row.get(2)?;
            counts.insert((role, agent), Count { stored, now: stored });
        }
        Ok(Self { counts, load: None })
    }

    pub fn write(&self, conn: &Connection) -> Result<(), Fault> {
        let sql = "INSERT INTO running (role, agent, leases) VALUES (?1, ?2, ?3)
            ON CONFLICT (role, agent) DO UPDATE SET leases = ?3";
        for ((role, agent), count) in self.counts.iter().filter(|(_, count)| count.now != count.stored) {
            conn.prepare_cached(sql)?.execute((role.as_str(), agent.as_str(), count.now))?;
        }
        Ok(())
    }

    pub fn one_more(&mut self, role: &Role, agent: &AgentName) {
        self.counts.entry((role.clone(), agent.clone())).or_default().now += 1;
        if let Some(load) = &mut self.load {
            load.start(role, agent);
        }
    }

    pub fn one_less(&mut self, role: Role, agent: AgentName) {
        self.counts.entry((role, agent)).or_default().now -= 1;
        self.load = None;
    }

    pub fn load(&mut self, unaccepted: u32) -> &Load {
        let counts = &self.counts;
        self.load.get_or_insert_with(|| {
            let running = counts.iter().map(|((role, agent), count)| {
                (role.clone(), agent.clone(), u32::try_from(count.now).unwrap_or(0))
            });
            Load::from_counts(running, unaccepted)
        })
    }
}
