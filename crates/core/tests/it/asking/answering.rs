//! The part of a walk where questions are answered.

use baton_core::ask::answer_source::{AUTOMATIC_IN_A_ROW_MAX, AnsweredBy};
use baton_core::ask::choice::YesNoEdit;
use baton_core::ask::cycle::{AskCycle, CycleState};
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::QuestionId;
use baton_core::base::text::NonBlank;
use baton_core::base::title::normalize_title;
use baton_core::phase::Phase;
use baton_core::phase::discovered::{Proposal, ProposalDecision};
use baton_core::phase::handoff::PhaseResults;
use baton_core::phase::phase_loop::{FreshCycle, GateOutcome, PhaseLoop};

use super::step::*;
use super::walk::Walk;

impl Walk {
    pub(super) fn id_of(&mut self, which: Which) -> QuestionId {
        let known = match which {
            Which::Pending => self.at.pending().map(|question| question.id),
            Which::Former => self.answered.last().copied(),
            Which::Unknown => None,
        };
        known.unwrap_or_else(|| QuestionId::from_bits(u32::MAX))
    }

    pub(super) fn words(&mut self, says: Says) -> NonBlank {
        match says {
            Says::Yes => text("yes"),
            Says::No => text("No."),
            Says::Edit => text("edit"),
            Says::Words => text(&format!("answer-words-{}", self.make())),
        }
    }

    pub(super) fn answer(&mut self, which: Which, says: Says, by: By) {
        let (id, words) = (self.id_of(which), self.words(says));
        let came = self.at.answer(id, &words, answered_by(by));
        assert_eq!(came, self.twin.answer(id, &words, answered_by(by)));
        let Ok((next, answered)) = came else { return };
        let question = self.at.pending().unwrap().clone();
        self.check_answer(id, &question.draft, by);
        assert_ne!(question.kind(), QuestionKind::Gate);
        assert_eq!(next.phase(), self.at.phase());
        self.answers_in_cycle.push(answered.answer.to_string());
        (self.twin, self.at) = (next.clone(), next);
        if let Some((asked, proposal)) = self.proposal.take() {
            if asked == id {
                self.decide_proposal(proposal, YesNoEdit::read(answered.answer.as_str()).unwrap());
            } else {
                self.proposal = Some((asked, proposal));
            }
        }
    }

    pub(super) fn check_answer(&mut self, id: QuestionId, draft: &QuestionDraft, by: By) {
        assert_eq!(self.at.pending().map(|question| question.id), Some(id));
        assert!(self.answered.insert(id), "an answer is applied once");
        self.used_id = Some(id);
        let automatic = !matches!(by, By::Human);
        assert!(!(automatic && draft.kind.is_human_only()));
        let before = self.at.cycle().map_or(0, AskCycle::automatic_in_a_row);
        assert!(!automatic || before < AUTOMATIC_IN_A_ROW_MAX);
    }

    pub(super) fn decide_proposal(&mut self, proposal: Proposal, answer: YesNoEdit) {
        let proposed = proposal.tasks().len();
        match proposal.apply_answer(answer) {
            ProposalDecision::Approved(approved) => {
                assert_eq!(answer, YesNoEdit::Yes, "I9: only after YES");
                let open = self.open_titles.clone();
                let selection = approved.resolve(open.iter().map(String::as_str)).into_selection();
                assert_eq!(selection.create.len() + selection.skipped.len(), proposed);
                for task in &selection.create {
                    let fresh = self.open_titles.insert(normalize_title(task.title.as_str()));
                    assert!(fresh, "I9: never twice");
                }
                self.created += selection.create.len();
                self.skipped += selection.skipped.len();
            }
            ProposalDecision::Dropped => assert_eq!(answer, YesNoEdit::No),
            ProposalDecision::Editing(editing) => {
                assert_eq!(answer, YesNoEdit::Edit);
                let mut tasks = editing.proposal().tasks().to_vec();
                tasks.truncate(1);
                let edited = editing.replace_with(tasks).unwrap();
                let Some(draft) = edited.question(self.open_titles.iter().map(String::as_str)) else {
                    return;
                };
                if let Some(id) = self.ask(Who::Owner, draft, false) {
                    self.proposal = Some((id, edited));
                }
            }
        }
    }

    pub(super) fn answer_gate(&mut self, which: Which, says: Says, by: By, results_fit: bool, fresh: bool) {
        let (id, words) = (self.id_of(which), self.words(says));
        let results = if results_fit { results_of(self.at.phase()) } else { PhaseResults::Started };
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
            GateOutcome::Stayed { next } => {
                assert!(matches!(says, Says::No) && matches!(next.phase(), Phase::Plan | Phase::Execute));
                assert!(next.cycle().unwrap().is_open() && next.pending().is_none());
                (self.twin, self.at) = (*next.clone(), *next);
            }
            GateOutcome::HandedOff(handed_off) => {
                assert!(self.last_question_was_gate, "I7: the gate is the last question");
                assert_eq!(handed_off.closed.as_ref().unwrap().state(), &CycleState::GatePassed);
                self.moved(*handed_off);
            }
        }
    }
}

pub(super) fn answered_by(by: By) -> AnsweredBy {
    match by {
        By::Human => AnsweredBy::human("ada"),
        By::Queued => AnsweredBy::Queued,
        By::Policy => AnsweredBy::Policy { name: "default_answer".to_owned() },
        By::Expiry => AnsweredBy::Expiry,
    }
}
