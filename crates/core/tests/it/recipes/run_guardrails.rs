use baton_core::base::text::NonBlank;
use baton_core::recipe::Recipe;
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::recipe::outcome::OutcomeMistake;
use baton_core::recipe::run::{
    Advance, Contradiction, GateAnswer, Run, RunObservation, RunState, StepReport,
};
use proptest::prelude::*;
use serde_json::json;

use crate::recipes::fixture::{
    after, implement_and_review, implement_and_review_json, loop_json, recipe, report, restarting_json,
    started, step,
};

fn exit(reason: ExitReason) -> Advance {
    Advance::Exit { reason }
}

#[test]
fn the_fourth_entry_is_refused_at_three() {
    let recipe = implement_and_review();
    let seen = RunObservation::default();
    let rounds = ["complete", "issues-found", "complete", "issues-found", "complete", "issues-found"];
    let (run, last) = after(&recipe, started(&recipe), &rounds, &seen);
    assert!(matches!(last, Advance::EnterStep { .. }));
    assert_eq!(run.visits(&step("code-review")), 3);
    let (run, last) = after(&recipe, run, &["complete"], &seen);
    assert_eq!(last, exit(ExitReason::max_step_visits_exceeded(&step("code-review"))));
    // The guardrail applies before the step is entered.
    assert_eq!((run.visits(&step("code-review")), run.step()), (3, &step("fix")));
}

#[test]
fn too_many_steps_end_the_run() {
    let mut json = implement_and_review_json();
    json["guardrails"] = json!({"max_step_visits": 50, "max_total_steps": 4});
    let recipe = recipe(json);
    let rounds = ["complete", "issues-found", "complete"];
    let (run, last) = after(&recipe, started(&recipe), &rounds, &RunObservation::default());
    assert!(matches!(last, Advance::EnterStep { .. }));
    assert_eq!(run.total_steps(), 4);
    let (_, last) = after(&recipe, run, &["no-issues"], &RunObservation::default());
    assert_eq!(last, exit(ExitReason::max_total_steps()));
}

const ROUND: [&str; 3] = ["complete", "no-issues", "committed"];

#[test]
fn restarts_without_progress_end_the_run() {
    let recipe = recipe(restarting_json());
    let seen = RunObservation::default();
    let mut run = started(&recipe);
    let mut last;
    for restarts in 1..=2 {
        (run, last) = after(&recipe, run, &ROUND, &seen);
        assert_eq!(last, Advance::Restart { from: step("commit"), to: step("implement") });
        assert_eq!(run.restarts(), restarts);
    }
    (run, last) = after(&recipe, run, &ROUND, &seen);
    assert_eq!(last, exit(ExitReason::max_step_visits_exceeded(&step("implement"))));
    assert_eq!(run.restarts(), 2);
}

#[test]
fn restarts_with_progress_continue_to_the_total_limit() {
    let recipe = recipe(restarting_json());
    let seen = RunObservation { progress: true, ..RunObservation::default() };
    let mut run = started(&recipe);
    let mut last;
    for _ in 0..33 {
        (run, last) = after(&recipe, run, &ROUND, &seen);
        assert!(matches!(last, Advance::Restart { .. }), "{last:?}");
        assert_eq!(run.visits(&step("implement")), 1);
    }
    assert_eq!(run.total_steps(), 100);
    assert_eq!(after(&recipe, run, &["complete"], &seen).1, exit(ExitReason::max_total_steps()));
}

#[test]
fn a_restart_without_progress_keeps_the_counters() {
    let recipe = recipe(restarting_json());
    let (run, _) = after(&recipe, started(&recipe), &ROUND, &RunObservation::default());
    assert_eq!((run.visits(&step("implement")), run.visits(&step("commit"))), (2, 1));
    let progress = RunObservation { progress: true, ..RunObservation::default() };
    let (run, _) = after(&recipe, run, &ROUND, &progress);
    assert_eq!((run.visits(&step("implement")), run.visits(&step("commit"))), (1, 0));
}

