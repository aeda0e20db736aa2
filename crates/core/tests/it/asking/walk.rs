//! A walk through a loop, compared with an external record of it.

use std::collections::BTreeSet;

use baton_core::ask::answer_source::AUTOMATIC_IN_A_ROW_MAX;
use baton_core::ask::cycle::{AskCycle, QUESTIONS_PER_CYCLE_MAX};
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::{CycleId, QuestionId};
use baton_core::base::title::normalize_title;
use baton_core::people::owner_token::OwnerToken;
use baton_core::phase::discovered::{DiscoveredTask, Proposal};
use baton_core::phase::handoff::{Handoff, HandoffDecision};
use baton_core::phase::phase_loop::{FreshCycle, LoopAskOutcome, LoopHandoff, PhaseLoop};
use baton_core::phase::{Phase, PhaseStart};

use super::step::*;

/// The machine under test, a twin that was never serialized, and an external record.
pub(super) struct Walk {
    pub(super) at: PhaseLoop,
    pub(super) twin: PhaseLoop,
    pub(super) made: u32,
    pub(super) former_owner: OwnerToken,
    pub(super) answered: BTreeSet<QuestionId>,
    pub(super) closed_cycles: BTreeSet<CycleId>,
    /// All questions and answers of the open cycle except the gate's.
    pub(super) answers_in_cycle: Vec<String>,
    pub(super) last_question_was_gate: bool,
    /// An id the open cycle must recognise as used. The store keeps ids of older cycles unique.
    pub(super) used_id: Option<QuestionId>,
    pub(super) proposal: Option<(QuestionId, Proposal)>,
    /// Normalised, as the store would have them.
    pub(super) open_titles: BTreeSet<String>,
    pub(super) handoffs: usize,
    pub(super) created: usize,
    pub(super) skipped: usize,
}

impl Walk {
    pub(super) fn new() -> Self {
        let at = PhaseLoop::new("sess_walk".parse().unwrap());
        Self {
            twin: at.clone(),
            at,
            made: 0,
            former_owner: OwnerToken::from_digest([0xff; 32]),
            answered: BTreeSet::new(),
            closed_cycles: BTreeSet::new(),
            answers_in_cycle: Vec::new(),
            last_question_was_gate: false,
            used_id: None,
            proposal: None,
            open_titles: BTreeSet::new(),
            handoffs: 0,
            created: 0,
            skipped: 0,
        }
    }

    pub(super) fn make(&mut self) -> u32 {
        self.made += 1;
        self.made
    }

    pub(super) fn owner(&self) -> OwnerToken {
        self.at.cycle().map_or(self.former_owner, |cycle| *cycle.owner())
    }

    pub(super) fn make_fresh(&mut self) -> FreshCycle {
        let number = self.make();
        let mut digest = [0; 32];
        digest[..4].copy_from_slice(&number.to_be_bytes());
        FreshCycle { id: CycleId::from_bits(number.into()), owner: OwnerToken::from_digest(digest) }
    }

    pub(super) fn through_json(&mut self) {
        let json = serde_json::to_string(&self.at).unwrap();
        self.at = serde_json::from_str(&json).unwrap();
        assert_eq!(self.at, self.twin, "{json}");
    }

    pub(super) fn take(&mut self, step: &Step) {
        match step {
            Step::Start(start) => self.start(*start),
            Step::Ask { who, kind, topic, id_used_before } => {
                let words = format!("question-words-{topic}");
                self.ask(*who, QuestionDraft::new(*kind, text(&words)), *id_used_before);
            }
            Step::Propose { titles } => self.propose(titles),
            Step::Answer { which, says, by } => self.answer(*which, *says, *by),
            Step::AnswerGate { which, says, by, results_fit, fresh } => {
                self.answer_gate(*which, *says, *by, *results_fit, *fresh);
            }
            Step::PassGate => {
                self.ask(Who::Owner, QuestionDraft::new(QuestionKind::Gate, text("question-words")), false);
                self.answer_gate(Which::Pending, Says::Yes, By::Human, true, true);
            }
            Step::BreakOff { with_results } => self.break_off(*with_results),
            Step::TakeOver => self.take_over(),
            Step::Finish { title: number } => {
                self.open_titles.remove(&normalize_title(&title(*number)));
            }
        }
        self.check();
    }

    pub(super) fn start(&mut self, start: PhaseStart) {
        let fresh = self.make_fresh();
        let came = self.at.start(start, fresh);
        assert_eq!(came, self.twin.start(start, fresh));
        assert_eq!(came.is_ok(), self.at.phase() == Phase::Hub);
        if let Ok(handed_off) = came {
            self.moved(handed_off);
        }
    }

