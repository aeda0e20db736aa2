//! I6 to I9 over random walks of a loop: owners and strangers ask, people and policies answer, phases hand
//! off, the human breaks off, and the state goes through JSON at any moment.

use std::collections::BTreeSet;

use baton_core::answer_source::{AUTOMATIC_IN_A_ROW_MAX, AnsweredBy};
use baton_core::ask_cycle::{AskCycle, CycleState, QUESTIONS_PER_CYCLE_MAX};
use baton_core::choice::YesNoEdit;
use baton_core::discovered::{DiscoveredTask, Proposal, Verdict};
use baton_core::handoff::{Handoff, HandoffDecision, NamedTask, Results};
use baton_core::id::{CycleId, QuestionId, TaskId};
use baton_core::owner_token::OwnerToken;
use baton_core::phase::{Phase, PhaseStart};
use baton_core::phase_loop::{FreshCycle, GateAnswered, HandedOff, LoopAsked, PhaseLoop};
use baton_core::question::{Draft, QuestionKind};
use baton_core::text::NonBlank;
use baton_core::title::normalised_title;
use proptest::prelude::*;

const SEQUENCES: u32 = 10_000;
const STEPS_MAX: usize = 200;

#[derive(Debug, Clone, Copy)]
enum Who {
    Owner,
    /// The owner of the cycle before: the agent of a phase that is over.
    Former,
    Stranger,
}

#[derive(Debug, Clone, Copy)]
enum Which {
    Pending,
    Former,
    Unknown,
}

#[derive(Debug, Clone)]
enum Step {
    Start(PhaseStart),
    Ask {
        who: Who,
        kind: QuestionKind,
        topic: u8,
        id_used_before: bool,
    },
    Propose {
        titles: Vec<u8>,
    },
    Answer {
        which: Which,
        says: Says,
        by: By,
    },
    AnswerGate {
        which: Which,
        says: Says,
        by: By,
        results_fit: bool,
        fresh: bool,
    },
    BreakOff {
        with_results: bool,
    },
    /// The owner asks the gate and the human says yes, so that walks get somewhere.
    PassGate,
    TakeOver,
    /// A task of that title is finished elsewhere and open no more.
    Finish {
        title: u8,
    },
}

#[derive(Debug, Clone, Copy)]
enum Says {
    Yes,
    No,
    Edit,
    Words,
}

#[derive(Debug, Clone, Copy)]
enum By {
    Human,
    Queued,
    Policy,
    Expiry,
}

fn step() -> impl Strategy<Value = Step> {
    let who = prop_oneof![6 => Just(Who::Owner), 1 => Just(Who::Former), 1 => Just(Who::Stranger)];
    let which =
        || prop_oneof![6 => Just(Which::Pending), 1 => Just(Which::Former), 1 => Just(Which::Unknown)];
    let says = || prop_oneof![4 => Just(Says::Yes), 2 => Just(Says::No), 1 => Just(Says::Edit), 2 => Just(Says::Words)];
    let by = || {
        prop_oneof![
            4 => Just(By::Human),
            1 => Just(By::Queued),
            1 => Just(By::Policy),
            1 => Just(By::Expiry)
        ]
    };
    let kind = prop_oneof![2 => Just(QuestionKind::Gate), 3 => prop::sample::select(&QuestionKind::ALL[..])];
    let mostly = || prop::bool::weighted(0.9);
    prop_oneof![
        2 => prop::sample::select(&PhaseStart::ALL[..]).prop_map(Step::Start),
        8 => (who, kind, 0u8..6, prop::bool::weighted(0.05))
            .prop_map(|(who, kind, topic, id_used_before)| Step::Ask { who, kind, topic, id_used_before }),
        2 => prop::collection::vec(0u8..12, 1..5).prop_map(|titles| Step::Propose { titles }),
        6 => (which(), says(), by()).prop_map(|(which, says, by)| Step::Answer { which, says, by }),
        6 => (which(), says(), by(), mostly(), mostly()).prop_map(|(which, says, by, results_fit, fresh)| {
            Step::AnswerGate { which, says, by, results_fit, fresh }
        }),
        3 => Just(Step::PassGate),
        1 => any::<bool>().prop_map(|with_results| Step::BreakOff { with_results }),
        1 => Just(Step::TakeOver),
        1 => (0u8..12).prop_map(|title| Step::Finish { title }),
    ]
}

