use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::recipe::outcome::Outcome;
use baton_core::recipe::outcome::OutcomeMistake;
use baton_core::recipe::outcome_parser::parse;
use baton_core::recipe::run::{
    Advance, Contradiction, GateAnswer, GitObservation, Run, RunObservation, RunRefusal, RunResume, RunState,
    StepReport, TURNS_MAX,
};

use crate::recipes::fixture::{after, implement_and_review, loop_json, recipe, report, started, step};

fn text(words: &str) -> NonBlank {
    NonBlank::new(words).unwrap()
}

fn exit(reason: &str) -> Advance {
    Advance::Exit { reason: ExitReason::new(reason).unwrap() }
}

#[test]
fn implement_and_review_leads_where_it_says() {
    let recipe = implement_and_review();
    let cases: &[(&[&str], &str)] = &[
        (&["no-tasks"], "no-tasks-available"),
        (&["blocked"], "implementation-blocked"),
        (&["other"], "user-provided-other"),
        (&["complete", "other"], "user-provided-other"),
        (&["complete", "issues-found", "other"], "user-provided-other"),
        (&["complete", "no-issues", "committed"], "task-committed"),
        (&["complete", "no-issues", "nothing-to-commit"], "no-changes-to-commit"),
        (&["complete", "no-issues", "other"], "user-provided-other"),
        (&["complete", "issues-found", "complete", "no-issues", "committed"], "task-committed"),
        (
            &["complete", "issues-found", "complete", "issues-found", "complete", "issues-found", "complete"],
            "max-step-visits-exceeded:code-review",
        ),
    ];
    for (outcomes, reason) in cases {
        let (run, last) = after(&recipe, started(&recipe), outcomes, &RunObservation::default());
        assert_eq!(last, exit(reason), "{outcomes:?}");
        assert_eq!(run.resume(), RunResume::Nothing);
    }
}

#[test]
fn no_tasks_ends_the_run_as_completed() {
    let recipe = implement_and_review();
    let outcomes = recipe.step(&step("implement")).unwrap().outcomes();
    let outcome = parse("{\"outcome\": \"no-tasks\"}", &outcomes).unwrap();
    let (run, last) =
        started(&recipe).advance(&recipe, &StepReport::Outcome(outcome), &RunObservation::default()).unwrap();
    assert_eq!(last, exit("no-tasks-available"));
    let RunState::Exited { reason } = run.state() else { panic!("{run:?}") };
    assert_eq!(reason.category(), ExitCategory::Completed);
    assert_eq!(reason.message(), "No tasks available to implement");
}

#[test]
fn a_step_chooses_whether_it_gets_a_fresh_session() {
    let recipe = implement_and_review();
    let (run, last) = after(&recipe, started(&recipe), &["complete"], &RunObservation::default());
    let entered = Advance::EnterStep { from: step("implement"), to: step("code-review"), fresh: true };
    assert_eq!(last, entered);
    let (_, last) = after(&recipe, run, &["issues-found"], &RunObservation::default());
    assert_eq!(last, Advance::EnterStep { from: step("code-review"), to: step("fix"), fresh: false });
}

#[test]
fn one_reminder_per_step_then_the_run_ends() {
    let recipe = implement_and_review();
    let mistake = StepReport::Mistake(OutcomeMistake::NoneFound);
    let seen = RunObservation::default();

    let (run, last) = started(&recipe).advance(&recipe, &mistake, &seen).unwrap();
    let Advance::Remind { error, text } = last else { panic!("{last:?}") };
    assert_eq!(error, "your message has no JSON object with an \"outcome\" key");
    assert!(text.contains("{\"outcome\": \"no-tasks\"}"), "{text}");
    assert_eq!(run.advance(&recipe, &mistake, &seen).unwrap().1, exit("orchestration-error"));

    // The next step has a reminder of its own.
    let (run, _) = after(&recipe, run, &["complete"], &seen);
    assert!(matches!(run.advance(&recipe, &mistake, &seen).unwrap().1, Advance::Remind { .. }));
}