    pub(super) fn ask(&mut self, who: Who, draft: QuestionDraft, id_used_before: bool) -> Option<QuestionId> {
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

        // I6, both ways: an allowed question is asked; any other is refused and changes nothing.
        let cycle = self.at.cycle();
        let may_ask = cycle.is_some_and(|cycle| {
            cycle.is_open() && *cycle.owner() == token && cycle.pending().is_none() && used.is_none()
        });
        let below_limit = cycle.is_some_and(|cycle| cycle.asked_count() < QUESTIONS_PER_CYCLE_MAX);
        match came {
            Ok(LoopAskOutcome::Pending { next }) => {
                assert!(may_ask && below_limit);
                assert_eq!(next.pending().map(|question| question.id), Some(id));
                if kind == QuestionKind::Gate {
                    let gate = next.pending().unwrap().text().to_string();
                    // The agent's text follows the gate's.
                    assert_eq!(gate.lines().next(), next.phase().gate_text(), "I7: one gate per phase");
                } else {
                    self.answers_in_cycle.push(words);
                }
                self.last_question_was_gate = kind == QuestionKind::Gate;
                (self.twin, self.at) = (*next.clone(), *next);
                Some(id)
            }
            Ok(LoopAskOutcome::Again { answer, .. }) => {
                assert_eq!(kind, QuestionKind::Clarification);
                assert!(may_ask && self.answers_in_cycle.contains(&answer.to_string()));
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

    pub(super) fn propose(&mut self, titles: &[u8]) {
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

    pub(super) fn break_off(&mut self, with_results: bool) {
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

    pub(super) fn take_over(&mut self) {
        let owner = self.make_fresh().owner;
        let came = self.at.take_over(owner);
        assert_eq!(came, self.twin.take_over(owner));
        if let Ok(next) = came {
            self.former_owner = self.owner();
            assert_eq!(next.pending(), self.at.pending());
            (self.twin, self.at) = (next.clone(), next);
        }
    }

    pub(super) fn moved(&mut self, handed_off: LoopHandoff) {
        let LoopHandoff { next, closed, handoff } = handed_off;
        assert_eq!((handoff.from, handoff.to), (self.at.phase(), next.phase()));
        assert_eq!(handoff.iteration, next.iteration());
        check_edge(&handoff, self.at.iteration());
        // I7: closing and opening are one value.
        if let Some(closed) = &closed {
            assert!(!closed.is_open());
            assert_eq!(Some(closed.id()), self.at.cycle().map(AskCycle::id));
            assert!(self.closed_cycles.insert(closed.id()), "a cycle closes once");
        }
        let whole = serde_json::to_string(&handoff).unwrap();
        for answer in &self.answers_in_cycle {
            let is_a_word = ["yes", "no.", "edit"].contains(&answer.to_lowercase().as_str())
                || ["YES", "NO", "EDIT"].contains(&answer.as_str());
            let is_there = whole.contains(answer.as_str()) || handoff.prompt.contains(answer.as_str());
            assert!(is_a_word || !is_there, "{answer} in {whole}");
        }
        if next.phase() != Phase::Hub {
            let opened = next.cycle().unwrap();
            assert!(opened.is_open() && opened.pending().is_none() && opened.asked_count() == 0);
            assert!(!self.closed_cycles.contains(&opened.id()), "I7: a fresh cycle");
            self.former_owner = self.owner();
        }
        self.answers_in_cycle.clear();
        self.last_question_was_gate = false;
        self.proposal = None;
        self.handoffs += 1;
        (self.twin, self.at) = (next.clone(), next);
    }

    /// What holds after every step.
    pub(super) fn check(&self) {
        let open = self.at.cycle().is_some_and(AskCycle::is_open);
        assert_eq!(open, self.at.phase() != Phase::Hub, "I6: one open cycle in a phase, none in the hub");
        if let Some(cycle) = self.at.cycle() {
            assert!(!(open && self.closed_cycles.contains(&cycle.id())), "I7: no cycle opens again");
            assert!(cycle.asked_count() <= QUESTIONS_PER_CYCLE_MAX);
            assert!(cycle.automatic_in_a_row() <= AUTOMATIC_IN_A_ROW_MAX);
        }
    }
}

/// I8, as a list.
pub(super) fn check_edge(handoff: &Handoff, iteration_before: u32) {
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
