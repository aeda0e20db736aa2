//! The process tree of one attempt, found and ended as a whole.
//!
//! A process belongs to it when it is in the agent's process group, when it carries the attempt's id in its
//! environment, or when a process that belongs has started it. So one that left the group (`setsid`, a double
//! fork) is found too, and it is found by a Baton that did not start it. What cannot be found is a process
//! that left the group, cleared its environment *and* lost its parent; nothing in the system ties it to us.
//!
//! Nothing is ended on the word of a pid: each process is checked against its start before its signal.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use rustix::process::{Signal, kill_process_group};
use tokio::time::{Instant, sleep};

use crate::environment::ATTEMPT_ID;
use crate::identity::{ProcessIdentity, Sighting};
use crate::process_table::{self, Entry, pid_of};

/// How long a killed process may take to be gone. One that takes longer hangs inside the system.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks while processes end by themselves.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Between the look that finds nothing and the one that confirms it, and between two rounds of KILL.
const CONFIRM_AFTER: Duration = Duration::from_millis(5);
/// Looks of the last resort, which has no time to wait.
const ROUNDS_AT_ONCE: u32 = 10;

/// The processes that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} could not be ended: {pids:?}", if pids.len() == 1 { "a process" } else { "some processes" })]
pub struct Leftover {
    pub pids: Vec<u32>,
}

/// One attempt's processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    attempt: AttemptId,
    /// The agent's own process, which leads the group. None when its start was never written down.
    leader: Option<ProcessIdentity>,
}

/// Ends what an attempt left behind, without having started it. `grace` is the time between TERM and KILL.
///
/// An identity that is another process by now is left alone; what carries the attempt's id is ended either way.
pub async fn end_orphans(
    attempt: AttemptId,
    identity: Option<&ProcessIdentity>,
    grace: Duration,
) -> Result<(), Leftover> {
    if identity.is_some_and(ProcessIdentity::is_of_another_boot) {
        return Ok(());
    }
    // Without a table nothing confirms whose the group is, and a group is not ended on the word of a number.
    match identity {
        Some(identity) if identity.sighting() == Sighting::Unknown => {
            Err(Leftover { pids: vec![identity.pid] })
        }
        Some(_) | None => Tree::new(attempt, identity.cloned()).end(grace).await,
    }
}

impl Tree {
    pub fn new(attempt: AttemptId, leader: Option<ProcessIdentity>) -> Self {
        Self { attempt, leader }
    }

    /// TERM, `grace`, KILL; returns when nothing of the tree is left, or says what is.
    pub async fn end(&self, grace: Duration) -> Result<(), Leftover> {
        if self.is_gone().await {
            return Ok(());
        }
        self.signal_all(Signal::TERM).await;
        // A stopped process acts on TERM only once it goes on.
        self.signal_all(Signal::CONT).await;
        let killing_starts = Instant::now() + grace;
        while Instant::now() < killing_starts {
            sleep(LOOK_EVERY.min(grace)).await;
            if self.is_gone().await {
                return Ok(());
            }
        }
        let patience_ends = Instant::now() + KILL_PATIENCE;
        loop {
            let left = self.signal_all(Signal::KILL).await;
            if left.is_empty() && self.is_gone().await {
                return Ok(());
            }
            if Instant::now() >= patience_ends {
                return Err(Leftover { pids: left.iter().map(|entry| entry.pid).collect() });
            }
            sleep(CONFIRM_AFTER).await;
        }
    }

    /// KILL without a pause, for when there is nobody left to wait.
    pub fn kill_at_once(&self) {
        for _ in 0..ROUNDS_AT_ONCE {
            if self.signal_members(Signal::KILL).is_empty() {
                return;
            }
        }
    }

    async fn is_gone(&self) -> bool {
        if !self.look().await.is_empty() {
            return false;
        }
        sleep(CONFIRM_AFTER).await;
        self.look().await.is_empty()
    }

    async fn look(&self) -> Vec<Entry> {
        self.off_the_loop(Self::members).await
    }

