//! Every (state, command) pair: the function does exactly what the table allows.

use std::collections::BTreeSet;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::QuestionKind;
use baton_core::base::id::{AttemptId, CycleId, QuestionId};
use baton_core::base::task_type::TaskType;
use baton_core::people::actor::Actor;
use baton_core::recycle::{Depth, RecycleReason};
use baton_core::task::attempt::ResultKind;
use baton_core::task::state::{QueueName, ReviewMark, StateName, TaskState, TaskStatus};
use baton_core::task::{Purpose, Task};
use baton_core::transition::command::{Command, CommandName};
use baton_core::transition::refusal::CommandRefusal;
use baton_core::transition::table::next_states;

use crate::samples::{
    ASKS, SAYS, actors, ask, attempt, claim, commands, context, drive, ended, evidence, in_state, owner,
    settle, spec, start, text,
};

/// Everything `command` leads to from `state`, over all samples and all actors.
fn reached(state: StateName, command: CommandName) -> BTreeSet<StateName> {
    let mut reached = BTreeSet::new();
    for task in in_state(state) {
        for command in commands(command, &task) {
            for actor in actors() {
                if let Ok(transition) = task.apply(command.clone(), &context(actor)) {
                    // The agent's session is internal: no event reports it.
                    let is_silent = command.name() == CommandName::NoteSession;
                    assert_eq!(transition.events.is_empty(), is_silent, "{state} {command:?}");
                    reached.insert(transition.task.state().name());
                }
            }
        }
    }
    reached
}

#[test]
fn every_pair_of_state_and_command_does_what_the_table_says() {
    for state in StateName::ALL {
        for command in CommandName::ALL {
            let allowed: BTreeSet<StateName> = next_states(state, command).iter().copied().collect();
            assert_eq!(reached(state, command), allowed, "{state} × {command}");
        }
    }
}

/// A new state or command does not compile here until it is in the list the tables are built from.
#[test]
fn the_lists_of_states_and_commands_are_complete() {
    for (place, state) in StateName::ALL.into_iter().enumerate() {
        let expected = match state {
            StateName::Incoming => 0,
            StateName::Held => 1,
            StateName::Breakdown => 2,
            StateName::Claimed => 3,
            StateName::NeedsContinuation => 4,
            StateName::AwaitingResponse => 5,
            StateName::Blocked => 6,
            StateName::Provisional => 7,
            StateName::Landing => 8,
            StateName::Recycled => 9,
            StateName::Done => 10,
            StateName::Failed => 11,
            StateName::Cancelled => 12,
        };
        assert_eq!(place, expected);
    }
    for (place, command) in CommandName::ALL.into_iter().enumerate() {
        let expected = match command {
            CommandName::Claim => 0,
            CommandName::Start => 1,
            CommandName::Ask => 2,
            CommandName::Settle => 3,
            CommandName::ExpireLease => 4,
            CommandName::Reply => 5,
            CommandName::FailClosed => 6,
            CommandName::Accept => 7,
            CommandName::Reject => 8,
            CommandName::Recycle => 9,
            CommandName::ReportConflict => 10,
            CommandName::EnterLane => 11,
            CommandName::Land => 12,
            CommandName::ForceLand => 13,
            CommandName::DelayLanding => 14,
            CommandName::SendBack => 15,
            CommandName::Release => 16,
            CommandName::Hold => 17,
            CommandName::MarkFailed => 18,
            CommandName::SubmitPlan => 19,
            CommandName::ApprovePlan => 20,
            CommandName::Replace => 21,
            CommandName::Retry => 22,
            CommandName::Cancel => 23,
            CommandName::NoteSession => 24,
            CommandName::Revise => 25,
            CommandName::AddMessage => 26,
            CommandName::NoteDelivery => 27,
            CommandName::TakeOver => 28,
            CommandName::HandBack => 29,
            CommandName::LeaveRun => 30,
        };
        assert_eq!(place, expected);
    }
}