#[test]
fn an_outcome_of_another_step_is_a_mistake_too() {
    let recipe = implement_and_review();
    let (_, last) =
        started(&recipe).advance(&recipe, &report("committed"), &RunObservation::default()).unwrap();
    let Advance::Remind { error, .. } = last else { panic!("{last:?}") };
    assert!(error.starts_with("\"committed\" is not an outcome of this step"), "{error}");
}

#[test]
fn no_tasks_while_there_is_ready_work_is_asked_again_once() {
    let recipe = implement_and_review();
    let seen = RunObservation { ready_count: 2, ..RunObservation::default() };
    let (run, last) = after(&recipe, started(&recipe), &["no-tasks"], &seen);
    let Advance::Remind { error, .. } = last else { panic!("{last:?}") };
    assert_eq!(
        error,
        "you reported \"no-tasks\" (there is no task to work on), but the queue has ready work: \
         2 tasks are ready to start, and `get_next_task` hands out the first"
    );
    assert_eq!(after(&recipe, run.clone(), &["no-tasks"], &seen).1, exit("no-tasks-available"));
    // Ready work contradicts only that outcome, and a challenge does not use up the reminder.
    assert!(matches!(after(&recipe, run.clone(), &["complete"], &seen).1, Advance::EnterStep { .. }));
    let mistake = StepReport::Mistake(OutcomeMistake::NoneFound);
    assert!(matches!(run.advance(&recipe, &mistake, &seen).unwrap().1, Advance::Remind { .. }));
}

#[test]
fn a_claim_that_does_not_hold_is_asked_again_once() {
    let recipe = implement_and_review();
    let contradiction = Contradiction {
        claimed: text("the task is implemented"),
        seen: text("the branch has no new commit"),
    };
    let seen = RunObservation { contradiction: Some(contradiction), ..RunObservation::default() };
    let (run, last) = after(&recipe, started(&recipe), &["complete"], &seen);
    let Advance::Remind { text, .. } = last else { panic!("{last:?}") };
    assert!(text.contains("but the branch has no new commit"), "{text}");
    assert_eq!(run.step(), &step("implement"));
    let (run, _) = after(&recipe, run, &["complete"], &seen);
    assert_eq!(run.step(), &step("code-review"));
}

#[test]
fn a_gate_decides_and_not_the_agent() {
    let recipe = recipe(loop_json());
    let seen = RunObservation::default();
    let (at_gate, last) = after(&recipe, started(&recipe), &["planned"], &seen);
    let question = text("Ready to execute? [YES/NO]");
    assert_eq!(last, Advance::AskGate { question: question.clone() });
    assert_eq!(at_gate.resume(), RunResume::AwaitGate { question: question.clone() });
    assert_eq!(at_gate.advance(&recipe, &report("planned"), &seen), Err(RunRefusal::AwaitsGate { question }));

    let (stays, last) = at_gate.answer_gate(&recipe, GateAnswer::No).unwrap();
    assert_eq!(last, Advance::StayInPhase);
    assert_eq!(stays.resume(), RunResume::Dispatch { step: step("plan") });
    assert_eq!(stays.visits(&step("plan")), 1);
    assert_eq!(
        stays.answer_gate(&recipe, GateAnswer::Yes),
        Err(RunRefusal::NotAtGate { step: step("plan") })
    );

    let (_, last) = at_gate.answer_gate(&recipe, GateAnswer::Yes).unwrap();
    assert_eq!(last, Advance::EnterStep { from: step("plan"), to: step("execute"), fresh: false });

    // An outcome that is not the gate's needs no answer.
    assert_eq!(after(&recipe, started(&recipe), &["other"], &seen).1, exit("user-provided-other"));
}

fn phase(recipe: &baton_core::recipe::Recipe, run: Run, outcome: &str, answer: GateAnswer) -> (Run, Advance) {
    let (run, _) = after(recipe, run, &[outcome], &RunObservation::default());
    run.answer_gate(recipe, answer).unwrap()
}

