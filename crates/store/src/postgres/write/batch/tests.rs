//! Decisions of a batch, without a server.

use baton_core::base::id::QuestionId;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::event::EventBody;
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::{Command, CommandContext, FreshIds};

use crate::model::record_kind::RecordKind;
use crate::postgres::write::batch::*;

fn id(number: u32) -> TaskId {
    TaskId::from_bits(number)
}

fn task(number: u32) -> Task {
    Task::create(TaskSpec::new(
        id(number),
        "chat".parse().unwrap(),
        TaskType::ReadInfo,
        NonBlank::new("Look").unwrap(),
        Timestamp::from_ms(1),
    ))
}

fn created(number: u32, on: &[u32]) -> Change {
    let depends_on: Vec<TaskId> = on.iter().copied().map(id).collect();
    let task = task(number);
    let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: depends_on.clone() };
    Change::create(task, &depends_on, Event { at: Timestamp::from_ms(1), by: Actor::Baton, body })
}

fn context() -> CommandContext {
    let fresh = FreshIds { question: QuestionId::from_bits(1), breakdown: id(99) };
    CommandContext { now: Timestamp::from_ms(2), actor: Actor::Baton, fresh }
}

fn claimed(number: u32) -> (Task, Change) {
    let attempt = AttemptId::from_bits(u64::from(number));
    let command =
        Command::Claim { attempt, agent: "claude".parse().unwrap(), open_blockers: 0, worker: None };
    let transition = task(number).apply(command, &context()).unwrap();
    (transition.task.clone(), Change::transition(1, transition))
}

fn done(number: u32) -> Change {
    let end = AttemptEnd {
        reported: AttemptReport::new(AttemptResult::Complete, "It is so."),
        verified: Evidence::default(),
    };
    let command = Command::Settle { attempt: AttemptId::from_bits(u64::from(number)), end };
    Change::transition(2, claimed(number).0.apply(command, &context()).unwrap())
}

fn open_blockers(batch: &WriteBatch, number: u32) -> u32 {
    batch.writes.tasks[&id(number)].open_blockers
}

#[test]
fn changes_to_one_row_are_applied_in_order() {
    let mut batch = WriteBatch::new(LockedRows::default());
    batch.add(created(1, &[])).unwrap();
    batch.add(claimed(1).1).unwrap();
    let late = batch.add(claimed(1).1).unwrap_err();
    let key = "TASK-00000001".to_owned();
    assert_eq!(
        late,
        Conflict::Moved { kind: RecordKind::Task, key, expected: WriteGuard::Version(1), found: Some(2) }
    );
    batch.add(done(1)).unwrap();
    let write = &batch.writes.tasks[&id(1)];
    assert_eq!((write.version, write.is_new), (3, true), "one row, made and done in one transaction");
    assert_eq!(batch.writes.closed, [AttemptId::from_bits(1)], "its lease goes");
    assert!(batch.writes.done.is_empty(), "nothing stored can wait on a task that was not stored");
}

#[test]
fn a_change_that_conflicts_leaves_no_trace() {
    let mut batch = WriteBatch::new(LockedRows::default());
    batch.add(created(1, &[])).unwrap();
    assert!(batch.add(created(2, &[]).and(created(1, &[]))).is_err());
    assert!(batch.add(created(3, &[9])).is_err());
    assert!(batch.add(created(4, &[5]).and(created(5, &[4]))).is_err());
    assert_eq!(batch.writes.tasks.len(), 1);
    assert_eq!(batch.writes.events.len(), 1);
    assert!(batch.writes.edges.is_empty());
    batch.add(created(2, &[])).unwrap();
}

#[test]
fn a_blocker_done_in_the_same_batch_does_not_block() {
    let mut batch = WriteBatch::new(LockedRows::default());
    batch.add(created(1, &[]).and(created(2, &[]))).unwrap();
    batch.add(created(3, &[1, 2])).unwrap();
    assert_eq!(open_blockers(&batch, 3), 2);
    batch.add(claimed(1).1).unwrap();
    batch.add(done(1)).unwrap();
    assert_eq!(open_blockers(&batch, 3), 1);
    batch.add(created(4, &[1, 2, 2])).unwrap();
    assert_eq!(open_blockers(&batch, 4), 1, "met, open, and the same again");
    assert!(batch.writes.edges[&(id(3), id(1))]);
    assert!(!batch.writes.edges[&(id(3), id(2))]);
}

#[test]
fn stored_dependents_are_unblocked_when_their_blocker_is_done() {
    let mut known = LockedRows::default();
    known.versions.insert((RecordKind::Task, id(1).to_string()), 2);
    known.tasks.insert(id(1), TaskFacts::default());
    let mut batch = WriteBatch::new(known);
    batch.add(done(1)).unwrap();
    assert_eq!(batch.writes.done, [id(1)].into());
    assert!(batch.writes.maybe_ready.is_empty(), "it was not claimable before, and is not now");
    assert!(!batch.writes.tasks[&id(1)].is_new);
}

#[test]
fn only_edges_from_new_tasks_are_self_contained() {
    assert!(is_self_contained(&created(1, &[2])));
    let add = EdgeChange::Add { task: id(1), on: id(2) };
    let rewire = EdgeChange::Rewire { from: id(1), to: vec![id(2)] };
    for edge in [add, rewire] {
        assert!(!is_self_contained(&Change { edges: vec![edge], ..Change::new() }));
    }
}