#[test]
fn staying_in_a_phase_counts_towards_the_total() {
    let recipe = recipe(loop_json());
    let mut run = started(&recipe);
    let mut last = Advance::StayInPhase;
    let mut stays = 0;
    while last == Advance::StayInPhase {
        (run, _) = after(&recipe, run, &["planned"], &RunObservation::default());
        (run, last) = run.answer_gate(&recipe, GateAnswer::No).unwrap();
        stays += 1;
    }
    assert_eq!((stays, last), (6, exit(ExitReason::max_total_steps())));
}

/// One thing that can happen to a run.
#[derive(Debug, Clone)]
enum Move {
    Say(prop::sample::Index),
    Slip,
    Claim(prop::sample::Index),
}

fn moves() -> impl Strategy<Value = Vec<(Move, RunObservation)>> {
    let step = prop_oneof![
        6 => any::<prop::sample::Index>().prop_map(Move::Say),
        1 => Just(Move::Slip),
        1 => any::<prop::sample::Index>().prop_map(Move::Claim),
    ];
    let observed = (0..2u32, any::<bool>()).prop_map(|(ready_count, progress)| RunObservation {
        ready_count,
        own_task: None,
        progress,
        contradiction: None,
    });
    proptest::collection::vec((step, observed), 1..40)
}

/// Applies one move, with NO or a YES that leads forward at every gate.
fn apply(
    recipe: &Recipe,
    run: &Run,
    (step, observed): &(Move, RunObservation),
    answer: GateAnswer,
) -> (Run, Advance) {
    if matches!(run.state(), RunState::AtGate { .. }) {
        return run.answer_gate(recipe, answer).unwrap();
    }
    let outcomes = recipe.step(run.step()).unwrap().outcomes();
    let mut observed = observed.clone();
    let report = match step {
        Move::Say(index) => report(index.get(&outcomes).as_str()),
        Move::Slip => StepReport::Mistake(OutcomeMistake::NoneFound),
        Move::Claim(index) => {
            let words = |words| NonBlank::new(words).unwrap();
            observed.contradiction =
                Some(Contradiction { claimed: words("it is done"), seen: words("it is not") });
            report(index.get(&outcomes).as_str())
        }
    };
    run.advance(recipe, &report, &observed).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// I10, and the guardrails: whatever is reported, over and over, the run ends.
    #[test]
    fn every_run_ends_within_its_guardrails(moves in moves(), which in 0..3usize, yes: bool) {
        let recipe = recipe([implement_and_review_json(), restarting_json(), loop_json()][which].clone());
        let guardrails = recipe.guardrails();
        // Each stay in a step allows one reminder and one challenge, and a gate needs an answer.
        let moves_max = 4 * guardrails.max_total_steps();
        let answer = if yes { GateAnswer::Yes } else { GateAnswer::No };
        let mut run = started(&recipe);
        let mut count = 0;
        let reason = loop {
            let next = &moves[count as usize % moves.len()];
            let iteration = run.iteration();
            let (moved, advance) = apply(&recipe, &run, next, answer);
            count += 1;
            if let Advance::Exit { reason } = advance {
                prop_assert_eq!(moved.state(), &RunState::Exited { reason: reason.clone() });
                break reason;
            }
            for step in recipe.steps() {
                prop_assert!(moved.visits(step.name()) <= guardrails.max_step_visits());
            }
            prop_assert!(moved.total_steps() <= guardrails.max_total_steps());
            if moved.iteration() > iteration {
                // Only a human's YES resets the counters.
                let at_gate = matches!(run.state(), RunState::AtGate { .. });
                prop_assert!(yes && at_gate);
                count = 0;
                if moved.iteration() > 3 {
                    return Ok(());
                }
            }
            prop_assert!(count <= moves_max, "still going after {} moves", count);
            run = moved;
        };
        prop_assert!(ExitCategory::ALL.contains(&reason.category()));
        prop_assert!(!reason.message().is_empty());
    }
}
