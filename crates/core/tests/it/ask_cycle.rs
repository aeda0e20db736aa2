//! The ask cycle, rule by rule.

use baton_core::ask::answer_memory::REMEMBERED_MAX;
use baton_core::ask::answer_source::{AUTOMATIC_IN_A_ROW_MAX, AnsweredBy};
use baton_core::ask::choice::YesNo;
use baton_core::ask::cycle::{
    AskCycle, AskOutcome, CycleState, GATE_PLACES_KEPT, GateRule, QUESTIONS_PER_CYCLE_MAX,
};
use baton_core::ask::question::{Question, QuestionDraft, QuestionKind};
use baton_core::ask::refusal::{AnswerRefusal, AskRefusal, RefusalForm};
use baton_core::base::id::{CycleId, QuestionId};
use baton_core::base::text::NonBlank;
use baton_core::people::owner_token::OwnerToken;

const OWNER: OwnerToken = OwnerToken::from_digest([1; 32]);
const STRANGER: OwnerToken = OwnerToken::from_digest([2; 32]);
const CYCLE: CycleId = CycleId::from_bits(7);

fn text(words: &str) -> NonBlank {
    NonBlank::new(words).unwrap()
}

fn id(number: u32) -> QuestionId {
    QuestionId::from_bits(number)
}

fn question(number: u32, kind: QuestionKind, words: &str) -> Question {
    QuestionDraft::new(kind, text(words)).with_id(id(number))
}

fn ada() -> AnsweredBy {
    AnsweredBy::human("ada")
}

fn open(rule: GateRule) -> AskCycle {
    AskCycle::open(CYCLE, OWNER, rule, 0)
}

fn asking(cycle: &AskCycle, question: Question) -> AskCycle {
    match cycle.ask(&OWNER, question).unwrap() {
        AskOutcome::Pending { cycle } => *cycle,
        AskOutcome::Again { answer, .. } => panic!("answered from memory: {answer}"),
    }
}

fn answering(cycle: &AskCycle, number: u32, words: &str) -> AskCycle {
    cycle.answer(id(number), &text(words), ada()).unwrap().cycle
}

#[test]
fn i6_a_second_question_is_refused_at_once() {
    let cycle = asking(&open(GateRule::YesPasses), question(1, QuestionKind::Clarification, "Which?"));
    for kind in QuestionKind::ALL {
        let refusal = cycle.ask(&OWNER, question(2, kind, "And?")).unwrap_err();
        assert_eq!(refusal, AskRefusal::QuestionPending { pending: id(1) });
    }
    assert_eq!(cycle.pending().map(|pending| pending.id), Some(id(1)));
}

#[test]
fn i6_only_the_owner_asks_in_whatever_state_the_cycle_is() {
    let opened = open(GateRule::YesPasses);
    let pending = asking(&opened, question(1, QuestionKind::Gate, "Go?"));
    let passed = answering(&pending, 1, "yes");
    for cycle in [opened.close(), opened, pending, passed] {
        for kind in QuestionKind::ALL {
            assert_eq!(cycle.ask(&STRANGER, question(2, kind, "Me?")), Err(AskRefusal::NotOwner));
        }
    }
}

#[test]
fn i6_a_closed_cycle_takes_no_question_and_withdraws_the_pending_one() {
    let cycle = asking(&open(GateRule::YesPasses), question(1, QuestionKind::Clarification, "Which?"));
    let closed = cycle.close();
    assert_eq!(closed.state(), &CycleState::Closed { withdrawn: Some(id(1)) });
    assert_eq!(
        closed.ask(&OWNER, question(2, QuestionKind::Gate, "Go?")),
        Err(AskRefusal::CycleClosed { cycle: CYCLE })
    );
    assert_eq!(closed.answer(id(1), &text("x"), ada()), Err(AnswerRefusal::Withdrawn { id: id(1) }));
    assert_eq!(closed.close(), closed);
    assert_eq!(closed.take_over(STRANGER), Err(AskRefusal::CycleClosed { cycle: CYCLE }));
}

