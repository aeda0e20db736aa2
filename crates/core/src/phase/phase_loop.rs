//! The Plan → Execute → Review loop of one session, as a pure state machine.
//!
//! A session has at most one. The loop holds one ask cycle, so two phases cannot ask at once (I6). It starts no agent
//! and stores nothing: each step returns the new state and what goes with it.

use serde::{Deserialize, Serialize};

use crate::ask::answer_source::AnsweredBy;
use crate::ask::choice::YesNo;
use crate::ask::cycle::{AnswerOutcome, AskCycle, AskOutcome};
use crate::ask::question::{Question, QuestionKind};
use crate::ask::refusal::{AnswerRefusal, AskRefusal};
use crate::base::id::{CycleId, QuestionId, SessionId};
use crate::base::text::NonBlank;
use crate::people::owner_token::OwnerToken;
use crate::phase::handoff::{Handoff, HandoffDecision, PhaseResults};
use crate::phase::refusal::LoopRefusal;
use crate::phase::summary::LoopSummary;
use crate::phase::work::{PhaseWork, QuestionTopic};
use crate::phase::{ITERATIONS_MAX, Phase, PhaseEvent, PhaseMove, PhaseStart};

/// The id and owner of the next phase's cycle. Both are new: the previous cycle used neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreshCycle {
    pub id: CycleId,
    pub owner: OwnerToken,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseLoop {
    session: SessionId,
    iteration: u32,
    phase: Phase,
    /// Open in a phase. In the hub, the last phase's closed cycle, which still recognises a late answer; `None`
    /// before the first start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cycle: Option<AskCycle>,
    /// The previous cycle is gone once the next phase has begun; this still recognises a second answer to its gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gate_passed: Option<QuestionId>,
    summary: LoopSummary,
    /// The prompt of the hand-off into this phase. Empty in the hub.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    brief: String,
    /// The state of the phase's work.
    #[serde(default)]
    work: PhaseWork,
    /// What the pending question is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic: Option<QuestionTopic>,
}

/// I7: the closed cycle, the hand-off and the state with the new cycle are one value, so they can only be stored
/// together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopHandoff {
    pub next: PhaseLoop,
    /// `None` when the loop starts from the hub.
    pub closed: Option<AskCycle>,
    pub handoff: Handoff,
}

/// The result of asking in a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopAskOutcome {
    Pending {
        next: Box<PhaseLoop>,
    },
    /// The human answered this before in this phase; the loop is unchanged.
    Again {
        answer: NonBlank,
        answered_by: AnsweredBy,
    },
}

/// The result of answering the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateOutcome {
    /// The phase continues; its agent may ask again, including the gate.
    Stayed {
        next: Box<PhaseLoop>,
    },
    HandedOff(Box<LoopHandoff>),
}

