//! Claims: in core's order, never twice, never too early.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use baton_core::base::id::TaskId;
use baton_core::base::priority::Priority;
use baton_core::base::text::Role;
use baton_core::records::change::Change;
use baton_core::records::effect::Effect;
use baton_core::schedule::{AgentIntake, Capacity, LimitsByKey};
use baton_core::task::TaskSpec;
use baton_core::task::state::StateName;
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::claim::{ClaimRequest, ClaimedTask};

use super::Fixture;
use super::make::{
    agent, at, attempt_ids, claim_one, coding, complete, create, create_all, created, human, load, no_limits,
    request, role, settled, spec, task_id, text, transition, with_commits, write,
};

fn ids(claimed: &[ClaimedTask]) -> Vec<TaskId> {
    claimed.iter().map(|claimed| claimed.task.value.id()).collect()
}

async fn claim<S: Backend>(store: &S, request: ClaimRequest) -> Vec<TaskId> {
    ids(&store.claim(request).await.unwrap())
}

pub(crate) async fn claims_follow_the_order<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let urgent = TaskSpec { priority: Priority::P0, ..spec(9) };
    for spec in [spec(3), spec(1), spec(2), urgent] {
        write(&store, create(spec, &[])).await;
    }
    let listed: Vec<TaskId> = store.ready(3).await.unwrap().iter().map(|task| task.value.id()).collect();
    assert_eq!(listed, [task_id(9), task_id(1), task_id(2)]);
    assert_eq!(claim(&store, request("worker", 2)).await, [task_id(9), task_id(1)]);
    assert_eq!(store.ready_count().await.unwrap(), 2);
    assert_eq!(claim(&store, request("worker", 0)).await, []);
    assert_eq!(claim(&store, request("worker", 5)).await, [task_id(2), task_id(3)]);
    assert_eq!(claim(&store, request("worker", 5)).await, []);
}

pub(crate) async fn a_worker_gets_only_the_roles_it_serves<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for (number, name) in [(1, "review"), (2, "implement"), (3, "design"), (4, "review")] {
        write(&store, create(TaskSpec { role: role(name), ..spec(number) }, &[])).await;
    }
    let mut wanted = request("worker", 9);
    wanted.agents = BTreeMap::from([(role("design"), agent("claude")), (role("review"), agent("codex"))]);
    let claimed = store.claim(wanted).await.unwrap();
    assert_eq!(ids(&claimed), [task_id(1), task_id(3), task_id(4)], "one order over all of its roles");
    assert_eq!(claimed[0].lease.agent, agent("codex"));
    assert_eq!(store.ready_count().await.unwrap(), 1);
}

pub(crate) async fn limits_count_everything_that_is_running<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=6 {
        write(&store, created(number, &[])).await;
    }
    for number in 11..=13 {
        write(&store, create(TaskSpec { role: role("review"), ..spec(number) }, &[])).await;
    }
    let wanted = |count, capacity| {
        let agents = BTreeMap::from([(Role::implement(), agent("claude")), (role("review"), agent("codex"))]);
        ClaimRequest { agents, capacity, ..request("worker", count) }
    };
    let two_of_a_role = Capacity { total_max: 5, per_role: LimitsByKey::all(2), ..no_limits() };
    let first = claim(&store, wanted(9, two_of_a_role.clone())).await;
    assert_eq!(
        first,
        [task_id(1), task_id(2), task_id(11), task_id(12)],
        "those behind a full role still go"
    );
    assert_eq!(claim(&store, wanted(9, two_of_a_role)).await, []);

    let five_in_all = Capacity { total_max: 5, ..no_limits() };
    assert_eq!(claim(&store, wanted(9, five_in_all.clone())).await, [task_id(3)]);
    assert_eq!(claim(&store, wanted(9, five_in_all.clone())).await, []);
    let claude_is_full = Capacity { per_agent: LimitsByKey::all(3), ..no_limits() };
    assert_eq!(claim(&store, wanted(1, claude_is_full)).await, [task_id(13)]);

    let running = load(&store, task_id(1)).await;
    write(&store, transition(&running, Command::Cancel { reason: None }, &human(5))).await;
    let six_in_all = Capacity { total_max: 6, ..five_in_all };
    assert_eq!(claim(&store, wanted(9, six_in_all)).await, [task_id(4)], "one has ended");
}

pub(crate) async fn a_paused_agent_claims_nothing<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[])).await;
    let now = store.now().await.unwrap();
    let paused = AgentIntake::default().after_systemic_failure(now).after_systemic_failure(now);
    let mut wanted = request("worker", 1);
    wanted.intakes.insert(agent("claude"), paused);
    assert_eq!(claim(&store, wanted).await, []);
    assert_eq!(claim(&store, request("worker", 1)).await, [task_id(1)]);
}

