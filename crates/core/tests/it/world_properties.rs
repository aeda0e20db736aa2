//! The invariants over random histories: one task, and graphs of tasks with recycling and approval.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{AttemptId, CycleId, QuestionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::people::actor::Actor;
use baton_core::recycle::{Depth, RecycleReason};
use baton_core::task::attempt::AttemptEnd;
use baton_core::task::state::{ReplacedBy, ReviewMark, TaskState, TaskStatus};
use baton_core::task::{Purpose, Task};
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::samples::{actors, commit, ends, not_landed, text};
use crate::world::World;

/// Sequences per property.
const SEQUENCES: u32 = 10_000;
const EVENTS_MAX: usize = 200;

/// One random event: what, on which task, with which details.
type Happening = (u8, u32, u32);

/// What can happen. The weights lean towards progress, so that histories reach deep states.
fn happen(world: &mut World, (what, place, detail): Happening, ends: &[AttemptEnd]) {
    let actor = actors()[(detail >> 8) as usize % 4].clone();
    let human = Actor::human("mia");
    if what < 12 || world.tasks.is_empty() {
        let wanted = (detail >> 16) % 3;
        let depends_on: BTreeSet<TaskId> =
            (0..wanted).filter_map(|nth| world.nth(place.wrapping_mul(31).wrapping_add(nth * 7))).collect();
        world.create(TaskType::ALL[detail as usize % 7], &depends_on);
        return;
    }
    let Some(id) = world.nth(place) else { return };
    let task = world.tasks[&id].value.clone();
    let before = task.state().clone();
    let outcome = match what {
        12..=70 => forward(world, &task, detail, ends),
        71..=90 => {
            let attempt = AttemptId::from_bits(u64::from(detail % 400));
            world.command(
                id,
                Command::Settle { attempt, end: ends[detail as usize % ends.len()].clone() },
                Actor::Baton,
            )
        }
        91..=110 => {
            let question = QuestionId::from_bits(detail % 400);
            let answered_by = [AnsweredBy::human("mia"), AnsweredBy::Queued, AnsweredBy::Expiry]
                [place as usize % 3]
                .clone();
            world.command(id, Command::Reply { question, answer: text("RETRY"), answered_by }, actor)
        }
        111..=125 => world.command(id, Command::Accept { force: detail & 1 == 1 }, actor),
        126..=140 => world.command(id, Command::Reject { reason: text("no") }, actor),
        141..=160 => world.command(id, Command::Recycle { reason: RecycleReason::TooLarge }, actor),
        161..=170 => world.command(id, Command::ReportConflict { detail: text("a.rs") }, Actor::Baton),
        171..=180 => world.command(id, Command::Release, actor),
        181..=185 => world.command(id, Command::SubmitPlan, actor),
        186..=205 => {
            world.approve(id, 1 + detail % 4, detail);
            Ok(())
        }
        206..=212 => world.command(id, Command::Retry, actor),
        213..=216 => world.command(id, Command::Cancel { reason: None }, actor),
        217..=222 => {
            let question =
                task.state().pending_question().map_or(QuestionId::from_bits(1), |pending| pending.id);
            world.command(id, Command::FailClosed { question, reason: text("nobody") }, actor)
        }
        223..=230 => {
            let session = format!("chat-{}", detail % 3).parse().unwrap();
            let of_session = |world: &World| {
                world.tasks.values().filter(|stored| stored.value.spec().session_id == session).count()
            };
            let count = of_session(world);
            world.chat(&session);
            // I3: exactly one more, and the group exists.
            assert_eq!(of_session(world), count + 1);
            assert!(world.sessions.contains_key(&session));
            Ok(())
        }
        231..=240 => {
            if detail.is_multiple_of(16) {
                world.crash_and_restart();
            }
            Ok(())
        }
        _ => world.command(id, Command::Replace { by: vec![id] }, human),
    };
    let after = &world.tasks[&id].value;
    // I16: nothing leaves Done, and only a person's retry leaves Cancelled.
    let is_final = match &before {
        TaskState::Done { .. } => true,
        TaskState::Cancelled { .. } => {
            !matches!(after.state(), TaskState::Incoming | TaskState::Breakdown { .. })
        }
        _ => false,
    };
    if is_final {
        assert_eq!(after.state(), &before);
    }
    if outcome.is_err() {
        assert_eq!(after, &task, "a refusal changed the task");
    }
}