impl PhaseLoop {
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            iteration: 0,
            phase: Phase::Hub,
            cycle: None,
            gate_passed: None,
            summary: LoopSummary::default(),
            brief: String::new(),
            work: PhaseWork::Hub,
            topic: None,
        }
    }

    /// Starts a new loop from the hub, at its first iteration.
    pub fn start(&self, at: PhaseStart, fresh: FreshCycle) -> Result<LoopHandoff, LoopRefusal> {
        let to = match self.phase.after(at.into())? {
            PhaseMove::To(to) | PhaseMove::NextIteration(to) => to,
            // No start event in the table stays where it is.
            PhaseMove::Stay => self.phase,
        };
        let anew = Self { summary: LoopSummary::default(), iteration: 1, ..self.clone() };
        let handoff = Handoff::new(self.phase, to, 1, HandoffDecision::Started, PhaseResults::Started);
        let mut next = anew.entering(to, fresh)?;
        next.work = PhaseWork::begin(to, &handoff.results);
        next.brief.clone_from(&handoff.prompt);
        Ok(LoopHandoff { next, closed: None, handoff })
    }

    /// A gate is asked in the phase's own words, whatever the agent wrote (I7).
    pub fn ask(&self, token: &OwnerToken, question: Question) -> Result<LoopAskOutcome, AskRefusal> {
        let (cycle, question) = self.worded(token, question)?;
        Ok(match cycle.ask(token, question)? {
            AskOutcome::Pending { cycle } => {
                LoopAskOutcome::Pending { next: Box::new(self.with_cycle(*cycle)) }
            }
            AskOutcome::Again { answer, answered_by } => LoopAskOutcome::Again { answer, answered_by },
        })
    }

    /// The same, even if the human answered before: Baton asks twice only when the first answer did not help.
    pub fn ask_anew(&self, token: &OwnerToken, question: Question) -> Result<Self, AskRefusal> {
        let (cycle, question) = self.worded(token, question)?;
        Ok(self.with_cycle(cycle.ask_anew(token, question)?))
    }

    fn worded(
        &self,
        token: &OwnerToken,
        mut question: Question,
    ) -> Result<(&AskCycle, Question), AskRefusal> {
        let cycle = self.cycle.as_ref().ok_or(AskRefusal::NoCycle)?;
        if *token == *cycle.owner() && self.gate_passed == Some(question.id) {
            return Err(AskRefusal::IdTaken { id: question.id });
        }
        if question.kind() == QuestionKind::Gate
            && let Some(gate) = self.phase.gate()
        {
            // The agent's text follows, so that the question can be answered on its own.
            let about = question.draft.text.as_str().trim();
            question.draft.text = match about.strip_prefix(gate.text.as_str()).unwrap_or(about).trim() {
                "" => gate.text,
                about => NonBlank::new(format!("{}\n\n{about}", gate.text)).unwrap_or(gate.text),
            };
            question.draft.options = gate.options;
        }
        Ok((cycle, question))
    }

    /// Answers any question but the gate.
    pub fn answer(
        &self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<(Self, AnswerOutcome), AnswerRefusal> {
        if self.pending().is_some_and(|question| question.id == id && question.kind() == QuestionKind::Gate) {
            return Err(AnswerRefusal::IsGate { id });
        }
        let answered = self.take(id, answer, answered_by)?;
        Ok((self.with_cycle(answered.cycle.clone()), answered))
    }

    /// Takes an answer in other words than the offered ones, of the gate too. The phase continues.
    pub fn answer_freely(
        &self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<Self, AnswerRefusal> {
        if self.gate_passed == Some(id) {
            return Err(AnswerRefusal::AlreadyAnswered { id });
        }
        let cycle = self.cycle.as_ref().ok_or(AnswerRefusal::UnknownQuestion { id })?;
        Ok(self.with_cycle(cycle.answer_freely(id, answer, answered_by)?.cycle))
    }

    /// Answers the gate. Passing it closes the cycle, builds the hand-off and opens the next phase's cycle in one
    /// value (I7). `fresh` is unused if the answer stays in the phase or leads to the hub.
    pub fn answer_gate(
        &self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
        results: PhaseResults,
        fresh: FreshCycle,
    ) -> Result<GateOutcome, LoopRefusal> {
        let answered = self.take(id, answer, answered_by)?;
        let Some(said) = answered.gate else {
            return Err(LoopRefusal::NotTheGate { id, phase: self.phase });
        };
        let (to, iteration) = match self.phase.after(said.into())? {
            PhaseMove::Stay => {
                return Ok(GateOutcome::Stayed { next: Box::new(self.with_cycle(answered.cycle)) });
            }
            PhaseMove::To(to) => (to, self.iteration),
            PhaseMove::NextIteration(to) => (to, self.iteration + 1),
        };
        self.check_results(&results)?;
        if iteration > ITERATIONS_MAX {
            return Err(LoopRefusal::IterationLimit);
        }
        let mut left = self.with_cycle(answered.cycle);
        left.gate_passed = Some(id);
        left.iteration = iteration;
        left.summary = results.add_to(left.summary);
        let decision = match said {
            YesNo::Yes => HandoffDecision::Yes,
            YesNo::No => HandoffDecision::No,
        };
        let handed_off = match to {
            Phase::Hub => left.into_hub(decision),
            Phase::Plan | Phase::Execute | Phase::Review => {
                let handoff = Handoff::new(self.phase, to, iteration, decision, results);
                let closed = left.cycle.clone();
                let mut next = left.entering(to, fresh)?;
                next.work = PhaseWork::begin(to, &handoff.results);
                next.brief.clone_from(&handoff.prompt);
                LoopHandoff { next, closed, handoff }
            }
        };
        Ok(GateOutcome::HandedOff(Box::new(handed_off)))
    }

    /// The human aborts the loop. Results so far are counted; a pending question is withdrawn.
    pub fn break_off(&self, so_far: Option<&PhaseResults>) -> Result<LoopHandoff, LoopRefusal> {
        self.leave(so_far, HandoffDecision::BrokenOff)
    }

    /// The same for any reason.
    pub fn leave(
        &self,
        so_far: Option<&PhaseResults>,
        decision: HandoffDecision,
    ) -> Result<LoopHandoff, LoopRefusal> {
        self.phase.after(PhaseEvent::BreakOff)?;
        let mut left = self.clone();
        left.cycle = left.cycle.map(|cycle| cycle.close());
        if let Some(results) = so_far {
            self.check_results(results)?;
            left.summary = results.add_to(left.summary);
        }
        if decision == HandoffDecision::NoTasks {
            // Nothing was planned, so this iteration was none.
            left.summary.iterations = left.iteration.saturating_sub(1);
        }
        Ok(left.into_hub(decision))
    }

    /// A new attempt continues the phase of a dead one.
    pub fn take_over(&self, owner: OwnerToken) -> Result<Self, AskRefusal> {
        let cycle = self.cycle.as_ref().ok_or(AskRefusal::NoCycle)?;
        Ok(self.with_cycle(cycle.take_over(owner)?))
    }

    fn take(
        &self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<AnswerOutcome, AnswerRefusal> {
        if self.gate_passed == Some(id) {
            return Err(AnswerRefusal::AlreadyAnswered { id });
        }
        let cycle = self.cycle.as_ref().ok_or(AnswerRefusal::UnknownQuestion { id })?;
        cycle.answer(id, answer, answered_by)
    }

    fn check_results(&self, results: &PhaseResults) -> Result<(), LoopRefusal> {
        if results.phase() == Some(self.phase) {
            Ok(())
        } else {
            Err(LoopRefusal::WrongResults { phase: self.phase })
        }
    }

    fn into_hub(mut self, decision: HandoffDecision) -> LoopHandoff {
        let results = PhaseResults::Ended { summary: self.summary };
        let handoff = Handoff::new(self.phase, Phase::Hub, self.iteration, decision, results);
        self.phase = Phase::Hub;
        (self.work, self.topic) = (PhaseWork::Hub, None);
        self.brief.clear();
        LoopHandoff { closed: self.cycle.clone(), next: self, handoff }
    }

    /// The count of automatic answers carries over; nothing else of the old cycle does.
    fn entering(mut self, to: Phase, fresh: FreshCycle) -> Result<Self, LoopRefusal> {
        // An old secret in a new cycle would let the old phase's agent keep asking.
        if self.cycle.as_ref().is_some_and(|old| old.id() == fresh.id || *old.owner() == fresh.owner) {
            return Err(LoopRefusal::NotFresh);
        }
        let automatic_in_a_row = match self.phase {
            // A human has just started the loop.
            Phase::Hub => 0,
            Phase::Plan | Phase::Execute | Phase::Review => {
                self.cycle.as_ref().map_or(0, AskCycle::automatic_in_a_row)
            }
        };
        self.phase = to;
        self.topic = None;
        self.summary.iterations = self.iteration;
        self.cycle = Some(AskCycle::open(fresh.id, fresh.owner, to.gate_rule(), automatic_in_a_row));
        Ok(self)
    }

    fn with_cycle(&self, cycle: AskCycle) -> Self {
        Self { cycle: Some(cycle), ..self.clone() }
    }

    /// The same loop, with updated phase work.
    pub fn at_work(&self, work: PhaseWork, topic: Option<QuestionTopic>) -> Self {
        Self { work, topic, ..self.clone() }
    }

    pub fn work(&self) -> &PhaseWork {
        &self.work
    }

    pub fn brief(&self) -> &str {
        &self.brief
    }

    /// What the pending question is about.
    pub fn topic(&self) -> Option<QuestionTopic> {
        self.topic
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Zero before the first start, then counted from one.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn cycle(&self) -> Option<&AskCycle> {
        self.cycle.as_ref()
    }

    pub fn pending(&self) -> Option<&Question> {
        self.cycle.as_ref().and_then(AskCycle::pending)
    }

    pub fn summary(&self) -> LoopSummary {
        self.summary
    }
}
