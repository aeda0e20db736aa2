//! What the machines of a simulated fleet share: the pace of their agents, and the count of what they do.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::text::Role;
use baton_core::base::time::Timestamp;
use baton_core::schedule::worker::{Worker, WorkerDuty};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::lag::Lag;
use crate::machine::Machine;
use crate::place::Place;

/// A worker as it describes itself.
pub(crate) fn described(name: &str, capacity: u32, started_at: Timestamp) -> Worker {
    Worker {
        name: name.to_owned(),
        host: name.to_owned(),
        duty: WorkerDuty::Worker,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        roles: BTreeSet::from([Role::implement(), Role::breakdown()]),
        agents: BTreeSet::from(["claude".parse().unwrap()]),
        labels: BTreeSet::new(),
        capacity,
        is_draining: false,
        warm: BTreeSet::new(),
        started_at,
    }
}

/// One count for each thing that is counted.
macro_rules! tally {
    ($($name:ident),* $(,)?) => {
        #[derive(Default)]
        pub(crate) struct Tally { $(pub $name: AtomicU64),* }

        #[derive(Clone, Copy)]
        pub(crate) struct Count { $(pub $name: u64),* }

        impl Tally {
            pub(crate) fn count(&self) -> Count {
                Count { $($name: self.$name.load(Ordering::Relaxed)),* }
            }
        }

        impl Count {
            pub(crate) fn since(&self, before: &Self) -> Self {
                Self { $($name: self.$name - before.$name),* }
            }
        }
    };
}

tally! {
    // Tasks that were claimed, and times it was asked for work.
    claimed, claims, started,
    // Attempts that ended, tasks that were accepted, questions that were asked.
    settled, accepted, asked,
    // Leases that were renewed, statements that did it, signs of life.
    renewed, renewals, beats,
    // Leases that were lost although their machine was there.
    lost,
    // Looks into the outbox, and effects carried out.
    outbox_looks, effects,
    // Looks for logs that are watched, pieces that arrived.
    log_looks, log_pieces,
}

pub(crate) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}

pub(crate) struct Fleet {
    /// How much faster than real ones the agents are.
    pub(crate) speed: watch::Sender<f64>,
    pub(crate) end: watch::Sender<bool>,
    pub(crate) tally: Tally,
    /// From a commit to the reader of events.
    pub(crate) lag: Lag,
    /// Since when a task waits to be claimed, of those that are watched; and how long the others waited.
    pub(crate) waiting: Mutex<HashMap<TaskId, Instant>>,
    pub(crate) waited: Mutex<Vec<Duration>>,
    /// Work to be accepted and questions to be answered, for the people at the servers.
    pub(crate) accepting: mpsc::UnboundedSender<TaskId>,
    pub(crate) asking: mpsc::UnboundedSender<(TaskId, QuestionId)>,
    /// Attempts begun until now that are taken as half done, so that the fleet is in full swing at once.
    pub(crate) under_way: u64,
    pub(crate) machines: u32,
}

/// What comes to the people at the servers.
pub(crate) struct Inbox {
    pub(crate) accepting: mpsc::UnboundedReceiver<TaskId>,
    pub(crate) asking: mpsc::UnboundedReceiver<(TaskId, QuestionId)>,
}

impl Fleet {
    pub(crate) fn new(machines: u32, under_way: u32) -> (Arc<Self>, Inbox) {
        let (accepting, to_accept) = mpsc::unbounded_channel();
        let (asking, to_answer) = mpsc::unbounded_channel();
        let fleet = Self {
            speed: watch::Sender::new(1.0),
            end: watch::Sender::new(false),
            tally: Tally::default(),
            lag: Lag::default(),
            waiting: Mutex::default(),
            waited: Mutex::default(),
            accepting,
            asking,
            under_way: u64::from(under_way),
            machines,
        };
        (Arc::new(fleet), Inbox { accepting: to_accept, asking: to_answer })
    }

    /// So many machines with a store of their own each, and what they run in the background.
    pub(crate) async fn machines(
        self: &Arc<Self>,
        place: &Place,
        name: &str,
        agents: u32,
    ) -> (Vec<Arc<Machine>>, JoinSet<()>) {
        let mut machines = Vec::new();
        let mut services = JoinSet::new();
        for number in 0..self.machines {
            let store = place.open(name).await;
            machines.push(Machine::new(store, format!("machine-{number:03}"), agents, Arc::clone(self)));
        }
        // Once all are there: those that work already would hold up the rest.
        for machine in &machines {
            machine.start(&mut services);
        }
        (machines, services)
    }

    /// Ends everything, and closes the stores.
    pub(crate) async fn close(&self, machines: Vec<Arc<Machine>>, services: JoinSet<()>) {
        self.end.send_replace(true);
        services.join_all().await;
        for machine in machines {
            machine.close().await;
        }
    }
}