/// The next step of a working system with this task.
fn forward(world: &mut World, task: &Task, detail: u32, ends: &[AttemptEnd]) -> Result<(), CommandRefusal> {
    let id = task.id();
    let human = Actor::human("mia");
    match task.state() {
        TaskState::Incoming | TaskState::NeedsContinuation { .. } => {
            let claimed = world.claim(id, Actor::Baton);
            if claimed.is_ok() {
                // I13: all its dependencies are done, or replaced by tasks that all are.
                for on in &world.asked_to_wait_on[&id] {
                    assert!(world.work_is_done(*on), "{id} started before {on}");
                }
            }
            claimed.map(|_| ())
        }
        TaskState::Held | TaskState::Breakdown { released: false } => {
            world.command(id, Command::Release, human)
        }
        TaskState::Breakdown { released: true } => world.claim(id, Actor::Baton).map(|_| ()),
        TaskState::Claimed { attempt } if detail.is_multiple_of(11) => {
            world.command(id, Command::ExpireLease { attempt: attempt.id }, Actor::Baton)
        }
        TaskState::Claimed { attempt } if detail.is_multiple_of(3) => {
            // Its agent starts, asks or is answered, or another one tries to.
            let owner =
                crate::samples::owner((attempt.id.bits() % 251) as u8 + u8::from(detail.is_multiple_of(5)));
            let command = match (task.ledger().asking.cycle().is_some(), task.pending_question()) {
                (_, Some(question)) => Command::Reply {
                    question: question.id,
                    answer: text("80"),
                    answered_by: AnsweredBy::human("mia"),
                },
                (true, None) if detail & 64 == 0 => {
                    let question = QuestionDraft::new(QuestionKind::Clarification, text("Which port?"));
                    Command::Ask { owner, question }
                }
                (true | false, None) => {
                    let cycle = CycleId::from_bits(attempt.id.bits());
                    Command::Start { attempt: attempt.id, cycle, owner }
                }
            };
            world.command(id, command, Actor::Baton)
        }
        TaskState::Claimed { attempt } => {
            let end = ends[detail as usize % ends.len()].clone();
            let settle = Command::Settle { attempt: attempt.id, end: end.clone() };
            world.command(id, settle.clone(), Actor::Baton)?;
            // I15: what counts is what was measured. I16: the same result again is stale.
            assert_eq!(
                world.tasks[&id].value.ledger().last_end.as_ref().map(|last| &last.verified),
                Some(&end.verified)
            );
            assert!(world.command(id, settle, Actor::Baton).is_err());
            Ok(())
        }
        TaskState::AwaitingResponse { .. } | TaskState::Blocked { .. } => {
            let question = task.state().pending_question().unwrap().id;
            let is_choice = task.state().pending_question().unwrap().kind() == QuestionKind::Escalation;
            let answers =
                if is_choice { ["SPLIT", "RETRY", "RETRY", "CANCEL"] } else { ["YES", "NO", "YES", "NO"] };
            let answer = text(answers[detail as usize % 4]);
            let reply = Command::Reply { question, answer, answered_by: AnsweredBy::human("mia") };
            world.command(id, reply.clone(), human.clone())?;
            assert!(world.command(id, reply, human).is_err(), "the second answer was taken");
            Ok(())
        }
        TaskState::Provisional(work) if work.mark == ReviewMark::Plan => {
            assert!(world.approve(id, 1 + detail % 4, detail) || replaced_is_gone(world, task));
            Ok(())
        }
        TaskState::Provisional(work) if work.mark.is_too_large() => {
            world.command(id, Command::Recycle { reason: RecycleReason::TooLarge }, Actor::Baton)
        }
        TaskState::Provisional(_) if detail.is_multiple_of(2) => {
            world.command(id, Command::EnterLane { force: false }, human)
        }
        TaskState::Provisional(_) => world.command(id, Command::Accept { force: false }, human),
        TaskState::Landing(_) => {
            let reasons = not_landed();
            let leave = match detail as usize % 6 {
                number if number < reasons.len() => {
                    Command::SendBack { reason: Box::new(reasons[number].clone()) }
                }
                _ => Command::Land { commit: commit(), verified: Vec::new(), evidence: None },
            };
            world.command(id, leave, Actor::Baton)
        }
        TaskState::Failed { .. } => world.command(id, Command::Retry, human),
        TaskState::Recycled { .. } | TaskState::Done { .. } | TaskState::Cancelled { .. } => Ok(()),
    }
}