#[test]
fn i7_every_answer_at_the_gate_closes_or_reopens_as_its_rule_says() {
    for (rule, decision, closes) in [
        (GateRule::YesPasses, YesNo::Yes, true),
        (GateRule::YesPasses, YesNo::No, false),
        (GateRule::BothPass, YesNo::Yes, true),
        (GateRule::BothPass, YesNo::No, true),
    ] {
        let cycle = asking(&open(rule), question(1, QuestionKind::Gate, "Go?"));
        let answered = cycle.answer(id(1), &text(decision.as_str()), ada()).unwrap();
        assert_eq!(answered.gate, Some(decision));
        let after = answered.cycle;
        let second = after.answer(id(1), &text("yes"), ada());
        assert_eq!(second, Err(AnswerRefusal::AlreadyAnswered { id: id(1) }));
        let more = after.ask(&OWNER, question(2, QuestionKind::Clarification, "One more?"));
        if closes {
            assert_eq!(more, Err(AskRefusal::GatePassed { cycle: CYCLE }));
            assert_eq!(after.close(), after, "a passed gate stays passed");
        } else {
            assert!(more.is_ok());
            let again = asking(&after, question(3, QuestionKind::Gate, "Go?"));
            assert!(again.pending().is_some(), "a declined gate may be asked again");
        }
    }
}

#[test]
fn a_gate_offers_yes_and_no_whatever_came_with_it() {
    let mut gate = question(1, QuestionKind::Gate, "Go?");
    gate.draft.options = vec![text("perhaps")];
    let cycle = asking(&open(GateRule::YesPasses), gate);
    let offered: Vec<&str> = cycle.pending().unwrap().draft.options.iter().map(NonBlank::as_str).collect();
    assert_eq!(offered, ["YES", "NO"]);
    let refusal = cycle.answer(id(1), &text("perhaps"), ada()).unwrap_err();
    assert_eq!(refusal.code(), "unreadable_answer");
    assert!(cycle.answer(id(1), &text(" y "), ada()).is_ok());
}

#[test]
fn a_question_is_answered_once_and_an_unknown_one_never() {
    let cycle = asking(&open(GateRule::YesPasses), question(1, QuestionKind::Confirmation, "Run?"));
    assert_eq!(cycle.answer(id(9), &text("x"), ada()), Err(AnswerRefusal::UnknownQuestion { id: id(9) }));
    let cycle = answering(&cycle, 1, "yes");
    let cycle = asking(&cycle, question(2, QuestionKind::Confirmation, "Run?"));
    assert_eq!(cycle.answer(id(1), &text("no"), ada()), Err(AnswerRefusal::AlreadyAnswered { id: id(1) }));
    let cycle = answering(&cycle, 2, "yes");
    let taken = cycle.ask(&OWNER, question(1, QuestionKind::Confirmation, "Old id?"));
    assert_eq!(taken, Err(AskRefusal::IdTaken { id: id(1) }));
}

#[test]
fn i6_questions_are_limited_and_the_gate_can_still_be_asked() {
    let mut cycle = open(GateRule::YesPasses);
    let mut number = 0;
    let mut ask_until_refused = |mut cycle: AskCycle, kind, answer| loop {
        number += 1;
        match cycle.ask(&OWNER, question(number, kind, "Again?")) {
            Ok(AskOutcome::Pending { cycle: asked }) => cycle = answering(&asked, number, answer),
            Ok(AskOutcome::Again { .. }) => panic!("only clarifications are remembered"),
            Err(refusal) => return (cycle, refusal),
        }
    };
    let limit = QUESTIONS_PER_CYCLE_MAX - GATE_PLACES_KEPT;
    let refusal;
    (cycle, refusal) = ask_until_refused(cycle, QuestionKind::Confirmation, "yes");
    assert_eq!((cycle.asked_count(), refusal), (limit, AskRefusal::LimitReached { limit }));
    let refusal;
    (cycle, refusal) = ask_until_refused(cycle, QuestionKind::Gate, "no");
    let limit = QUESTIONS_PER_CYCLE_MAX;
    assert_eq!((cycle.asked_count(), refusal), (limit, AskRefusal::LimitReached { limit }));
}