fn text(words: &str) -> NonBlank {
    NonBlank::new(words).unwrap()
}

/// Twelve spellings of four tasks.
fn title(number: u8) -> String {
    let task = ["Fix parser", "Add docs", "Trim logs", "Sort ids"][usize::from(number % 4)];
    match number / 4 {
        0 => task.to_owned(),
        1 => format!(" {}!", task.to_uppercase()),
        _ => task.to_lowercase().replace(' ', " - "),
    }
}

fn results_of(phase: Phase) -> Results {
    let named = |number| NamedTask { id: TaskId::from_bits(number), title: text("a subtask") };
    match phase {
        Phase::Hub => Results::Started,
        Phase::Plan => Results::Planned { subtasks: vec![named(1), named(2)] },
        Phase::Execute => Results::Executed { completed: vec![named(1)], failed: vec![named(2)] },
        Phase::Review => Results::Reviewed { discovered: 2, duplicates_skipped: 1 },
    }
}

/// The machine under test, a twin that never went through JSON, and what the outside remembers.
struct Walk {
    at: PhaseLoop,
    twin: PhaseLoop,
    made: u32,
    former_owner: OwnerToken,
    answered: BTreeSet<QuestionId>,
    closed_cycles: BTreeSet<CycleId>,
    /// Of the open cycle: every word asked and answered in it but the gate's.
    said_in_cycle: Vec<String>,
    last_question_was_gate: bool,
    /// An id the open cycle must know for a used one. Ids of older cycles are the store's to keep apart.
    used_id: Option<QuestionId>,
    proposal: Option<(QuestionId, Proposal)>,
    /// Normalised, as the store would have them.
    open_titles: BTreeSet<String>,
    handoffs: usize,
    created: usize,
    skipped: usize,
}

impl Walk {
    fn new() -> Self {
        let at = PhaseLoop::new("sess_walk".parse().unwrap());
        Self {
            twin: at.clone(),
            at,
            made: 0,
            former_owner: OwnerToken::from_digest([0xff; 32]),
            answered: BTreeSet::new(),
            closed_cycles: BTreeSet::new(),
            said_in_cycle: Vec::new(),
            last_question_was_gate: false,
            used_id: None,
            proposal: None,
            open_titles: BTreeSet::new(),
            handoffs: 0,
            created: 0,
            skipped: 0,
        }
    }

    fn make(&mut self) -> u32 {
        self.made += 1;
        self.made
    }

    fn owner(&self) -> OwnerToken {
        self.at.cycle().map_or(self.former_owner, |cycle| *cycle.owner())
    }

    fn make_fresh(&mut self) -> FreshCycle {
        let number = self.make();
        let mut digest = [0; 32];
        digest[..4].copy_from_slice(&number.to_be_bytes());
        FreshCycle { id: CycleId::from_bits(number.into()), owner: OwnerToken::from_digest(digest) }
    }