pub(crate) async fn backpressure_stops_new_work_but_not_resumed_work<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=3 {
        write(&store, create(coding(number), &[])).await;
    }
    for _ in 1..=2 {
        let claimed = claim_one(&store).await;
        write(&store, settled(&claimed, with_commits(), 100)).await;
    }
    let one_unaccepted =
        || ClaimRequest { capacity: Capacity { unaccepted_max: 1, ..no_limits() }, ..request("worker", 9) };
    assert_eq!(claim(&store, one_unaccepted()).await, []);
    let rejected = load(&store, task_id(1)).await;
    write(&store, transition(&rejected, Command::Reject { reason: text("Try again") }, &human(200))).await;
    assert_eq!(claim(&store, one_unaccepted()).await, [task_id(1)], "resumed work makes the pile smaller");
    let accepted = load(&store, task_id(2)).await;
    write(&store, transition(&accepted, Command::Accept { force: false }, &human(300))).await;
    assert_eq!(claim(&store, one_unaccepted()).await, [task_id(3)]);
}

pub(crate) async fn a_claim_is_atomic<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[])).await;
    let claimed = claim_one(&store).await;
    assert_eq!(claimed.task.version, 2);
    assert_eq!(claimed.task.value.state().name(), StateName::Claimed);
    assert_eq!(store.task(task_id(1)).await.unwrap(), Some(claimed.task.clone()));
    assert_eq!(store.leases().await.unwrap(), std::slice::from_ref(&claimed.lease));
    let attempts = store.attempts(task_id(1)).await.unwrap();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].attempt.id, claimed.lease.attempt);
    assert_eq!(store.events_after(1, 10).await.unwrap().len(), 1);
    let effects = store.pending_effects(None, 10).await.unwrap();
    assert_eq!(effects[0].effect, Effect::StartAgent { task: task_id(1), attempt: claimed.lease.attempt });

    write(&store, settled(&claimed, complete(), 50)).await;
    assert_eq!(store.leases().await.unwrap(), [], "the lease goes with its attempt");
}

/// Each task depends on up to two before it, so that chains and fan-outs both occur.
fn tangle(count: u32) -> Vec<Vec<u32>> {
    let edges = |number: u32| match number % 7 {
        0 | 3 => Vec::new(),
        1 => vec![number - 1],
        2 => vec![number / 2],
        _ => vec![number - 3, number / 3],
    };
    (0..count).map(edges).collect()
}

pub(crate) async fn sixteen_claimers_share_ten_thousand_tasks<F: Fixture>() {
    const TASKS: u32 = 10_000;
    const CLAIMERS: u32 = 16;
    let place = F::fresh().await;
    let store = place.open().await;
    let edges = Arc::new(tangle(TASKS));
    create_all(&store, 0, &edges).await;

    let done = Arc::new(Mutex::new(BTreeSet::new()));
    let claimers: Vec<_> = (0..CLAIMERS)
        .map(|number| {
            tokio::spawn(claim_until_empty(store.clone(), number, Arc::clone(&edges), Arc::clone(&done)))
        })
        .collect();
    let mut claimed = 0;
    for claimer in claimers {
        claimed += claimer.await.unwrap();
    }
    assert_eq!(claimed, TASKS, "each once");
    assert_eq!(store.ready_count().await.unwrap(), 0);
    assert_eq!(store.leases().await.unwrap(), []);
}

/// Claims, checks and settles until all are done. Returns its share.
async fn claim_until_empty<S: Backend>(
    store: S,
    number: u32,
    edges: Arc<Vec<Vec<u32>>>,
    done: Arc<Mutex<BTreeSet<u32>>>,
) -> u32 {
    let worker = format!("worker-{number}");
    let mut news = store.subscribe();
    let mut count = 0;
    loop {
        news.borrow_and_update();
        let wanted = ClaimRequest { attempt_ids: attempt_ids(1 + number % 3), ..request(&worker, 0) };
        let claimed = store.claim(wanted).await.unwrap();
        if claimed.is_empty() {
            if done.lock().unwrap().len() == edges.len() {
                return count;
            }
            news.changed().await.unwrap();
        }
        for claim in claimed {
            let task = claim.task.value.id().bits();
            {
                let mut done = done.lock().unwrap();
                let waits_on = &edges[task as usize];
                assert!(waits_on.iter().all(|on| done.contains(on)), "{task} before one of {waits_on:?}");
                assert!(done.insert(task), "{task} twice");
            }
            count += 1;
            let change = settled(&claim, complete(), at(1).ms());
            write(&store, Change { effects: Vec::new(), ..change }).await;
        }
    }
}