#[test]
fn answered_information_is_not_asked_again() {
    let which = |number| question(number, QuestionKind::Clarification, "Which database?");
    let cycle = answering(&asking(&open(GateRule::YesPasses), which(1)), 1, "sqlite");
    let again = AskOutcome::Again { answer: text("sqlite"), answered_by: ada() };
    assert_eq!(cycle.ask(&OWNER, which(2)), Ok(again));
    let mut other = which(3);
    other.draft.options = vec![text("sqlite"), text("postgres")];
    assert!(matches!(cycle.ask(&OWNER, other), Ok(AskOutcome::Pending { .. })));

    let mut cycle = cycle;
    for number in 10..10 + u32::try_from(REMEMBERED_MAX).unwrap() {
        let another = question(number, QuestionKind::Clarification, &format!("Question {number}?"));
        cycle = answering(&asking(&cycle, another), number, "x");
    }
    assert!(matches!(cycle.ask(&OWNER, which(4)), Ok(AskOutcome::Pending { .. })), "the memory is bounded");
}

#[test]
fn a_decision_is_asked_again_each_time() {
    for kind in QuestionKind::ALL {
        let cycle = asking(&open(GateRule::YesPasses), question(1, kind, "Now?"));
        let cycle = answering(&cycle, 1, "no");
        let again = cycle.ask(&OWNER, question(2, kind, "Now?")).unwrap();
        let from_memory = matches!(again, AskOutcome::Again { .. });
        assert_eq!(from_memory, kind == QuestionKind::Clarification, "{kind:?}");
    }
}

#[test]
fn nothing_automatic_answers_danger_or_escalation() {
    let automatic =
        [AnsweredBy::Queued, AnsweredBy::Policy { name: "default_answer".to_owned() }, AnsweredBy::Expiry];
    for kind in QuestionKind::ALL {
        for by in automatic.clone() {
            let cycle = asking(&open(GateRule::YesPasses), question(1, kind, "Now?"));
            let refused = cycle.answer(id(1), &text("yes"), by);
            let human_only =
                matches!(kind, QuestionKind::Danger | QuestionKind::Escalation | QuestionKind::Completion);
            assert_eq!(refused == Err(AnswerRefusal::HumanOnly { id: id(1) }), human_only, "{kind:?}");
            assert_eq!(refused.is_ok(), !human_only, "{kind:?}");
        }
    }
}

#[test]
fn five_automatic_answers_in_a_row_stop_the_automation_until_a_human_answers() {
    let run = |number| question(number, QuestionKind::Confirmation, "Run?");
    let mut cycle = open(GateRule::YesPasses);
    for number in 1..=AUTOMATIC_IN_A_ROW_MAX {
        cycle = asking(&cycle, run(number));
        cycle = cycle.answer(id(number), &text("yes"), AnsweredBy::Queued).unwrap().cycle;
    }
    cycle = asking(&cycle, run(100));
    let refusal = cycle.answer(id(100), &text("yes"), AnsweredBy::Expiry).unwrap_err();
    assert_eq!(refusal.code(), "automation_stopped");
    cycle = answering(&cycle, 100, "yes");
    assert_eq!(cycle.automatic_in_a_row(), 0);
    cycle = asking(&cycle, run(101));
    assert!(cycle.answer(id(101), &text("yes"), AnsweredBy::Expiry).is_ok());
}

#[test]
fn a_new_attempt_takes_over_with_the_question_still_pending() {
    let cycle = asking(&open(GateRule::YesPasses), question(1, QuestionKind::Confirmation, "Run?"));
    let taken = cycle.take_over(STRANGER).unwrap();
    assert_eq!(taken.pending(), cycle.pending());
    let taken = answering(&taken, 1, "yes");
    let next = question(2, QuestionKind::Confirmation, "Next?");
    assert_eq!(taken.ask(&OWNER, next.clone()), Err(AskRefusal::NotOwner));
    assert!(taken.ask(&STRANGER, next).is_ok());
}

