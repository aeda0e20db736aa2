//! The loop: every phase with everything that can happen in it, and the whole walk.

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::cycle::CycleState;
use baton_core::ask::question::{Question, QuestionDraft, QuestionKind};
use baton_core::ask::refusal::{AnswerRefusal, AskRefusal};
use baton_core::base::id::{CycleId, QuestionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::owner_token::OwnerToken;
use baton_core::phase::handoff::{HandoffDecision, NamedTask, PhaseResults};
use baton_core::phase::phase_loop::{FreshCycle, GateOutcome, LoopAskOutcome, LoopHandoff, PhaseLoop};
use baton_core::phase::refusal::LoopRefusal;
use baton_core::phase::{ITERATIONS_MAX, Phase, PhaseStart};

fn text(words: &str) -> NonBlank {
    NonBlank::new(words).unwrap()
}

fn ada() -> AnsweredBy {
    AnsweredBy::human("ada")
}

fn id(number: u32) -> QuestionId {
    QuestionId::from_bits(number)
}

fn owner(number: u8) -> OwnerToken {
    OwnerToken::from_digest([number; 32])
}

fn fresh(number: u8) -> FreshCycle {
    FreshCycle { id: CycleId::from_bits(number.into()), owner: owner(number) }
}

fn question(number: u32, kind: QuestionKind) -> Question {
    QuestionDraft::new(kind, text("Shall I?")).with_id(id(number))
}

fn named(number: u32) -> NamedTask {
    NamedTask { id: TaskId::from_bits(number), title: text("a task") }
}

fn results(phase: Phase) -> PhaseResults {
    match phase {
        Phase::Hub => PhaseResults::Started,
        Phase::Plan => PhaseResults::Planned { subtasks: vec![named(1), named(2)] },
        Phase::Execute => {
            PhaseResults::Executed { completed: vec![named(1)], failed: vec![named(2)], left_out: Vec::new() }
        }
        Phase::Review => PhaseResults::Reviewed { discovered: 3, duplicates_skipped: 1 },
    }
}

fn idle() -> PhaseLoop {
    PhaseLoop::new("sess_1".parse().unwrap())
}

/// A loop in the phase, its cycle owned by `owner(1)`. The hub is one a loop has just ended in.
fn in_phase(phase: Phase) -> PhaseLoop {
    match phase {
        Phase::Hub => idle().start(PhaseStart::Plan, fresh(1)).unwrap().next.break_off(None).unwrap().next,
        Phase::Plan => idle().start(PhaseStart::Plan, fresh(1)).unwrap().next,
        Phase::Execute => idle().start(PhaseStart::Execute, fresh(1)).unwrap().next,
        Phase::Review => idle().start(PhaseStart::Review, fresh(1)).unwrap().next,
    }
}

fn asking(at: &PhaseLoop, question: Question) -> Result<PhaseLoop, AskRefusal> {
    let token = *at.cycle().map_or(&owner(1), |cycle| cycle.owner());
    match at.ask(&token, question)? {
        LoopAskOutcome::Pending { next } => Ok(*next),
        LoopAskOutcome::Again { answer, .. } => panic!("answered from memory: {answer}"),
    }
}

#[derive(Debug, Clone, Copy)]
enum Happens {
    StartPlan,
    StartExecute,
    StartReview,
    Ask,
    AskAsStranger,
    AnswerUnasked,
    GateYes,
    GateNo,
    GateUnreadable,
    GateWithForeignResults,
    BreakOff,
}

const HAPPENINGS: [Happens; 11] = [
    Happens::StartPlan,
    Happens::StartExecute,
    Happens::StartReview,
    Happens::Ask,
    Happens::AskAsStranger,
    Happens::AnswerUnasked,
    Happens::GateYes,
    Happens::GateNo,
    Happens::GateUnreadable,
    Happens::GateWithForeignResults,
    Happens::BreakOff,
];

/// The phase and iteration after it, or the code of the refusal.
type Came = Result<(Phase, u32), &'static str>;

fn at_gate(at: &PhaseLoop, says: &str, results: PhaseResults) -> Came {
    let asked = match asking(at, question(1, QuestionKind::Gate)) {
        Ok(asked) => asked,
        Err(refusal) => return Err(refusal.code()),
    };
    match asked.answer_gate(id(1), &text(says), ada(), results, fresh(2)) {
        Ok(GateOutcome::Stayed { next }) => Ok(place(&next)),
        Ok(GateOutcome::HandedOff(handed_off)) => Ok(place(&handed_off.next)),
        Err(refusal) => Err(refusal.code()),
    }
}

fn place(at: &PhaseLoop) -> (Phase, u32) {
    (at.phase(), at.iteration())
}

fn moved(result: Result<LoopHandoff, LoopRefusal>) -> Came {
    result.map(|handed_off| place(&handed_off.next)).map_err(|refusal| refusal.code())
}

fn what_came(at: &PhaseLoop, happens: Happens) -> Came {
    match happens {
        Happens::StartPlan => moved(at.start(PhaseStart::Plan, fresh(2))),
        Happens::StartExecute => moved(at.start(PhaseStart::Execute, fresh(2))),
        Happens::StartReview => moved(at.start(PhaseStart::Review, fresh(2))),
        Happens::Ask => asking(at, question(1, QuestionKind::Confirmation))
            .map(|next| place(&next))
            .map_err(|refusal| refusal.code()),
        Happens::AskAsStranger => match at.ask(&owner(9), question(1, QuestionKind::Confirmation)) {
            Ok(asked) => panic!("{asked:?}"),
            Err(refusal) => Err(refusal.code()),
        },
        Happens::AnswerUnasked => match at.answer(id(5), &text("yes"), ada()) {
            Ok(answered) => panic!("{answered:?}"),
            Err(refusal) => Err(refusal.code()),
        },
        Happens::GateYes => at_gate(at, "yes", results(at.phase())),
        Happens::GateNo => at_gate(at, "no", results(at.phase())),
        Happens::GateUnreadable => at_gate(at, "perhaps", results(at.phase())),
        Happens::GateWithForeignResults => at_gate(at, "yes", PhaseResults::Started),
        Happens::BreakOff => moved(at.break_off(None)),
    }
}

fn expected(phase: Phase, happens: Happens) -> Came {
    use Happens::{
        AnswerUnasked, Ask, AskAsStranger, BreakOff, GateNo, GateUnreadable, GateWithForeignResults, GateYes,
        StartExecute, StartPlan, StartReview,
    };
    match (phase, happens) {
        (Phase::Hub, StartPlan) => Ok((Phase::Plan, 1)),
        (Phase::Hub, StartExecute) | (Phase::Plan, GateYes) => Ok((Phase::Execute, 1)),
        (Phase::Hub, StartReview) | (Phase::Execute, GateYes) => Ok((Phase::Review, 1)),
        (Phase::Review, GateYes) => Ok((Phase::Plan, 2)),
        (Phase::Review, GateNo) | (Phase::Plan | Phase::Execute | Phase::Review, BreakOff) => {
            Ok((Phase::Hub, 1))
        }
        (Phase::Plan | Phase::Execute, GateNo) | (Phase::Plan | Phase::Execute | Phase::Review, Ask) => {
            Ok((phase, 1))
        }
        (Phase::Plan | Phase::Execute | Phase::Review, StartPlan | StartExecute | StartReview)
        | (Phase::Hub, BreakOff) => Err("no_such_edge"),
        (Phase::Hub, Ask | GateYes | GateNo | GateUnreadable | GateWithForeignResults) => Err("cycle_closed"),
        (Phase::Plan | Phase::Execute | Phase::Review, GateUnreadable) => Err("unreadable_answer"),
        (Phase::Plan | Phase::Execute | Phase::Review, GateWithForeignResults) => Err("wrong_results"),
        (Phase::Hub | Phase::Plan | Phase::Execute | Phase::Review, AskAsStranger) => Err("not_owner"),
        (Phase::Hub | Phase::Plan | Phase::Execute | Phase::Review, AnswerUnasked) => Err("unknown_question"),
    }
}

#[test]
fn i8_every_phase_with_everything_that_can_happen_in_it() {
    for phase in Phase::ALL {
        for happens in HAPPENINGS {
            let at = in_phase(phase);
            assert_eq!(what_came(&at, happens), expected(phase, happens), "{phase} {happens:?}");
        }
    }
}

#[test]
fn i7_passing_the_gate_closes_hands_off_and_opens_in_one_value() {
    for (phase, to) in
        [(Phase::Plan, Phase::Execute), (Phase::Execute, Phase::Review), (Phase::Review, Phase::Plan)]
    {
        let asked = asking(&in_phase(phase), question(1, QuestionKind::Gate)).unwrap();
        assert!(asked.pending().unwrap().text().as_str().starts_with(phase.gate_text().unwrap()));
        let answered = asked.answer_gate(id(1), &text("YES"), ada(), results(phase), fresh(2)).unwrap();
        let GateOutcome::HandedOff(handed_off) = answered else { panic!("{answered:?}") };
        let LoopHandoff { next, closed, handoff } = *handed_off;
        assert_eq!(closed.unwrap().state(), &CycleState::GatePassed);
        assert_eq!((handoff.from, handoff.to, handoff.decision), (phase, to, HandoffDecision::Yes));
        assert_eq!(handoff.results, results(phase));
        let opened = next.cycle().unwrap();
        assert!(opened.is_open() && opened.pending().is_none() && opened.asked_count() == 0);
        assert_eq!((opened.id(), *opened.owner()), (fresh(2).id, fresh(2).owner));

        let late = question(2, QuestionKind::Clarification);
        assert_eq!(next.ask(&owner(1), late.clone()), Err(AskRefusal::NotOwner), "the old phase is over");
        assert!(next.ask(&owner(2), late).is_ok());
        let again = next.answer_gate(id(1), &text("NO"), ada(), results(phase), fresh(3));
        assert_eq!(again, Err(AnswerRefusal::AlreadyAnswered { id: id(1) }.into()));
    }
}

#[test]
fn i7_the_next_cycle_must_be_new() {
    let asked = asking(&in_phase(Phase::Plan), question(1, QuestionKind::Gate)).unwrap();
    for stale in
        [fresh(1), FreshCycle { id: fresh(2).id, ..fresh(1) }, FreshCycle { id: fresh(1).id, ..fresh(2) }]
    {
        let refused = asked.answer_gate(id(1), &text("yes"), ada(), results(Phase::Plan), stale);
        assert_eq!(refused, Err(LoopRefusal::NotFresh));
        assert_eq!(in_phase(Phase::Hub).start(PhaseStart::Plan, stale), Err(LoopRefusal::NotFresh));
    }
}

#[test]
fn a_gate_is_answered_as_a_gate_and_a_question_as_a_question() {
    let gate = asking(&in_phase(Phase::Plan), question(1, QuestionKind::Gate)).unwrap();
    assert_eq!(gate.answer(id(1), &text("yes"), ada()), Err(AnswerRefusal::IsGate { id: id(1) }));
    let plain = asking(&in_phase(Phase::Plan), question(1, QuestionKind::Confirmation)).unwrap();
    let refused = plain.answer_gate(id(1), &text("yes"), ada(), results(Phase::Plan), fresh(2));
    assert_eq!(refused, Err(LoopRefusal::NotTheGate { id: id(1), phase: Phase::Plan }));
}

fn through_gate(at: &PhaseLoop, number: u8, says: &str) -> LoopHandoff {
    let asked = asking(at, question(number.into(), QuestionKind::Gate)).unwrap();
    let answer = text(says);
    match asked.answer_gate(id(number.into()), &answer, ada(), results(at.phase()), fresh(number)).unwrap() {
        GateOutcome::HandedOff(handed_off) => *handed_off,
        GateOutcome::Stayed { next } => panic!("{next:?}"),
    }
}

#[test]
fn two_iterations_end_in_the_hub_with_their_summary() {
    let mut at = in_phase(Phase::Plan);
    for number in 2..7 {
        at = through_gate(&at, number, "yes").next;
    }
    assert_eq!(place(&at), (Phase::Review, 2));
    let LoopHandoff { next, handoff, .. } = through_gate(&at, 7, "no");
    assert_eq!(place(&next), (Phase::Hub, 2));
    assert_eq!(handoff.decision, HandoffDecision::No);
    assert_eq!(handoff.results, PhaseResults::Ended { summary: next.summary() });
    insta::assert_snapshot!(next.summary(), @r"
    Iterations: 2
    Tasks completed: 2
    Tasks failed: 2
    Tasks discovered: 6
    Duplicates skipped: 2
    ");
    let late = next.answer_gate(id(7), &text("yes"), ada(), results(Phase::Review), fresh(8));
    assert_eq!(late, Err(AnswerRefusal::AlreadyAnswered { id: id(7) }.into()));

    let again = next.start(PhaseStart::Plan, fresh(8)).unwrap().next;
    assert_eq!((again.iteration(), again.summary().iterations, again.summary().tasks_completed), (1, 1, 0));
}

#[test]
fn aborting_counts_results_and_withdraws_the_question() {
    let at = asking(&in_phase(Phase::Execute), question(1, QuestionKind::Confirmation)).unwrap();
    let wrong = at.break_off(Some(&results(Phase::Plan)));
    assert_eq!(wrong, Err(LoopRefusal::WrongResults { phase: Phase::Execute }));
    let LoopHandoff { next, closed, handoff } = at.break_off(Some(&results(Phase::Execute))).unwrap();
    assert_eq!(closed.unwrap().state(), &CycleState::Closed { withdrawn: Some(id(1)) });
    assert_eq!(handoff.decision, HandoffDecision::BrokenOff);
    assert_eq!((next.summary().tasks_completed, next.summary().tasks_failed), (1, 1));
    assert_eq!(next.answer(id(1), &text("x"), ada()).unwrap_err(), AnswerRefusal::Withdrawn { id: id(1) });
}

#[test]
fn an_endless_loop_stops_at_its_limit() {
    let mut at = in_phase(Phase::Review);
    for gate in 0..(ITERATIONS_MAX - 1) * 3 {
        // Neighbouring cycles differ, and that is all a fresh one needs.
        at = through_gate(&at, u8::try_from(2 + gate % 200).unwrap(), "yes").next;
    }
    assert_eq!(place(&at), (Phase::Review, ITERATIONS_MAX));
    let asked = asking(&at, question(1000, QuestionKind::Gate)).unwrap();
    let yes = asked.answer_gate(id(1000), &text("yes"), ada(), results(Phase::Review), fresh(250));
    assert_eq!(yes, Err(LoopRefusal::IterationLimit));
    let no = asked.answer_gate(id(1000), &text("no"), ada(), results(Phase::Review), fresh(250));
    assert!(matches!(no, Ok(GateOutcome::HandedOff(_))));
}

#[test]
fn changing_the_phase_earns_no_new_automatic_answers() {
    let mut at = in_phase(Phase::Plan);
    for number in 2..7 {
        let asked = asking(&at, question(number.into(), QuestionKind::Gate)).unwrap();
        let by = AnsweredBy::Queued;
        let answered = asked
            .answer_gate(id(number.into()), &text("yes"), by, results(at.phase()), fresh(number))
            .unwrap();
        let GateOutcome::HandedOff(handed_off) = answered else { panic!("{answered:?}") };
        at = handed_off.next;
    }
    let asked = asking(&at, question(7, QuestionKind::Gate)).unwrap();
    let stopped = asked.answer_gate(id(7), &text("yes"), AnsweredBy::Queued, results(at.phase()), fresh(7));
    assert_eq!(stopped.unwrap_err().code(), "automation_stopped");
}

#[test]
fn no_questions_or_answers_before_the_first_start() {
    assert_eq!(idle().ask(&owner(1), question(1, QuestionKind::Gate)), Err(AskRefusal::NoCycle));
    let unknown = AnswerRefusal::UnknownQuestion { id: id(1) };
    assert_eq!(idle().answer(id(1), &text("x"), ada()), Err(unknown));
    assert_eq!(idle().break_off(None).unwrap_err().code(), "no_such_edge");
    assert_eq!(idle().take_over(owner(1)), Err(AskRefusal::NoCycle));
}

#[test]
fn an_idle_loop_is_stored_in_a_stable_form() {
    insta::assert_snapshot!(serde_json::to_string(&idle()).unwrap(), @r#"{"session":"sess_1","iteration":0,"phase":"hub","summary":{"iterations":0,"tasks_completed":0,"tasks_failed":0,"tasks_discovered":0,"duplicates_skipped":0},"work":{"phase":"hub"}}"#);
}
