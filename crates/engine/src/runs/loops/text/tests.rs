use baton_core::ask::choice::YesNoHelp;
use baton_core::base::id::{CycleId, QuestionId};
use baton_core::people::owner_token::OwnerToken;
use baton_core::phase::PhaseStart;
use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::handoff::NamedTask;
use baton_core::phase::phase_loop::FreshCycle;
use baton_core::phase::subtask::{Subtask, SubtaskEvent};
use serde_json::json;

use crate::runs::loops::text::*;

fn named(title: &str) -> NamedTask {
    NamedTask { id: TaskId::from_bits(7), title: NonBlank::new(title).unwrap() }
}

fn planning() -> PlanWork {
    let point = json!({"clarity": "partly", "reason": "nothing is said of time zones"});
    let rubric = json!({"goal": point, "scope": point, "acceptance": point, "constraints": point});
    let mut work = PlanWork::on(named("Parse the dates"));
    work.start_agent(TaskId::from_bits(8));
    work.submit(Some(serde_json::from_value(rubric).unwrap()), None);
    work
}

fn executing(events: &[SubtaskEvent]) -> ExecuteWork {
    let (mut subtask, _) = Subtask::begin(named("Read the format"), String::new());
    for event in events {
        subtask = subtask.after(*event).unwrap().0;
    }
    ExecuteWork { subtasks: vec![subtask], ..ExecuteWork::default() }
}

fn reviewing() -> ReviewWork {
    let found =
        DiscoveredTask { title: NonBlank::new("Dates before 1970").unwrap(), description: String::new() };
    let mut work = ReviewWork::default();
    work.start_agent(TaskId::from_bits(8));
    work.submit(vec![found]);
    work.end_agent("The dates are read. Those before 1970 are not.", "");
    work
}

/// As the human gets it: the loop puts the words of the phase's gate before what is said about it.
fn asked(phase: PhaseStart, draft: QuestionDraft) -> QuestionDraft {
    let owner = OwnerToken::from_digest([1; 32]);
    let fresh = FreshCycle { id: CycleId::from_bits(1), owner };
    let phase_loop = PhaseLoop::new("sess_1".parse().unwrap()).start(phase, fresh).unwrap().next;
    let next = phase_loop.ask_anew(&owner, draft.with_id(QuestionId::from_bits(1))).unwrap();
    next.pending().unwrap().draft.clone()
}

#[test]
fn every_question_of_the_loop_stands_alone() {
    use PhaseStart::{Execute, Plan, Review};
    let loops = PhaseLoop::new("sess_1".parse().unwrap());
    let helped = executing(&[SubtaskEvent::MayRun(YesNoHelp::Help)]);
    let ran = executing(&[SubtaskEvent::MayRun(YesNoHelp::Yes), SubtaskEvent::Ran]);
    let all = [
        asked(Plan, vagueness(&planning()).unwrap()),
        asked(Plan, plan_gate(&planning()).unwrap()),
        asked(Plan, revision(&planning()).unwrap()),
        asked(Execute, subtask(&executing(&[]), None).unwrap()),
        asked(Execute, subtask(&helped, None).unwrap()),
        asked(Execute, subtask(&ran, None).unwrap()),
        asked(Execute, execute_gate(&executing(&[]), &[(TaskId::from_bits(7), "provisional")]).unwrap()),
        asked(Review, discovered(&reviewing(), []).unwrap()),
        asked(Execute, more_work().unwrap()),
        asked(Review, review_failed(&reviewing()).unwrap()),
        asked(Review, list(&reviewing()).unwrap()),
        asked(Review, review_gate(&loops, &reviewing()).unwrap()),
    ];
    for question in all {
        assert_eq!(question.missing_context(), [], "{}", question.text);
    }
}