#[test]
fn refusals_have_a_code_a_message_and_a_next_step() {
    let refusal = AskRefusal::QuestionPending { pending: id(1) };
    insta::assert_snapshot!(serde_json::to_string_pretty(&refusal).unwrap(), @r#"
    {
      "code": "question_pending",
      "message": "question Q-00000001 is still pending, and a cycle has at most one pending question",
      "next": "Wait for that answer, or end your turn: you are resumed with it. Then ask again."
    }
    "#);
    let ask = [
        AskRefusal::NotOwner,
        AskRefusal::NoCycle,
        AskRefusal::CycleClosed { cycle: CYCLE },
        AskRefusal::GatePassed { cycle: CYCLE },
        AskRefusal::QuestionPending { pending: id(1) },
        AskRefusal::LimitReached { limit: 3 },
        AskRefusal::IdTaken { id: id(1) },
    ];
    let why = YesNo::read("?").unwrap_err();
    let answer = [
        AnswerRefusal::AlreadyAnswered { id: id(1) },
        AnswerRefusal::Withdrawn { id: id(1) },
        AnswerRefusal::UnknownQuestion { id: id(1) },
        AnswerRefusal::HumanOnly { id: id(1) },
        AnswerRefusal::AutomationStopped { id: id(1), limit: 5 },
        AnswerRefusal::Unreadable { id: id(1), why },
        AnswerRefusal::IsGate { id: id(1) },
    ];
    let forms = ask.into_iter().map(RefusalForm::from).chain(answer.into_iter().map(RefusalForm::from));
    let lines: Vec<String> = forms.map(|form| format!("{}: {}", form.code, form.message)).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    not_owner: this agent does not own the open ask cycle
    no_cycle: no phase is running, so no agent may ask
    cycle_closed: ask cycle CYC-0000000000000007 is closed
    gate_passed: the gate of ask cycle CYC-0000000000000007 was passed, and a gate is the last question of its cycle
    question_pending: question Q-00000001 is still pending, and a cycle has at most one pending question
    limit_reached: this cycle has asked its 3 questions
    id_taken: the id Q-00000001 was already used in this cycle
    already_answered: question Q-00000001 is already answered
    withdrawn: question Q-00000001 was withdrawn when its phase ended
    unknown_question: unknown question Q-00000001
    human_only: only a human may answer question Q-00000001
    automation_stopped: 5 automatic answers in a row were given, so question Q-00000001 waits for a human
    unreadable_answer: invalid answer to question Q-00000001: "?" is not one of the offered answers; answer with one of: YES, NO
    is_gate: question Q-00000001 is the phase's gate, and its answer hands the phase's results on
    "#);
}

#[test]
fn a_cycle_is_stored_in_a_stable_form() {
    let cycle = asking(&open(GateRule::BothPass), question(1, QuestionKind::Clarification, "Which?"));
    let cycle = asking(&answering(&cycle, 1, "this"), question(2, QuestionKind::Gate, "Go?"));
    insta::assert_snapshot!(serde_json::to_string_pretty(&cycle).unwrap(), @r#"
    {
      "id": "CYC-0000000000000007",
      "owner": "0101010101010101010101010101010101010101010101010101010101010101",
      "gate_rule": "both_pass",
      "state": "open",
      "pending": {
        "id": "Q-00000002",
        "text": "Go?",
        "kind": "gate",
        "options": [
          "YES",
          "NO"
        ]
      },
      "asked_count": 2,
      "automatic_in_a_row": 0,
      "answered": [
        "Q-00000001"
      ],
      "remembered": [
        {
          "text": "Which?",
          "answer": "this",
          "answered_by": {
            "by": "human",
            "name": "ada"
          }
        }
      ]
    }
    "#);
    let passed = answering(&cycle, 2, "no");
    for cycle in [cycle.close(), passed, cycle] {
        let json = serde_json::to_string(&cycle).unwrap();
        assert_eq!(serde_json::from_str::<AskCycle>(&json).unwrap(), cycle, "{json}");
    }
}
