//! The servers of a simulated fleet, `baton up --agents 0`, and the people at them: they read along, answer questions,
//! accept work, watch logs; and one of them is the steward.

use std::sync::Arc;
use std::time::Duration;

use baton_core::base::id::{AttemptId, EffectId};
use baton_core::people::actor::Actor;
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::outbox::PendingEffect;
use baton_store::postgres::LogWatch;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::fleet::{Fleet, Inbox, add};
use crate::life;
use crate::machine::{Machine, attempt_of};
use crate::place::Place;

/// Merges at the same time, of different repositories.
const ACCEPTORS: u32 = 4;
/// A person needs a minute for an answer.
const ANSWERED_AFTER: Duration = Duration::from_mins(1);
/// Logs that somebody looks at.
const WATCHED: usize = 10;
/// The engine's own: how long a look at a log waits, how much longer its watch lasts, how often the steward says so.
const PATIENCE: Duration = Duration::from_secs(5);
const WATCH_MS: i64 = 10_000;
const STEWARD_MS: i64 = 10_000;
const STEWARD_EVERY: Duration = Duration::from_secs(3);
const EVENTS_MAX: u32 = 500;
const EFFECTS_MAX: u32 = 100;

/// Two servers; returns them with what they run.
pub(crate) async fn open(
    fleet: &Arc<Fleet>,
    inbox: Inbox,
    place: &Place,
    name: &str,
    machines: &[Arc<Machine>],
    services: &mut JoinSet<()>,
) -> Vec<Arc<Machine>> {
    let mut servers = Vec::new();
    for number in 0..2 {
        let store = place.open(name).await;
        servers.push(Machine::new(store, format!("server-{number}"), 0, Arc::clone(fleet)));
    }
    for server in &servers {
        services.spawn(read_along(Arc::clone(server)));
    }
    let Inbox { accepting, mut asking } = inbox;
    let (steward, accepting) = (Arc::clone(&servers[0]), Arc::new(Mutex::new(accepting)));
    services.spawn(serve(Arc::clone(&steward)));
    for number in 0..ACCEPTORS {
        let server = &servers[number as usize % servers.len()];
        let (server, accepting) = (Arc::clone(server), Arc::clone(&accepting));
        services.spawn(async move {
            until_end(&server.fleet, async {
                while let Some(task) = { accepting.lock().await.recv().await } {
                    let turn = format!("merge:{}", task.bits() % ACCEPTORS);
                    server.store.lock(&turn, &server.name, STEWARD_MS).await.unwrap();
                    server.apply(task, Actor::human("mia"), |_| Command::Accept { force: false }).await;
                    server.store.unlock(&turn, &server.name).await.unwrap();
                    add(&server.fleet.tally.accepted, 1);
                }
            })
            .await;
        });
    }
    let server = Arc::clone(&servers[1]);
    services.spawn(async move {
        let mut answers = JoinSet::new();
        until_end(&server.fleet, async {
            while let Some((task, question)) = asking.recv().await {
                add(&server.fleet.tally.asked, 1);
                let server = Arc::clone(&server);
                answers.spawn(async move {
                    let speed = *server.fleet.speed.borrow();
                    sleep(ANSWERED_AFTER.div_f64(speed)).await;
                    server.apply(task, Actor::human("mia"), |_| life::reply(question)).await;
                });
            }
        })
        .await;
    });
    for machine in machines.iter().take(WATCHED) {
        services.spawn(watch(Arc::clone(&servers[1]), Arc::clone(machine)));
    }
    servers
}

async fn until_end(fleet: &Fleet, work: impl Future<Output = ()>) {
    let mut end = fleet.end.subscribe();
    tokio::select! {
        () = work => {}
        _ = end.wait_for(|end| *end) => {}
    }
}

/// What every open page and every program that follows gets its news from.
async fn read_along(server: Arc<Machine>) {
    let mut changes = server.store.subscribe();
    let mut read_to = *changes.borrow();
    until_end(&server.fleet, async {
        loop {
            changes.mark_unchanged();
            let events = server.store.events_after(read_to, EVENTS_MAX).await.unwrap();
            let Some(last) = events.last() else {
                let _ = changes.changed().await;
                continue;
            };
            read_to = last.seq;
            // One of them is measured.
            if server.name == "server-0" {
                server.fleet.lag.read(read_to);
            }
        }
    })
    .await;
}

/// The steward's courier: notices are told, and what is about an attempt is left to a machine that is there.
async fn serve(server: Arc<Machine>) {
    let mut changes = server.store.subscribe();
    let mut read_to: Option<EffectId> = None;
    let renewing = async {
        loop {
            server.store.lock("steward", &server.name, STEWARD_MS).await.unwrap();
            sleep(STEWARD_EVERY).await;
        }
    };
    let serving = async {
        loop {
            changes.mark_unchanged();
            let pending = server.store.pending_effects(read_to, EFFECTS_MAX).await.unwrap();
            let Some(last) = pending.last() else {
                server.store.open_runs().await.unwrap();
                let _ = changes.changed().await;
                continue;
            };
            read_to = Some(last.id);
            see_to(&server, &pending).await;
        }
    };
    let both = async {
        tokio::select! {
            () = renewing => {}
            () = serving => {}
        }
    };
    Box::pin(until_end(&server.fleet, both)).await;
}

async fn see_to(server: &Machine, pending: &[PendingEffect]) {
    let about: Vec<AttemptId> = pending.iter().filter_map(|one| attempt_of(&one.effect)).collect();
    if !about.is_empty() {
        server.store.workers_of(&about).await.unwrap();
        server.store.now().await.unwrap();
        server.store.workers().await.unwrap();
    }
    for one in pending.iter().filter(|one| attempt_of(&one.effect).is_none()) {
        server.store.finish_effects(&[one.id]).await.unwrap();
    }
}

/// Somebody looks at the log of one agent of a machine after the other.
async fn watch(server: Arc<Machine>, machine: Arc<Machine>) {
    let line = server.store.log_channel();
    let mut seen: Option<(AttemptId, u64)> = None;
    let mut looks = 0;
    until_end(&server.fleet, async {
        loop {
            let Some(attempt) = machine.running().first().copied() else {
                sleep(Duration::from_secs(1)).await;
                continue;
            };
            looks += 1;
            let wanted_from = seen.filter(|(of, _)| *of == attempt).map(|(_, to)| to);
            let watch = LogWatch { id: format!("{}-{looks}", machine.name), attempt, wanted_from };
            let mut news = line.subscribe_pieces();
            line.watch(&watch, WATCH_MS).await.unwrap();
            let waiting = async {
                loop {
                    news.mark_unchanged();
                    if let Some(piece) = line.piece(&watch.id).await.unwrap()
                        && (wanted_from.is_none() || !piece.bytes.is_empty())
                    {
                        return piece;
                    }
                    let _ = news.changed().await;
                }
            };
            if let Ok(piece) = timeout(PATIENCE, waiting).await {
                seen = Some((attempt, piece.from + piece.bytes.len() as u64));
                add(&server.fleet.tally.log_pieces, 1);
            }
            line.end(&watch.id).await.unwrap();
        }
    })
    .await;
}
