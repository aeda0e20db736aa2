//! The content of every fixture: one row of each kind, and tasks in every stage. The ids are the same in every
//! fixture, so that one check fits all.

use baton_core::base::id::{AttemptId, ProjectId, QuestionId, RunId, SessionId};
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::task::state::StateName;
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::claim::ClaimRequest;
use baton_store::model::query::TaskFilter;

use crate::suite::make::{
    approval, claim_one, coding, create, created, finish_one, human, load, ready_ids, recycle, request,
    settled, task_id, transition, with_commits, write,
};
use crate::suite::rows::{first_receipt, limited_project, one_of_each, token};
use crate::suite::workers::worker;

/// Tasks: 1 from a message, 20 to 22, 30 with its breakdown and two parts, and 31.
const TASKS: usize = 9;

/// An attempt no fixture has.
const NEW_ATTEMPT: u64 = 0x7000_0000;

/// Writes the rows. At the end 1 and 20 are done, 21 is claimed, 22 depends on it, 30 is replaced by 40 and 41, and
/// 31 depends on the latter.
pub(crate) async fn fill<S: Backend>(store: &S) {
    // One project has its own limit, so claims are counted per share.
    write(store, Change::new().put(Record::Project(limited_project()), WriteGuard::New)).await;
    let receipt = Record::Receipt(first_receipt());
    write(store, one_of_each().put(receipt, WriteGuard::New)).await;
    finish_one(store).await;
    write(store, created(20, &[])).await;
    write(store, created(21, &[20])).await;
    write(store, created(22, &[20, 21])).await;
    finish_one(store).await;
    claim_one(store).await;
    write(store, create(coding(30), &[])).await;
    write(store, created(31, &[30])).await;
    let breakdown = recycle(store, 30).await;
    let approved = approval(store, task_id(30), breakdown, &[task_id(40), task_id(41)]).await;
    write(store, approved).await;
    store.beat(&worker("build-7")).await.unwrap();
    assert!(store.lock("steward", "build-7", 60_000).await.unwrap());
}

/// Everything is still there, and work continues.
pub(crate) async fn check<S: Backend>(store: &S) {
    let chat: SessionId = "chat".parse().unwrap();
    let project = store.project(ProjectId::from_bits(1)).await.unwrap().unwrap().value;
    assert_eq!(project.title.as_str(), "Share links");
    assert_eq!(project.description, "With 'quotes' and \u{1F3B5}");
    assert!(store.session(&chat).await.unwrap().is_some());
    assert_eq!(store.messages(&chat, 0, 10).await.unwrap().len(), 1);
    assert!(store.attempt(AttemptId::from_bits(u64::MAX)).await.unwrap().is_some());
    assert!(store.question(QuestionId::from_bits(9)).await.unwrap().is_some());
    assert!(store.plan(task_id(7)).await.unwrap().is_some());
    assert!(store.run(RunId::from_bits(3)).await.unwrap().is_some());
    assert!(store.phase_loop(&chat).await.unwrap().is_some());

    let tasks = store.tasks(&TaskFilter::default(), None, 100).await.unwrap().items;
    assert_eq!(tasks.len(), TASKS);
    for (number, state) in [
        (1, StateName::Done),
        (20, StateName::Done),
        (21, StateName::Claimed),
        (22, StateName::Incoming),
        (30, StateName::Recycled),
        (31, StateName::Incoming),
    ] {
        assert_eq!(load(store, task_id(number)).await.value.state().name(), state, "task {number}");
    }
    assert_eq!(store.leases().await.unwrap().len(), 1);
    assert_eq!(store.attempts(task_id(20)).await.unwrap().len(), 1);
    assert!(store.dependencies(task_id(31)).await.unwrap().iter().any(|edge| edge.on == task_id(41)));
    let events = store.events_after(0, 1_000).await.unwrap();
    let last = events.last().unwrap().seq;
    assert_eq!(events.len() as u64, last, "no gap");

    // Kinds that an early schema lacked are empty but can be queried.
    store.holds().await.unwrap();
    for seen in store.workers().await.unwrap() {
        assert_eq!(seen.worker, worker("build-7"));
    }
    for kept in store.access_tokens().await.unwrap() {
        assert_eq!(kept.value, token());
    }
    assert_eq!(ready_ids(store).await, [task_id(40)]);
    // The fixture's attempts use the small ids this process would hand out again.
    let wanted =
        ClaimRequest { attempt_ids: vec![AttemptId::from_bits(NEW_ATTEMPT)], ..request("worker", 1) };
    let claimed = store.claim(wanted).await.unwrap().remove(0);
    assert_eq!(claimed.task.value.id(), task_id(40));
    write(store, settled(&claimed, with_commits(), 20_000_000)).await;
    let finished = load(store, task_id(40)).await;
    write(store, transition(&finished, Command::Accept { force: false }, &human(20_000_001))).await;
    assert_eq!(ready_ids(store).await, [task_id(41)], "what waited for it is ready, and nothing else");
    assert!(write(store, created(50, &[])).await > last);
}
