//! The number of leases per role and agent: read once per transaction, counted in memory, written back at commit.

use std::collections::BTreeMap;

use baton_core::base::text::{AgentName, Role};
use baton_core::schedule::Load;
use rusqlite::Connection;

use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::name;

#[derive(Debug, Clone, Default)]
pub(crate) struct LeaseCounts {
    counts: BTreeMap<(Role, AgentName), LeaseCount>,
    /// The same for core, valid until a lease ends.
    load: Option<Load>,
}

#[derive(Debug, Clone, Copy, Default)]
struct LeaseCount {
    stored: i64,
    now: i64,
}

impl LeaseCounts {
    pub(crate) fn read(conn: &Connection) -> Result<Self, SqliteFault> {
        let mut statement = conn.prepare_cached("SELECT role, agent, leases FROM running")?;
        let mut rows = statement.query([])?;
        let mut counts = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let role = name(row.get_ref(0)?.as_str(), RecordKind::Lease)?;
            let agent = name(row.get_ref(1)?.as_str(), RecordKind::Lease)?;
            let stored = row.get(2)?;
            counts.insert((role, agent), LeaseCount { stored, now: stored });
        }
        Ok(Self { counts, load: None })
    }

    pub(crate) fn write(&self, conn: &Connection) -> Result<(), SqliteFault> {
        let sql = "INSERT INTO running (role, agent, leases) VALUES (?1, ?2, ?3)
            ON CONFLICT (role, agent) DO UPDATE SET leases = ?3";
        for ((role, agent), count) in self.counts.iter().filter(|(_, count)| count.now != count.stored) {
            conn.prepare_cached(sql)?.execute((role.as_str(), agent.as_str(), count.now))?;
        }
        Ok(())
    }

    pub(crate) fn increment(&mut self, role: &Role, agent: &AgentName) {
        self.counts.entry((role.clone(), agent.clone())).or_default().now += 1;
        if let Some(load) = &mut self.load {
            load.start(role, agent);
        }
    }

    pub(crate) fn decrement(&mut self, role: Role, agent: AgentName) {
        self.counts.entry((role, agent)).or_default().now -= 1;
        self.load = None;
    }

    pub(crate) fn load(&mut self, unaccepted: u32) -> &Load {
        let counts = &self.counts;
        self.load.get_or_insert_with(|| {
            let running = counts.iter().map(|((role, agent), count)| {
                (role.clone(), agent.clone(), u32::try_from(count.now).unwrap_or(0))
            });
            Load::from_counts(running, unaccepted)
        })
    }
}
