//! Finds and ends the process tree of an attempt.
//!
//! A process belongs to the tree if it is in the agent's process group, carries the attempt id in its environment, or is
//! a child of a member, or is in the attempt's control group. So a process that left the group (`setsid`, double fork) is found too, also by a Baton that did
//! not start it. Not found is a process that left the group, cleared its environment *and* lost its parent.
//!
//! No process is signalled by pid alone; its start time is checked first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::{Instant, sleep};

use crate::process::cgroup;
use crate::process::environment::{ATTEMPT_ID, RUN_ID};
use crate::process::identity::{ProcessIdentity, ProcessStatus, TreeGuard};
use crate::process::table::{self, ProcessEntry, pid_of};

/// How long a killed process may take to disappear. One that takes longer hangs in the kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// Poll interval while processes end by themselves.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Between finding nothing and confirming it, and between rounds of KILL.
const CONFIRM_AFTER: Duration = Duration::from_millis(5);
/// Rounds of KILL in `kill_now`, which cannot wait.
const ROUNDS_AT_ONCE: u32 = 10;

/// Processes that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} could not be ended: {pids:?}", if pids.len() == 1 { "a process" } else { "some processes" })]
pub struct LeftoverProcesses {
    pub pids: Vec<u32>,
}

/// The processes of one attempt, or of several that are ended together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessTree {
    attempts: Vec<AttemptId>,
    /// The processes Baton started, each a group leader; missing where the start was not recorded.
    leaders: Vec<ProcessIdentity>,
    /// Every attempt's leader is known, so processes older than all of them are not members.
    is_complete: bool,
}

/// Ends what an attempt left behind after a crash. `grace` is the time between TERM and KILL.
///
/// A pid that was reused is left alone; whatever carries the attempt id is ended either way.
pub async fn end_orphans(
    attempt: AttemptId,
    identity: Option<&ProcessIdentity>,
    grace: Duration,
) -> Result<(), LeftoverProcesses> {
    if identity.is_some_and(ProcessIdentity::is_from_another_boot) {
        return Ok(());
    }
    // Without a process table nothing confirms that the group is still ours.
    match identity {
        Some(identity) if identity.status() == ProcessStatus::Unknown => {
            Err(LeftoverProcesses { pids: vec![identity.pid] })
        }
        Some(_) | None => ProcessTree::new(attempt, identity.cloned()).end(grace).await,
    }
}

impl ProcessTree {
    pub fn new(attempt: AttemptId, leader: Option<ProcessIdentity>) -> Self {
        Self::of_attempts([(attempt, leader)])
    }

    /// Several attempts as one tree: the process table is read once for all of them.
    pub fn of_attempts(attempts: impl IntoIterator<Item = (AttemptId, Option<ProcessIdentity>)>) -> Self {
        let (attempts, leaders): (Vec<_>, Vec<_>) = attempts.into_iter().unzip();
        let is_complete = leaders.iter().all(Option::is_some);
        Self { attempts, leaders: leaders.into_iter().flatten().collect(), is_complete }
    }

    /// TERM, `grace`, KILL; returns when the tree is gone, or what is left of it.
    pub async fn end(&self, grace: Duration) -> Result<(), LeftoverProcesses> {
        if self.is_gone().await {
            self.remove_groups();
            return Ok(());
        }
        self.signal_all(Signal::TERM).await;
        // A stopped process handles TERM only after CONT.
        self.signal_all(Signal::CONT).await;
        let killing_starts = Instant::now() + grace;
        while Instant::now() < killing_starts {
            sleep(LOOK_EVERY.min(grace)).await;
            if self.is_gone().await {
                self.remove_groups();
                return Ok(());
            }
        }
        self.kill().await
    }

    /// KILL at once; returns when the tree is gone, or what is left of it.
    pub async fn kill(&self) -> Result<(), LeftoverProcesses> {
        let patience_ends = Instant::now() + KILL_PATIENCE;
        loop {
            let left = self.signal_all(Signal::KILL).await;
            if left.is_empty() && self.is_gone().await {
                self.remove_groups();
                return Ok(());
            }
            if Instant::now() >= patience_ends {
                return Err(LeftoverProcesses { pids: left.iter().map(|entry| entry.pid).collect() });
            }
            sleep(CONFIRM_AFTER).await;
        }
    }

    /// Stops every process. Again, for those that were started meanwhile.
    pub async fn pause(&self) {
        self.signal_all(Signal::STOP).await;
        self.signal_all(Signal::STOP).await;
    }

    /// Lets every process go on.
    pub async fn resume(&self) {
        self.signal_all(Signal::CONT).await;
    }

    /// KILL without waiting, for use in `drop`.
    pub fn kill_now(&self) {
        for _ in 0..ROUNDS_AT_ONCE {
            if self.signal_members(Signal::KILL).is_empty() {
                return;
            }
        }
    }