/// The human cancelled the recycled task while it was being planned, or another breakdown plans it or has planned it by now;
/// the plan can no longer be approved.
fn replaced_is_gone(world: &World, breakdown: &Task) -> bool {
    match breakdown.spec().purpose {
        Purpose::Breakdown { replaces_task_id: Some(replaced), .. } => {
            let planning = ReplacedBy::Planning(breakdown.id());
            *world.tasks[&replaced].value.state() != TaskState::Recycled { replaced_by: planning }
        }
        Purpose::Breakdown { .. } | Purpose::Work | Purpose::Run => false,
    }
}

/// The invariants of every task.
fn check_task(world: &World, task: &Task, pending: &[&QuestionRecord], open_attempts: usize) {
    let id = task.id();
    let status = task.state().status();
    // I1: exactly one pending question while it waits, and none otherwise.
    // A running agent may have asked; then there is one too.
    let waits = matches!(status, TaskStatus::AwaitingResponse | TaskStatus::Blocked);
    let at_work = matches!(task.state(), TaskState::Claimed { .. }) && task.pending_question().is_some();
    assert_eq!(pending.len(), usize::from(waits || at_work), "{id} is {status:?}");
    assert_eq!(waits, task.state().pending_question().is_some());
    for question in pending {
        assert!(!question.question.text().as_str().trim().is_empty());
        assert_eq!(task.pending_question(), Some(&question.question));
    }
    // I2
    assert!(status != TaskStatus::Blocked || task.spec().task_type == TaskType::DangerousOp);
    // I16: the live attempt is the only open one of its task.
    assert_eq!(open_attempts, usize::from(task.state().live_attempt().is_some()), "{id}");
    // I14: an agent's breakdown only ever replaces a task that was not itself a part.
    if let Purpose::Breakdown { replaces_task_id: Some(replaced), by_hand, .. } = task.spec().purpose {
        let replaced = &world.tasks[&replaced].value;
        assert!(by_hand || replaced.spec().depth == Depth::Original);
        // I4: lineage stays within the session.
        assert_eq!(replaced.spec().session_id, task.spec().session_id);
    }
}

fn check_world(world: &World) {
    let mut pending: BTreeMap<TaskId, Vec<&QuestionRecord>> = BTreeMap::new();
    for question in world.questions.values().filter(|question| question.state == QuestionState::Pending) {
        pending.entry(question.task_id.unwrap()).or_default().push(question);
    }
    let mut open_attempts: BTreeMap<TaskId, usize> = BTreeMap::new();
    for attempt in world.attempts.values().filter(|attempt| attempt.closing.is_none()) {
        *open_attempts.entry(attempt.task_id).or_default() += 1;
    }
    for (id, stored) in &world.tasks {
        let pending = pending.get(id).map_or(&[][..], Vec::as_slice);
        check_task(world, &stored.value, pending, open_attempts.get(id).copied().unwrap_or_default());
        // Readiness by counters equals readiness by inspection.
        let open = world.graph.waits_on(*id).filter(|on| !world.is_satisfied(*on)).count();
        assert_eq!(world.open_blockers(*id) as usize, open, "{id}");
    }
    assert!(world.closings.values().all(|count| *count == 1), "an attempt ended twice");
}

fn run(sequences: u32, happenings: impl Strategy<Value = Vec<Happening>>, first: impl Fn(&mut World)) {
    let ends = ends();
    let mut runner =
        TestRunner::new(Config { cases: sequences, failure_persistence: None, ..Config::default() });
    runner
        .run(&happenings, |happenings| {
            let mut world = World::default();
            first(&mut world);
            for (number, happening) in happenings.into_iter().enumerate() {
                happen(&mut world, happening, &ends);
                // Checking everything after every step is too slow; what a step breaks stays broken.
                if number.is_multiple_of(16) {
                    check_world(&world);
                }
            }
            check_world(&world);
            Ok(())
        })
        .unwrap();
}

#[test]
fn i1_to_i5_and_i13_to_i16_hold_over_graphs_of_tasks() {
    let happenings = proptest::collection::vec((any::<u8>(), any::<u32>(), any::<u32>()), 1..=EVENTS_MAX);
    run(SEQUENCES, happenings, |_| {});
}

#[test]
fn i1_to_i5_and_i14_to_i16_hold_over_the_life_of_one_task() {
    // No new tasks and no chat: everything happens to the one task and its descendants.
    let happenings = proptest::collection::vec((12_u8..223, any::<u32>(), any::<u32>()), 1..=EVENTS_MAX);
    run(SEQUENCES, happenings, |world| {
        world.create(TaskType::Implementation, &BTreeSet::new());
    });
}