#[test]
fn an_approved_iteration_resets_the_counters() {
    let recipe = recipe(loop_json());
    let mut run = started(&recipe);
    for iteration in 1..=20 {
        assert_eq!((run.iteration(), run.total_steps(), run.visits(&step("plan"))), (iteration, 1, 1));
        (run, _) = phase(&recipe, run, "planned", GateAnswer::Yes);
        (run, _) = phase(&recipe, run, "executed", GateAnswer::Yes);
        assert_eq!((run.iteration(), run.total_steps(), run.step_count()), (iteration, 3, 3 * iteration));
        // Whichever of its two outcomes the agent reports, the answer decides.
        (run, _) = phase(&recipe, run, "stop", GateAnswer::Yes);
    }
    (run, _) = phase(&recipe, run, "planned", GateAnswer::Yes);
    (run, _) = phase(&recipe, run, "executed", GateAnswer::Yes);
    assert_eq!(phase(&recipe, run, "continue", GateAnswer::No).1, exit("loop-complete"));
}

#[test]
fn nothing_moves_after_the_exit() {
    let recipe = implement_and_review();
    let (run, last) = started(&recipe).exit(ExitReason::user_requested()).unwrap();
    assert_eq!(last, exit("user-requested"));
    let refusal = RunRefusal::Exited { reason: ExitReason::user_requested() };
    assert_eq!(run.advance(&recipe, &report("complete"), &RunObservation::default()), Err(refusal.clone()));
    assert_eq!(run.answer_gate(&recipe, GateAnswer::Yes), Err(refusal.clone()));
    assert_eq!(run.exit(ExitReason::error()), Err(refusal.clone()));
    assert_eq!(refusal.to_string(), "the run has ended (user-requested); start a new one");
    assert_eq!(serde_json::to_string(&refusal).unwrap(), r#"{"code":"exited","reason":"user-requested"}"#);
}

#[test]
fn a_run_keeps_to_its_recipe() {
    let mine = implement_and_review();
    let run = started(&mine);
    let other = recipe(loop_json());
    assert!(matches!(
        run.advance(&other, &report("complete"), &RunObservation::default()),
        Err(RunRefusal::OtherRecipe { .. })
    ));
    let mut json = crate::recipes::fixture::loop_json();
    json["id"] = serde_json::json!("implement-and-review");
    let changed = recipe(json);
    assert_eq!(
        run.advance(&changed, &report("complete"), &RunObservation::default()),
        Err(RunRefusal::StepChanged { step: step("implement") })
    );
}

#[test]
fn a_run_survives_storage() {
    let recipe = recipe(loop_json());
    let (run, _) = after(&recipe, started(&recipe), &["planned"], &RunObservation::default());
    let json = serde_json::to_string_pretty(&run).unwrap();
    insta::assert_snapshot!(json, @r#"
    {
      "id": "RUN-00000001",
      "recipe": "loop",
      "session": "s",
      "origin": "session",
      "step": "plan",
      "visits": {
        "plan": 1
      },
      "total_steps": 1,
      "iteration": 1,
      "restarts": 0,
      "reminded": false,
      "doubted": false,
      "memory": {
        "heard": 0
      },
      "state": {
        "kind": "at_gate",
        "reported": {
          "name": "planned"
        },
        "question": "Ready to execute? [YES/NO]",
        "progress": false
      }
    }
    "#);
    assert_eq!(serde_json::from_str::<Run>(&json).unwrap(), run);
}

#[test]
fn a_fresh_step_knows_what_it_was_handed_and_nothing_else() {
    let recipe = implement_and_review();
    let seen = RunObservation::default();
    let run = started(&recipe).begin_prompt(Timestamp::from_ms(1)).record_output("I changed login.rs.");
    assert_eq!(run.memory().turns().len(), 1);
    let (review, _) = after(&recipe, run, &["complete"], &seen);
    assert!(review.memory().turns().is_empty(), "the review is fresh");
    assert_eq!(review.memory().handover().unwrap().step, step("implement"));
    let review = review
        .begin_prompt(Timestamp::from_ms(7))
        .begin_prompt(Timestamp::from_ms(9))
        .record_output("Line 3 is wrong.");
    assert_eq!(review.memory().since(), Some(Timestamp::from_ms(7)), "its session begins once");
    let (fix, _) = after(&recipe, review, &["issues-found"], &seen);
    assert_eq!(fix.memory().turns()[0].text.as_str(), "Line 3 is wrong.", "the fix continues that session");
}

#[test]
fn a_reminder_is_kept_until_the_agent_works_again() {
    let recipe = implement_and_review();
    let seen = RunObservation::default();
    let (run, _) =
        started(&recipe).advance(&recipe, &StepReport::Mistake(OutcomeMistake::NoneFound), &seen).unwrap();
    assert!(run.memory().pending_reminder().unwrap().contains("was not accepted"));
    let (run, _) = after(&recipe, run, &["complete"], &seen);
    assert_eq!(run.memory().pending_reminder(), None);
}

#[test]
fn a_run_remembers_the_newest_of_what_was_said() {
    let mut run = started(&implement_and_review());
    for number in 0..TURNS_MAX + 5 {
        run = run.record_output(&format!("message {number}"));
    }
    assert_eq!(run.memory().turns().len(), TURNS_MAX);
    assert_eq!(run.memory().turns().last().unwrap().text.as_str(), format!("message {}", TURNS_MAX + 4));
    let run =
        run.record_output("  ").deliver_messages(&[text("Use the other door.")], 7).deliver_messages(&[], 3);
    assert_eq!((run.memory().turns().last().unwrap().step.clone(), run.memory().delivered()), (None, 7));
}

#[test]
fn a_run_that_is_ending_only_waits_for_its_exit() {
    let recipe = implement_and_review();
    let reason = ExitReason::user_requested();
    let leaving = started(&recipe).begin_exit(reason.clone()).unwrap();
    assert_eq!(leaving.resume(), RunResume::Settle { reason: reason.clone() });
    let refused = Err(RunRefusal::Exited { reason: reason.clone() });
    assert_eq!(leaving.advance(&recipe, &report("complete"), &RunObservation::default()), refused);
    assert_eq!(leaving.begin_exit(reason.clone()), Err(RunRefusal::Exited { reason: reason.clone() }));
    let (exited, _) = leaving.exit(reason).unwrap();
    assert!(exited.has_exited());
}

#[test]
fn git_contradicts_claims_of_missing_work() {
    let outcome = |name: &str| Outcome { name: name.parse().unwrap(), description: None };
    let allowed = ["complete", "no-tasks"].map(|name| name.parse().unwrap());
    let against = |name: &str, commits, uncommitted, files_changed| {
        let seen = GitObservation { commits, uncommitted, files_changed };
        Contradiction::in_git(&outcome(name), &allowed, seen)
            .map(|contradiction| contradiction.seen.to_string())
    };
    assert!(against("committed", 0, 2, 0).unwrap().contains("2 changed file(s) are in none"));
    assert!(against("committed", 0, 0, 0).is_some() && against("complete", 0, 0, 0).is_some());
    for (commits, uncommitted, files_changed) in [(1, 0, 1), (0, 0, 1), (1, 3, 2)] {
        assert_eq!(against("committed", commits, uncommitted, files_changed), None);
    }
    assert_eq!(against("complete", 0, 1, 0), None, "it need not be committed yet");
    assert_eq!(against("no-issues", 0, 0, 0), None, "a review claims no work");
    let own = ["complete", "other"].map(|name| name.parse().unwrap());
    let seen = Contradiction::in_git(&outcome("complete"), &own, GitObservation::default());
    assert_eq!(seen, None, "a step without a word for no changes may end without any");
}