    /// The control groups of its attempts, where they have any.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Path> {
        self.leaders.iter().filter_map(|leader| leader.group.as_deref())
    }

    /// Removes its control groups. One that has a process stays until the next start of Baton.
    pub(super) fn remove_groups(&self) {
        self.groups().for_each(cgroup::remove);
    }

    async fn is_gone(&self) -> bool {
        if !self.look().await.is_empty() {
            return false;
        }
        sleep(CONFIRM_AFTER).await;
        self.look().await.is_empty()
    }

    async fn look(&self) -> Vec<ProcessEntry> {
        self.run_blocking(Self::members).await
    }

    async fn signal_all(&self, signal: Signal) -> Vec<ProcessEntry> {
        self.run_blocking(move |tree| tree.signal_members(signal)).await
    }

    /// Reading the process table takes milliseconds, too long for the runtime's threads.
    async fn run_blocking(
        &self,
        work: impl Fn(&Self) -> Vec<ProcessEntry> + Clone + Send + 'static,
    ) -> Vec<ProcessEntry> {
        let tree = self.clone();
        let there = work.clone();
        // While the runtime shuts down there are no blocking threads; run it here.
        tokio::task::spawn_blocking(move || there(&tree)).await.unwrap_or_else(|_| work(self))
    }

    /// Signals every member and returns them.
    pub(super) fn signal_members(&self, signal: Signal) -> Vec<ProcessEntry> {
        let members = self.members();
        if signal == Signal::KILL {
            // As one, so that nothing forks faster than it is killed.
            self.groups().for_each(cgroup::kill);
        }
        // Signal a group as one, so that nothing can fork out of it in between.
        let agents = self.leaders.iter().filter(|leader| leader.guard.is_none());
        let groups: Vec<Pid> = agents.filter_map(group_of).collect();
        for &group in &groups {
            let _ = kill_process_group(group, signal);
        }
        // Not twice: some programs abort on a second TERM.
        let is_signalled =
            |entry: &ProcessEntry| pid_of(entry.group).is_some_and(|group| groups.contains(&group));
        let is_last = members.iter().all(|entry| self.guard(entry).is_some());
        for member in members.iter().filter(|entry| !is_signalled(entry)) {
            let is_due = match self.guard(member) {
                None => true,
                // Without its keeper a process could get away; nothing is left when the keeper is alone.
                Some(TreeGuard::Keeper) => is_last,
                // Everything inside ends with it, so a polite signal is for the others only.
                Some(TreeGuard::Namespace) => is_last || signal == Signal::KILL,
            };
            if is_due {
                member.signal(signal);
            }
        }
        members
    }

    /// All living processes of the tree.
    pub fn members(&self) -> Vec<ProcessEntry> {
        // A descendant starts after its ancestor, so older processes are not members.
        let oldest = self.leaders.iter().map(|leader| leader.started.unwrap_or(0)).min();
        let born = oldest.filter(|_| self.is_complete).unwrap_or(0);
        let myself = std::process::id();
        let marks = self
            .attempts
            .iter()
            .flat_map(|attempt| [ATTEMPT_ID, RUN_ID].map(|name| format!("{name}={attempt}").into_bytes()));
        let marks = marks.collect();
        let grouped: BTreeSet<u32> = self.groups().flat_map(cgroup::pids).collect();
        let mut candidates = Vec::new();
        let mut members = BTreeMap::new();
        let is_table = table::visit(|entry| {
            if entry.started < born || entry.pid == myself {
                return;
            }
            candidates.push(entry);
            if self.is_leader(&entry) || grouped.contains(&entry.pid) || entry.has_any_variable(&marks) {
                members.insert(entry.pid, entry);
            }
        });
        if !is_table {
            return self.leaders.iter().filter_map(group_alone).collect();
        }
        self.add_groups(&candidates, &mut members);
        add_children(&candidates, &mut members);
        members.into_values().filter(|entry| !entry.is_zombie).collect()
    }

    /// What the process is to the agent's, when it is not one of them.
    fn guard(&self, entry: &ProcessEntry) -> Option<TreeGuard> {
        let is_it =
            |leader: &&ProcessIdentity| leader.pid == entry.pid && leader.started == Some(entry.started);
        self.leaders.iter().find(is_it).and_then(|leader| leader.guard)
    }

    fn is_leader(&self, entry: &ProcessEntry) -> bool {
        self.leaders.iter().any(|leader| leader.pid == entry.pid && leader.started == Some(entry.started))
    }

    /// A group id stays in use while the group has members. So one known member vouches for the others, even if the leader
    /// is gone; without one the id may have been reused.
    fn add_groups(&self, candidates: &[ProcessEntry], members: &mut BTreeMap<u32, ProcessEntry>) {
        for leader in &self.leaders {
            if members.values().any(|member| member.group == leader.pid) {
                let group = candidates.iter().filter(|entry| entry.group == leader.pid);
                members.extend(group.map(|entry| (entry.pid, *entry)));
            }
        }
    }
}

/// The group of a leader, unless its pid may belong to another process.
fn group_of(leader: &ProcessIdentity) -> Option<Pid> {
    match leader.status() {
        ProcessStatus::Alive | ProcessStatus::Unreaped | ProcessStatus::Unknown => pid_of(leader.pid),
        ProcessStatus::Gone => None,
    }
}

/// Without a process table only the group is visible: one entry stands for it.
fn group_alone(leader: &ProcessIdentity) -> Option<ProcessEntry> {
    match leader.status() {
        ProcessStatus::Gone | ProcessStatus::Unreaped => None,
        ProcessStatus::Alive | ProcessStatus::Unknown => {
            Some(ProcessEntry { pid: leader.pid, parent: 0, group: leader.pid, started: 0, is_zombie: false })
        }
    }
}

fn add_children(candidates: &[ProcessEntry], members: &mut BTreeMap<u32, ProcessEntry>) {
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