    fn through_json(&mut self) {
        let json = serde_json::to_string(&self.at).unwrap();
        self.at = serde_json::from_str(&json).unwrap();
        assert_eq!(self.at, self.twin, "{json}");
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Start(start) => self.start(*start),
            Step::Ask { who, kind, topic, id_used_before } => {
                let words = format!("question-words-{topic}");
                self.ask(*who, Draft::new(*kind, text(&words)), *id_used_before);
            }
            Step::Propose { titles } => self.propose(titles),
            Step::Answer { which, says, by } => self.answer(*which, *says, *by),
            Step::AnswerGate { which, says, by, results_fit, fresh } => {
                self.answer_gate(*which, *says, *by, *results_fit, *fresh);
            }
            Step::PassGate => {
                self.ask(Who::Owner, Draft::new(QuestionKind::Gate, text("question-words")), false);
                self.answer_gate(Which::Pending, Says::Yes, By::Human, true, true);
            }
            Step::BreakOff { with_results } => self.break_off(*with_results),
            Step::TakeOver => self.take_over(),
            Step::Finish { title: number } => {
                self.open_titles.remove(&normalised_title(&title(*number)));
            }
        }
        self.check();
    }

    fn start(&mut self, start: PhaseStart) {
        let fresh = self.make_fresh();
        let came = self.at.start(start, fresh);
        assert_eq!(came, self.twin.start(start, fresh));
        assert_eq!(came.is_ok(), self.at.phase() == Phase::Hub);
        if let Ok(handed_off) = came {
            self.moved(handed_off);
        }
    }

    fn ask(&mut self, who: Who, draft: Draft, id_used_before: bool) -> Option<QuestionId> {
        let token = match who {
            Who::Owner => self.owner(),
            Who::Former => self.former_owner,
            Who::Stranger => OwnerToken::from_digest([0xee; 32]),
        };
        let used = if id_used_before { self.used_id } else { None };
        let id = used.unwrap_or_else(|| QuestionId::from_bits(self.make()));
        let (kind, words) = (draft.kind, draft.text.to_string());
        let came = self.at.ask(&token, draft.clone().with_id(id));
        assert_eq!(came, self.twin.ask(&token, draft.with_id(id)));

        // I6, both ways: what may be asked is asked, what may not is refused and leaves no trace.
        let cycle = self.at.cycle();
        let may_ask = cycle.is_some_and(|cycle| {
            cycle.is_open() && *cycle.owner() == token && cycle.pending().is_none() && used.is_none()
        });
        let below_limit = cycle.is_some_and(|cycle| cycle.asked_count() < QUESTIONS_PER_CYCLE_MAX);
        match came {
            Ok(LoopAsked::Pending { next }) => {
                assert!(may_ask && below_limit);
                assert_eq!(next.pending().map(|question| question.id), Some(id));
                if kind == QuestionKind::Gate {
                    let gate = next.pending().unwrap().text().to_string();
                    // What is said about it stands below.
                    assert_eq!(gate.lines().next(), next.phase().gate_text(), "I7: one gate per phase");
                } else {
                    self.said_in_cycle.push(words);
                }
                self.last_question_was_gate = kind == QuestionKind::Gate;
                (self.twin, self.at) = (*next.clone(), *next);
                Some(id)
            }
            Ok(LoopAsked::Again { answer, .. }) => {
                assert_eq!(kind, QuestionKind::Clarification);
                assert!(may_ask && self.said_in_cycle.contains(&answer.to_string()));
                None
            }
            Err(refusal) => {
                assert!(!may_ask || !below_limit, "{refusal}");
                let json = serde_json::to_value(&refusal).unwrap();
                assert!(json["code"].is_string() && json["message"].is_string() && json["next"].is_string());
                None
            }
        }
    }

    fn propose(&mut self, titles: &[u8]) {
        if self.at.phase() != Phase::Review {
            return;
        }
        let tasks = titles
            .iter()
            .map(|&number| DiscoveredTask { title: text(&title(number)), description: String::new() });
        let proposal = Proposal::new(tasks.collect()).unwrap();
        let Some(draft) = proposal.question(self.open_titles.iter().map(String::as_str)) else { return };
        if let Some(id) = self.ask(Who::Owner, draft, false) {
            self.proposal = Some((id, proposal));
        }
    }

    fn id_of(&mut self, which: Which) -> QuestionId {
        let known = match which {
            Which::Pending => self.at.pending().map(|question| question.id),
            Which::Former => self.answered.last().copied(),
            Which::Unknown => None,
        };
        known.unwrap_or_else(|| QuestionId::from_bits(u32::MAX))
    }

    fn words(&mut self, says: Says) -> NonBlank {
        match says {
            Says::Yes => text("yes"),
            Says::No => text("No."),
            Says::Edit => text("edit"),
            Says::Words => text(&format!("answer-words-{}", self.make())),
        }
    }

    fn answer(&mut self, which: Which, says: Says, by: By) {
        let (id, words) = (self.id_of(which), self.words(says));
        let came = self.at.answer(id, &words, answered_by(by));
        assert_eq!(came, self.twin.answer(id, &words, answered_by(by)));
        let Ok((next, answered)) = came else { return };
        let question = self.at.pending().unwrap().clone();
        self.check_answer(id, &question.draft, by);
        assert_ne!(question.kind(), QuestionKind::Gate);
        assert_eq!(next.phase(), self.at.phase());
        self.said_in_cycle.push(answered.answer.to_string());
        (self.twin, self.at) = (next.clone(), next);
        if let Some((asked, proposal)) = self.proposal.take() {
            if asked == id {
                self.decide_proposal(proposal, YesNoEdit::read(answered.answer.as_str()).unwrap());
            } else {
                self.proposal = Some((asked, proposal));
            }
        }
    }

    fn check_answer(&mut self, id: QuestionId, draft: &Draft, by: By) {
        assert_eq!(self.at.pending().map(|question| question.id), Some(id));
        assert!(self.answered.insert(id), "an answer is applied once");
        self.used_id = Some(id);
        let automatic = !matches!(by, By::Human);
        assert!(!(automatic && draft.kind.is_human_only()));
        let before = self.at.cycle().map_or(0, AskCycle::automatic_in_a_row);
        assert!(!automatic || before < AUTOMATIC_IN_A_ROW_MAX);
    }

    fn decide_proposal(&mut self, proposal: Proposal, said: YesNoEdit) {
        let proposed = proposal.tasks().len();
        match proposal.answered(said) {
            Verdict::Approved(approved) => {
                assert_eq!(said, YesNoEdit::Yes, "I9: only after YES");
                let open = self.open_titles.clone();
                let selection = approved.against(open.iter().map(String::as_str)).into_selection();
                assert_eq!(selection.create.len() + selection.skipped.len(), proposed);
                for task in &selection.create {
                    let fresh = self.open_titles.insert(normalised_title(task.title.as_str()));
                    assert!(fresh, "I9: never twice");
                }
                self.created += selection.create.len();
                self.skipped += selection.skipped.len();
            }
            Verdict::Dropped => assert_eq!(said, YesNoEdit::No),
            Verdict::Editing(editing) => {
                assert_eq!(said, YesNoEdit::Edit);
                let mut tasks = editing.proposal().tasks().to_vec();
                tasks.truncate(1);
                let edited = editing.replaced_by(tasks).unwrap();
                let Some(draft) = edited.question(self.open_titles.iter().map(String::as_str)) else {
                    return;
                };
                if let Some(id) = self.ask(Who::Owner, draft, false) {
                    self.proposal = Some((id, edited));
                }
            }
        }
    }

    fn answer_gate(&mut self, which: Which, says: Says, by: By, results_fit: bool, fresh: bool) {
        let (id, words) = (self.id_of(which), self.words(says));
        let results = if results_fit { results_of(self.at.phase()) } else { Results::Started };
        let next_cycle = match self.at.cycle() {
            Some(old) if !fresh => FreshCycle { id: old.id(), owner: *old.owner() },
            Some(_) | None => self.make_fresh(),
        };
        let answer_at =
            |at: &PhaseLoop| at.answer_gate(id, &words, answered_by(by), results.clone(), next_cycle);
        let came = answer_at(&self.at);
        assert_eq!(came, answer_at(&self.twin));
        let Ok(answered) = came else { return };
        let draft = self.at.pending().unwrap().draft.clone();
        self.check_answer(id, &draft, by);
        assert_eq!(draft.kind, QuestionKind::Gate);
        match answered {
            GateAnswered::Stayed { next } => {
                assert!(matches!(says, Says::No) && matches!(next.phase(), Phase::Plan | Phase::Execute));
                assert!(next.cycle().unwrap().is_open() && next.pending().is_none());
                (self.twin, self.at) = (*next.clone(), *next);
            }
            GateAnswered::HandedOff(handed_off) => {
                assert!(self.last_question_was_gate, "I7: the gate is the last question");
                assert_eq!(handed_off.closed.as_ref().unwrap().state(), &CycleState::GatePassed);
                self.moved(*handed_off);
            }
        }
    }

    fn break_off(&mut self, with_results: bool) {
        let so_far = with_results.then(|| results_of(self.at.phase()));
        let came = self.at.break_off(so_far.as_ref());
        assert_eq!(came, self.twin.break_off(so_far.as_ref()));
        assert_eq!(came.is_ok(), self.at.phase() != Phase::Hub);
        if let Ok(handed_off) = came {
            self.used_id = None;
            assert_eq!(handed_off.handoff.decision, HandoffDecision::BrokenOff);
            self.moved(handed_off);
        }
    }

    fn take_over(&mut self) {
        let owner = self.make_fresh().owner;
        let came = self.at.taken_over_by(owner);
        assert_eq!(came, self.twin.taken_over_by(owner));
        if let Ok(next) = came {
            self.former_owner = self.owner();
            assert_eq!(next.pending(), self.at.pending());
            (self.twin, self.at) = (next.clone(), next);
        }
    }

    fn moved(&mut self, handed_off: HandedOff) {
        let HandedOff { next, closed, handoff } = handed_off;
        assert_eq!((handoff.from, handoff.to), (self.at.phase(), next.phase()));
        assert_eq!(handoff.iteration, next.iteration());
        check_edge(&handoff, self.at.iteration());
        // I7: what closes and what opens come in one value.
        if let Some(closed) = &closed {
            assert!(!closed.is_open());
            assert_eq!(Some(closed.id()), self.at.cycle().map(AskCycle::id));
            assert!(self.closed_cycles.insert(closed.id()), "a cycle closes once");
        }
        let whole = serde_json::to_string(&handoff).unwrap();
        for said in &self.said_in_cycle {
            let is_a_word = ["yes", "no.", "edit"].contains(&said.to_lowercase().as_str())
                || ["YES", "NO", "EDIT"].contains(&said.as_str());
            let is_there = whole.contains(said.as_str()) || handoff.prompt.contains(said.as_str());
            assert!(is_a_word || !is_there, "{said} in {whole}");
        }
        if next.phase() != Phase::Hub {
            let opened = next.cycle().unwrap();
            assert!(opened.is_open() && opened.pending().is_none() && opened.asked_count() == 0);
            assert!(!self.closed_cycles.contains(&opened.id()), "I7: a fresh cycle");
            self.former_owner = self.owner();
        }
        self.said_in_cycle.clear();
        self.last_question_was_gate = false;
        self.proposal = None;
        self.handoffs += 1;
        (self.twin, self.at) = (next.clone(), next);
    }

    /// What holds after every step.
    fn check(&self) {
        let open = self.at.cycle().is_some_and(AskCycle::is_open);
        assert_eq!(open, self.at.phase() != Phase::Hub, "I6: one open cycle in a phase, none in the hub");
        if let Some(cycle) = self.at.cycle() {
            assert!(!(open && self.closed_cycles.contains(&cycle.id())), "I7: no cycle opens again");
            assert!(cycle.asked_count() <= QUESTIONS_PER_CYCLE_MAX);
            assert!(cycle.automatic_in_a_row() <= AUTOMATIC_IN_A_ROW_MAX);
        }
    }
}