#[test]
fn the_two_views_of_every_state() {
    let mut faces = Vec::new();
    for state in StateName::ALL {
        let shown: BTreeSet<String> = in_state(state)
            .iter()
            .map(|task| format!("{:?} / {:?}", task.state().queue(), task.state().status()))
            .collect();
        faces.push(format!("{state}: {}", shown.into_iter().collect::<Vec<_>>().join(", ")));
    }
    insta::assert_snapshot!(faces.join("\n"), @r"
    Incoming: Incoming / Queued
    Held: Incoming / Queued
    Breakdown: Breakdown / Queued
    Claimed: Claimed / Running
    NeedsContinuation: NeedsContinuation / Queued
    AwaitingResponse: Claimed / AwaitingResponse, Escalated / AwaitingResponse
    Blocked: Claimed / Blocked
    Provisional: Provisional / Running
    Landing: Landing / Running
    Recycled: Recycled / WaitingChildren
    Done: Done / Complete
    Failed: Failed / Error
    Cancelled: Rejected / Cancelled
    ");
}

#[test]
fn the_reply_box_is_shown_exactly_while_a_question_is_pending() {
    for state in StateName::ALL {
        for task in in_state(state) {
            let shown = task.state().status().shows_reply_ui();
            assert_eq!(shown, task.state().pending_question().is_some(), "{state}");
            // Only a running agent can have asked without its task waiting yet.
            assert!(task.pending_question().is_none() || shown || state == StateName::Claimed);
            assert_eq!(
                shown,
                matches!(task.state().status(), TaskStatus::AwaitingResponse | TaskStatus::Blocked)
            );
        }
    }
}

fn human_does(task: &Task, command: Command) -> Result<Task, CommandRefusal> {
    task.apply(command, &context(Actor::human("mia"))).map(|transition| transition.task)
}

fn code_task(depth: Depth) -> Task {
    Task::create(spec(TaskType::Implementation, depth))
}

#[test]
fn a_late_result_is_stale_in_every_state() {
    let end = || ended(ResultKind::Complete, SAYS, evidence(3, 10));
    for state in StateName::ALL {
        for task in in_state(state) {
            let start = Command::Start {
                attempt: AttemptId::from_bits(999),
                cycle: CycleId::from_bits(9),
                owner: owner(9),
            };
            let refusal = task.apply(start, &context(Actor::Baton)).unwrap_err();
            assert!(matches!(refusal, CommandRefusal::Stale { .. }), "{state}: {refusal:?}");
            let refusal = task.apply(settle(999, end()), &context(Actor::Baton)).unwrap_err();
            assert!(matches!(refusal, CommandRefusal::Stale { .. }), "{state}: {refusal:?}");
        }
    }
}

#[test]
fn a_reply_resumes_the_attempt_that_asked_ahead_of_other_work() {
    let asked =
        drive(code_task(Depth::Original), attempt(1, ended(ResultKind::Incomplete, ASKS, evidence(0, 5))));
    let question = asked.state().pending_question().unwrap();
    assert_eq!(question.text().as_str(), ASKS);
    let reply = Command::Reply {
        question: question.id,
        answer: text("No."),
        answered_by: baton_core::ask::answer_source::AnsweredBy::human("mia"),
    };
    let replied = human_does(&asked, reply).unwrap();
    assert_eq!(replied.state().queue(), QueueName::Incoming);
    assert!(replied.claim_rank() < code_task(Depth::Original).claim_rank());
    let again = human_does(&replied, claim(2)).unwrap();
    let live = again.state().live_attempt().unwrap();
    assert_eq!((live.number, live.resumes), (2, Some(AttemptId::from_bits(1))));
}

#[test]
fn silence_without_commits_sends_a_task_back_twice_and_then_a_person_is_asked() {
    let nothing = || ended(ResultKind::Complete, "", evidence(0, 5));
    let mut task = code_task(Depth::Original);
    for number in 1..=2 {
        task = drive(task, attempt(number, nothing()));
        assert_eq!(task.state().queue(), QueueName::Incoming);
    }
    task = drive(task, attempt(3, nothing()));
    let question = task.pending_question().unwrap();
    assert_eq!(question.kind(), QuestionKind::Clarification);
}

#[test]
fn a_person_says_whether_words_are_enough() {
    let words = || ended(ResultKind::Complete, SAYS, evidence(0, 5));
    let asked = drive(code_task(Depth::Original), attempt(1, words()));
    let answer = |words: &str| {
        let question = asked.pending_question().unwrap().id;
        let answered_by = AnsweredBy::human("mia");
        human_does(&asked, Command::Reply { question, answer: text(words), answered_by }).unwrap()
    };
    let enough = answer("enough");
    assert_eq!(enough.state().queue(), QueueName::Done);
    assert_eq!(enough.ledger().output.as_deref(), Some(SAYS), "without the question");
    for words in ["CHANGE CODE", "Use the other index"] {
        assert_eq!(answer(words).state().queue(), QueueName::Incoming, "{words}");
    }
}

#[test]
fn only_a_person_brings_a_cancelled_task_back() {
    let cancelled = human_does(&code_task(Depth::Original), Command::Cancel { reason: None }).unwrap();
    let back = human_does(&cancelled, Command::Retry).unwrap();
    assert_eq!(back.state().queue(), QueueName::Incoming);
    assert!(human_does(&back, claim(1)).is_ok());
    assert!(cancelled.apply(Command::Retry, &context(Actor::Baton)).is_err());
}

#[test]
fn systemic_errors_never_count_against_the_task() {
    let systemic = || ended(ResultKind::SystemicError, "", evidence(0, 0));
    let mut task = code_task(Depth::Original);
    for number in 1..=10 {
        task = drive(task, attempt(number, systemic()));
        assert_eq!((task.state().queue(), task.ledger().tries), (QueueName::Incoming, 0));
    }
}

#[test]
fn the_fourth_continuation_is_not_granted() {
    let limit = || ended(ResultKind::TurnLimit, "", evidence(1, 50));
    let mut task = code_task(Depth::Original);
    for number in 1..=3 {
        task = drive(task, attempt(number, limit()));
        assert_eq!(task.state().queue(), QueueName::NeedsContinuation);
    }
    task = drive(task, attempt(4, limit()));
    assert!(matches!(task.state(), TaskState::Provisional(work) if work.mark == ReviewMark::NotConverging));
    // Whatever a person takes for the reason, the planner is told the true one.
    let recycle = Command::Recycle { reason: RecycleReason::TooLarge };
    let recycled = task.apply(recycle, &context(Actor::human("mia"))).unwrap();
    let purpose = &recycled.created[0].spec().purpose;
    let reason = Some(RecycleReason::CumulativeFailures);
    assert!(matches!(purpose, Purpose::Breakdown { reason: told, .. } if *told == reason), "{purpose:?}");
}

#[test]
fn the_third_rejection_recycles_at_depth_0_and_escalates_at_depth_1() {
    let ready = || ended(ResultKind::Complete, SAYS, evidence(1, 10));
    let reject = || Command::Reject { reason: text("no tests") };
    for (depth, expected) in
        [(Depth::Original, QueueName::Recycled), (Depth::BrokenDown, QueueName::Escalated)]
    {
        let mut task = code_task(depth);
        for number in 1..=2 {
            task = drive(task, attempt(number, ready()).into_iter().chain([reject()]));
            assert_eq!(task.state().queue(), QueueName::Incoming);
        }
        task = drive(task, attempt(3, ready()).into_iter().chain([reject()]));
        assert_eq!(task.state().queue(), expected);
    }
}

#[test]
fn work_that_comes_back_unchanged_after_a_rejection_needs_a_person() {
    let at = |digit: &str| {
        let head = Some(digit.repeat(40).parse().unwrap());
        let mut end = ended(ResultKind::Complete, SAYS, evidence(1, 10));
        end.verified.head = head;
        end.verified.files_changed = 1;
        end
    };
    let reject = Command::Reject { reason: text("no tests") };
    let rejected = drive(code_task(Depth::Original), attempt(1, at("a")).into_iter().chain([reject]));
    let mark = |task: &Task| match task.state() {
        TaskState::Provisional(work) => work.mark.clone(),
        other => panic!("{other:?}"),
    };
    // A restart in between says nothing about the work.
    let systemic = ended(ResultKind::SystemicError, "", evidence(0, 0));
    let restarted = drive(rejected.clone(), attempt(2, systemic));
    for (before, number) in [(rejected.clone(), 2), (restarted, 3)] {
        let unchanged = drive(before, attempt(number, at("a")));
        assert!(
            matches!(mark(&unchanged), ReviewMark::NeedsReview { reasons } if reasons[0].contains("unchanged"))
        );
        let accept =
            |force| unchanged.apply(Command::Accept { force }, &context(Actor::human("mia"))).is_ok();
        assert_eq!([accept(false), accept(true)], [false, true]);
    }
    let changed = drive(rejected, attempt(2, at("b")));
    assert_eq!(mark(&changed), ReviewMark::Ready);
}

#[test]
fn i14_a_burned_out_task_is_accepted_only_by_a_human_who_forces_it() {
    for depth in [Depth::Original, Depth::BrokenDown] {
        let burned = drive(code_task(depth), attempt(1, ended(ResultKind::TurnLimit, "", evidence(0, 50))));
        for actor in actors() {
            for force in [false, true] {
                let accepted = burned.apply(Command::Accept { force }, &context(actor.clone())).is_ok();
                assert_eq!(accepted, force && actor.is_human(), "{actor:?} force={force}");
            }
        }
    }
}

#[test]
fn i14_only_a_human_splits_a_failed_part() {
    let burned =
        drive(code_task(Depth::BrokenDown), attempt(1, ended(ResultKind::TurnLimit, "", evidence(0, 50))));
    let escalated = drive(burned, [Command::Recycle { reason: RecycleReason::TooLarge }]);
    let split = Command::Reply {
        question: escalated.state().pending_question().unwrap().id,
        answer: text("split"),
        answered_by: baton_core::ask::answer_source::AnsweredBy::human("mia"),
    };
    let transition = escalated.apply(split, &context(Actor::human("mia"))).unwrap();
    let breakdown = &transition.created[0];
    assert_eq!(transition.task.state().queue(), QueueName::Recycled);
    assert!(matches!(human_does(breakdown, Command::Release), Err(CommandRefusal::SplitByHand { .. })));
    assert!(matches!(human_does(breakdown, claim(5)), Err(CommandRefusal::SplitByHand { .. })));
    assert_eq!(human_does(breakdown, Command::SubmitPlan).unwrap().state().queue(), QueueName::Provisional);
}

#[test]
fn a_breakdown_waits_for_a_human_or_a_policy_to_release_it() {
    let breakdown = Task::create(crate::samples::breakdown_spec(false));
    assert!(matches!(human_does(&breakdown, claim(5)), Err(CommandRefusal::NotReleased { .. })));
    assert!(matches!(
        breakdown.apply(Command::Release, &context(Actor::Baton)),
        Err(CommandRefusal::NotYours { .. })
    ));
    let released = breakdown.apply(Command::Release, &context(Actor::policy("nightly"))).unwrap().task;
    assert!(human_does(&released, claim(5)).is_ok());
}

#[test]
fn a_failing_check_sends_the_work_back_with_its_output_as_the_reason() {
    let mut end = ended(ResultKind::Complete, SAYS, evidence(2, 10));
    let failed = baton_core::task::attempt::CheckResult::new(text("test"), 101, "login_on_monday ... FAILED");
    end.verified.checks.push(failed);
    let task = drive(code_task(Depth::Original), attempt(1, end));
    assert_eq!((task.state().queue(), task.ledger().tries), (QueueName::Incoming, 1));
    let note = serde_json::to_string(&task.ledger().notes).unwrap();
    assert!(note.contains("login_on_monday"), "{note}");
}

#[test]
fn every_refusal_says_what_to_do_next() {
    let mut seen = BTreeSet::new();
    for state in StateName::ALL {
        for task in in_state(state) {
            for name in CommandName::ALL {
                for command in commands(name, &task) {
                    for actor in actors() {
                        if let Err(refusal) = task.apply(command.clone(), &context(actor)) {
                            assert!(!refusal.next().trim().is_empty() && !refusal.to_string().is_empty());
                            let form = serde_json::to_value(&refusal).unwrap();
                            seen.insert(form["code"].as_str().unwrap().to_owned());
                        }
                    }
                }
            }
        }
    }
    insta::assert_debug_snapshot!(seen, @r#"
    {
        "bad_replacement",
        "human_only",
        "is_plan",
        "may_not_ask",
        "needs_human",
        "no_reader",
        "not_breakdown",
        "not_released",
        "not_too_large",
        "not_yours",
        "other_question",
        "split_by_hand",
        "stale",
        "too_large",
        "unreadable_choice",
        "waiting_on",
        "wrong_state",
    }
    "#);
}

fn answer(task: &Task, reply: &str) -> Command {
    Command::Reply {
        question: task.pending_question().unwrap().id,
        answer: text(reply),
        answered_by: baton_core::ask::answer_source::AnsweredBy::human("mia"),
    }
}

#[test]
fn i6_only_the_running_attempt_asks_and_one_question_at_a_time() {
    let at_work = drive(code_task(Depth::Original), [claim(1), start(1)]);
    let refused = |task: &Task, number| match task.apply(ask(number), &context(Actor::Baton)).unwrap_err() {
        CommandRefusal::MayNotAsk { refusal, .. } => refusal.code(),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&at_work, 2), "not_owner");
    let asking = drive(at_work, [ask(1)]);
    assert_eq!(refused(&asking, 1), "question_pending");
    let waiting = drive(asking, [settle(1, ended(ResultKind::Asked, "", evidence(0, 1)))]);
    assert_eq!(refused(&waiting, 1), "cycle_closed");
    assert_eq!(refused(&waiting, 7), "not_owner");
    let again = drive(waiting.clone(), [answer(&waiting, "80"), claim(2), start(2)]);
    assert_eq!(refused(&again, 1), "not_owner");
    // Another question has another id.
    let mut later = context(Actor::Baton);
    later.fresh.question = QuestionId::from_bits(0x77);
    assert!(again.apply(ask(2), &later).is_ok());
}

#[test]
fn a_question_outlives_its_agent_however_that_ended() {
    let asking = drive(code_task(Depth::Original), [claim(1), start(1), ask(1)]);
    let question = asking.pending_question().unwrap().clone();
    let lost = drive(asking.clone(), [Command::ExpireLease { attempt: AttemptId::from_bits(1) }]);
    let ended = drive(asking, [settle(1, ended(ResultKind::Asked, "", evidence(0, 1)))]);
    for task in [lost, ended] {
        assert_eq!(task.state().pending_question(), Some(&question));
        let again = drive(task.clone(), [answer(&task, "80"), claim(2)]);
        assert_eq!(again.state().live_attempt().unwrap().resumes, Some(AttemptId::from_bits(1)));
    }
}

#[test]
fn an_answer_before_the_end_of_the_attempt_is_not_requested_again() {
    let asking = drive(code_task(Depth::Original), [claim(1), start(1), ask(1)]);
    let answered = drive(asking.clone(), [answer(&asking, "80")]);
    assert_eq!(answered.pending_question(), None);
    let ended = drive(answered, [settle(1, ended(ResultKind::Asked, "", evidence(0, 1)))]);
    assert_eq!((ended.state().queue(), ended.ledger().tries), (QueueName::Incoming, 0));
    let again = drive(ended, [claim(2)]);
    assert_eq!(again.state().live_attempt().unwrap().resumes, Some(AttemptId::from_bits(1)));
}

#[test]
fn five_automatic_answers_in_a_row_stop_the_automation_of_a_task() {
    let mut task = code_task(Depth::Original);
    let queued = |task: &Task| Command::Reply {
        question: task.pending_question().unwrap().id,
        answer: text("80"),
        answered_by: baton_core::ask::answer_source::AnsweredBy::Queued,
    };
    for number in 1..=5 {
        task = drive(task, [claim(number), start(number.try_into().unwrap())]);
        task = drive(task, [settle(number, ended(ResultKind::Asked, "", evidence(0, 1)))]);
        task = drive(task.clone(), [queued(&task)]);
    }
    task = drive(task, attempt(6, ended(ResultKind::Asked, "", evidence(0, 1))));
    let refusal = task.apply(queued(&task), &context(Actor::Baton)).unwrap_err();
    assert!(matches!(refusal, CommandRefusal::AutomationStopped { limit: 5, .. }), "{refusal:?}");
    let answered = drive(task.clone(), [answer(&task, "80")]);
    assert_eq!(answered.ledger().asking.automatic_in_a_row(), 0);
}

#[test]
fn a_held_task_waits_for_its_release() {
    let held = Task::create_held(spec(TaskType::Implementation, Depth::Original));
    assert!(!held.is_claimable());
    assert!(matches!(human_does(&held, claim(1)), Err(CommandRefusal::NotReleased { .. })));
    assert!(matches!(
        held.apply(Command::Release, &context(Actor::Baton)),
        Err(CommandRefusal::NotYours { .. })
    ));
    let let_go = human_does(&held, Command::Release).unwrap();
    assert!(let_go.is_claimable() && human_does(&let_go, claim(1)).is_ok());
    assert!(human_does(&let_go, Command::Release).is_err());
    let again = human_does(&let_go, Command::Hold { reason: text("stopped by you") }).unwrap();
    assert!(!again.is_claimable());
    let stored: Task = serde_json::from_str(&serde_json::to_string(&again).unwrap()).unwrap();
    assert_eq!(stored.ledger().held_because, Some(text("stopped by you")));
    assert_eq!(human_does(&stored, Command::Release).unwrap().ledger().held_because, None);
}

#[test]
fn i22_a_task_that_is_stopped_is_held_and_continues_where_it_was() {
    let stop = || Command::Hold { reason: text("stopped by you") };
    let fresh = || Task::create(spec(TaskType::Implementation, Depth::Original));
    let at_work = drive(fresh(), [claim(1), start(1)]);
    let asking = drive(fresh(), attempt(1, ended(ResultKind::Asked, "", evidence(0, 1))));
    for (task, has_question) in [(at_work, false), (asking, true)] {
        let stopped = task.apply(stop(), &context(Actor::human("mia"))).unwrap();
        assert_eq!(*stopped.task.state(), TaskState::Held);
        assert_eq!(stopped.questions.len(), usize::from(has_question), "a pending question is withdrawn");
        let released = human_does(&stopped.task, Command::Release).unwrap();
        assert_eq!(released.ledger().resumes, Some(AttemptId::from_bits(1)));
    }
}

#[test]
fn a_task_that_failed_while_held_is_held_again_after_a_retry() {
    let held = Task::create_held(spec(TaskType::Implementation, Depth::Original));
    let failed = human_does(&held, Command::MarkFailed { reason: text("it does not work") }).unwrap();
    let stored: Task = serde_json::from_str(&serde_json::to_string(&failed).unwrap()).unwrap();
    assert_eq!(stored, failed);
    assert_eq!(*human_does(&stored, Command::Retry).unwrap().state(), TaskState::Held);
}

#[test]
fn a_held_task_keeps_the_form_it_always_had() {
    let held = Task::create_held(spec(TaskType::Implementation, Depth::Original));
    let form = serde_json::to_value(&held).unwrap();
    assert_eq!(form["state"], serde_json::json!({ "name": "incoming" }));
    assert_eq!(form["ledger"]["is_held"], true);
    assert_eq!(serde_json::from_value::<Task>(form).unwrap(), held);
}