    async fn signal_all(&self, signal: Signal) -> Vec<Entry> {
        self.off_the_loop(move |tree| tree.signal_members(signal)).await
    }

    /// Reading the table takes milliseconds, and the environment of a busy process can take longer.
    async fn off_the_loop(&self, work: impl Fn(&Self) -> Vec<Entry> + Clone + Send + 'static) -> Vec<Entry> {
        let tree = self.clone();
        let there = work.clone();
        // Other threads are not to be had while the runtime goes down. Then it is done here.
        tokio::task::spawn_blocking(move || there(&tree)).await.unwrap_or_else(|_| work(self))
    }

    /// Signals every member, and returns those there were.
    fn signal_members(&self, signal: Signal) -> Vec<Entry> {
        let members = self.members();
        // The group is signalled as one, because nothing can be forked out of it in between.
        let group = self.own_group();
        if let Some(group) = group {
            let _ = kill_process_group(group, signal);
        }
        // Not twice: to some programs a second TERM means to drop everything.
        for member in members.iter().filter(|member| group.is_none() || pid_of(member.group) != group) {
            member.signal(signal);
        }
        members
    }

    /// The group's number, while its leader is known to be the one that was started.
    fn own_group(&self) -> Option<rustix::process::Pid> {
        let leader = self.leader.as_ref()?;
        match leader.sighting() {
            Sighting::Alive | Sighting::Unreaped | Sighting::Unknown => pid_of(leader.pid),
            Sighting::Gone => None,
        }
    }

    /// Every living process of the tree.
    pub fn members(&self) -> Vec<Entry> {
        // A descendant starts after its ancestor, so whatever is older is a stranger without another look.
        let born = self.leader.as_ref().and_then(|leader| leader.started).unwrap_or(0);
        let myself = std::process::id();
        let mark = format!("{ATTEMPT_ID}={}", self.attempt);
        let mut candidates = Vec::new();
        let mut members = BTreeMap::new();
        let is_table = process_table::visit(|entry| {
            if entry.started < born || entry.pid == myself {
                return;
            }
            candidates.push(entry);
            if self.is_leader(&entry) || entry.has_variable(&mark) {
                members.insert(entry.pid, entry);
            }
        });
        if !is_table {
            return self.group_alone();
        }
        self.add_group(&candidates, &mut members);
        add_children(&candidates, &mut members);
        members.into_values().filter(|entry| !entry.is_zombie).collect()
    }

    fn is_leader(&self, entry: &Entry) -> bool {
        self.leader
            .as_ref()
            .is_some_and(|leader| leader.pid == entry.pid && leader.started == Some(entry.started))
    }

    /// A group's number stays taken while anyone is in it. So one member that is ours vouches for the others,
    /// also when the leader is gone; without one the number may be somebody else's by now.
    fn add_group(&self, candidates: &[Entry], members: &mut BTreeMap<u32, Entry>) {
        let Some(leader) = &self.leader else { return };
        if members.values().any(|member| member.group == leader.pid) {
            members.extend(
                candidates.iter().filter(|entry| entry.group == leader.pid).map(|entry| (entry.pid, *entry)),
            );
        }
    }

    /// Without a table the group is all that can be seen of a tree, as one entry that stands for it.
    fn group_alone(&self) -> Vec<Entry> {
        let Some(leader) = &self.leader else { return Vec::new() };
        match leader.sighting() {
            Sighting::Gone | Sighting::Unreaped => Vec::new(),
            Sighting::Alive | Sighting::Unknown => {
                vec![Entry { pid: leader.pid, parent: 0, group: leader.pid, started: 0, is_zombie: false }]
            }
        }
    }
}

fn add_children(candidates: &[Entry], members: &mut BTreeMap<u32, Entry>) {
    loop {
        let before = members.len();
        for entry in candidates {
            let parent_started = members.get(&entry.parent).map(|parent| parent.started);
            if parent_started.is_some_and(|started| started <= entry.started) {
                members.insert(entry.pid, *entry);
            }
        }
        if members.len() == before {
            return;
        }
    }
}