fn answered_by(by: By) -> AnsweredBy {
    match by {
        By::Human => AnsweredBy::human("ada"),
        By::Queued => AnsweredBy::Queued,
        By::Policy => AnsweredBy::Policy { name: "default_answer".to_owned() },
        By::Expiry => AnsweredBy::Expiry,
    }
}

/// I8, as a list.
fn check_edge(handoff: &Handoff, iteration_before: u32) {
    use HandoffDecision::{BrokenOff, No, Started, Yes};
    use Phase::{Execute, Hub, Plan, Review};
    let expected = match (handoff.from, handoff.to, handoff.decision) {
        (Hub, Plan | Execute | Review, Started) => 1,
        (Plan, Execute, Yes)
        | (Execute, Review, Yes)
        | (Review, Hub, No)
        | (Plan | Execute | Review, Hub, BrokenOff) => iteration_before,
        (Review, Plan, Yes) => iteration_before + 1,
        other => panic!("I8: no such edge: {other:?}"),
    };
    assert_eq!(handoff.iteration, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(SEQUENCES))]

    #[test]
    fn i6_i7_i8_i9_hold_on_every_walk(
        steps in prop::collection::vec((step(), prop::bool::weighted(0.2)), 1..STEPS_MAX),
    ) {
        let mut walk = Walk::new();
        for (step, goes_through_json) in &steps {
            if *goes_through_json {
                walk.through_json();
            }
            walk.take(step);
        }
    }
}

/// The walks above would prove little if they seldom got anywhere.
#[test]
fn the_walks_reach_every_part_of_the_loop() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let walks = prop::collection::vec(step(), STEPS_MAX);
    let (mut handoffs, mut answers, mut created, mut skipped) = (0, 0, 0, 0);
    let mut iterations = 0;
    for _ in 0..200 {
        let mut walk = Walk::new();
        for step in walks.new_tree(&mut runner).unwrap().current() {
            walk.take(&step);
            iterations = iterations.max(walk.at.iteration());
        }
        handoffs += walk.handoffs;
        answers += walk.answered.len();
        created += walk.created;
        skipped += walk.skipped;
    }
    let reached = format!("{handoffs} {answers} {created} {skipped} {iterations}");
    assert!(
        handoffs > 1_000 && answers > 1_000 && created > 50 && skipped > 10 && iterations > 2,
        "{reached}"
    );
}
