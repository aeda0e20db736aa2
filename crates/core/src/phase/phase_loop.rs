//! The Plan → Execute → Review loop of one session, as a pure machine.
//!
//! The session owns it and has one at most. It holds one ask cycle, so no two phases can ask at once
//! (I6). It starts no agent and stores nothing: each step returns the new state with what goes with it.

use serde::{Deserialize, Serialize};

use crate::ask::answer_source::AnsweredBy;
use crate::ask::choice::YesNo;
use crate::ask::cycle::{Answered, AskCycle, Asked};
use crate::ask::question::{Question, QuestionKind};
use crate::ask::refusal::{AnswerRefusal, AskRefusal};
use crate::base::id::{CycleId, QuestionId, SessionId};
use crate::base::text::NonBlank;
use crate::people::owner_token::OwnerToken;
use crate::phase::handoff::{Handoff, HandoffDecision, Results};
use crate::phase::refusal::LoopRefusal;
use crate::phase::summary::LoopSummary;
use crate::phase::work::{PhaseWork, Topic};
use crate::phase::{ITERATIONS_MAX, Move, Phase, PhaseEvent, PhaseStart};

/// What the next phase's cycle is made of. Both are new: neither was used by the cycle before.
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
    /// Open in a phase. In the hub the last phase's closed cycle, which still knows a late answer for
    /// what it is; none before the first start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cycle: Option<AskCycle>,
    /// Its cycle is gone when the next phase has begun, and a second answer must still be known for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gate_passed: Option<QuestionId>,
    summary: LoopSummary,
    /// What the hand-off into this phase told its agents. Empty in the hub.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    brief: String,
    /// What the phase is at.
    #[serde(default)]
    work: PhaseWork,
    /// What the pending question is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic: Option<Topic>,
}

/// I7: the closed cycle, the hand-off and the state with the fresh cycle are one value, so they can only
/// be stored together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedOff {
    pub next: PhaseLoop,
    /// None when the loop comes from the hub.
    pub closed: Option<AskCycle>,
    pub handoff: Handoff,
}

/// What came of asking in a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopAsked {
    Pending {
        next: Box<PhaseLoop>,
    },
    /// The human said so before in this phase; the loop is as it was.
    Again {
        answer: NonBlank,
        answered_by: AnsweredBy,
    },
}

/// What came of an answer at the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateAnswered {
    /// The phase goes on; its agent may ask again, and ask the gate anew later.
    Stayed {
        next: Box<PhaseLoop>,
    },
    HandedOff(Box<HandedOff>),
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

    /// From the hub into a phase: a new loop, counted from its first iteration.
    pub fn start(&self, at: PhaseStart, fresh: FreshCycle) -> Result<HandedOff, LoopRefusal> {
        let to = match self.phase.after(at.into())? {
            Move::To(to) | Move::NextIteration(to) => to,
            // No start in the table stays where it is.
            Move::Stay => self.phase,
        };
        let anew = Self { summary: LoopSummary::default(), iteration: 1, ..self.clone() };
        let handoff = Handoff::new(self.phase, to, 1, HandoffDecision::Started, Results::Started);
        let mut next = anew.entering(to, fresh)?;
        next.work = PhaseWork::begin(to, &handoff.results);
        next.brief.clone_from(&handoff.prompt);
        Ok(HandedOff { next, closed: None, handoff })
    }

    /// A gate is asked in the phase's own words, whatever words the agent chose for it (I7).
    pub fn ask(&self, token: &OwnerToken, question: Question) -> Result<LoopAsked, AskRefusal> {
        let (cycle, question) = self.worded(token, question)?;
        Ok(match cycle.ask(token, question)? {
            Asked::Pending { cycle } => LoopAsked::Pending { next: Box::new(self.with_cycle(*cycle)) },
            Asked::Again { answer, answered_by } => LoopAsked::Again { answer, answered_by },
        })
    }

    /// The same, whatever the human said before: Baton asks twice only when the first answer did not help.
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
            // What was said about it stands below, so that the question can be answered by itself.
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
    ) -> Result<(Self, Answered), AnswerRefusal> {
        if self.pending().is_some_and(|question| question.id == id && question.kind() == QuestionKind::Gate) {
            return Err(AnswerRefusal::IsGate { id });
        }
        let answered = self.take(id, answer, answered_by)?;
        Ok((self.with_cycle(answered.cycle.clone()), answered))
    }

    /// Answers the gate. Passing it closes the cycle, makes the hand-off and opens the next phase's cycle
    /// in one value (I7). `fresh` is left unused when the answer stays in the phase or leads to the hub.
    pub fn answer_gate(
        &self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
        results: Results,
        fresh: FreshCycle,
    ) -> Result<GateAnswered, LoopRefusal> {
        let answered = self.take(id, answer, answered_by)?;
        let Some(said) = answered.gate else {
            return Err(LoopRefusal::NotTheGate { id, phase: self.phase });
        };
        let (to, iteration) = match self.phase.after(said.into())? {
            Move::Stay => {
                return Ok(GateAnswered::Stayed { next: Box::new(self.with_cycle(answered.cycle)) });
            }
            Move::To(to) => (to, self.iteration),
            Move::NextIteration(to) => (to, self.iteration + 1),
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
                HandedOff { next, closed, handoff }
            }
        };
        Ok(GateAnswered::HandedOff(Box::new(handed_off)))
    }

    /// The human ends the loop wherever it is. What the phase has come to so far is counted; a pending
    /// question is withdrawn.
    pub fn break_off(&self, so_far: Option<&Results>) -> Result<HandedOff, LoopRefusal> {
        self.phase.after(PhaseEvent::BreakOff)?;
        let mut left = self.clone();
        left.cycle = left.cycle.map(|cycle| cycle.close());
        if let Some(results) = so_far {
            self.check_results(results)?;
            left.summary = results.add_to(left.summary);
        }
        Ok(left.into_hub(HandoffDecision::BrokenOff))
    }

    /// A new attempt goes on with the phase of one that died.
    pub fn taken_over_by(&self, owner: OwnerToken) -> Result<Self, AskRefusal> {
        let cycle = self.cycle.as_ref().ok_or(AskRefusal::NoCycle)?;
        Ok(self.with_cycle(cycle.taken_over_by(owner)?))
    }

    fn take(
        &self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<Answered, AnswerRefusal> {
        if self.gate_passed == Some(id) {
            return Err(AnswerRefusal::AlreadyAnswered { id });
        }
        let cycle = self.cycle.as_ref().ok_or(AnswerRefusal::UnknownQuestion { id })?;
        cycle.answer(id, answer, answered_by)
    }

    fn check_results(&self, results: &Results) -> Result<(), LoopRefusal> {
        if results.phase() == Some(self.phase) {
            Ok(())
        } else {
            Err(LoopRefusal::WrongResults { phase: self.phase })
        }
    }

    fn into_hub(mut self, decision: HandoffDecision) -> HandedOff {
        let results = Results::Ended { summary: self.summary };
        let handoff = Handoff::new(self.phase, Phase::Hub, self.iteration, decision, results);
        self.phase = Phase::Hub;
        (self.work, self.topic) = (PhaseWork::Hub, None);
        self.brief.clear();
        HandedOff { closed: self.cycle.clone(), next: self, handoff }
    }

    /// Automatic answers go on being counted across cycles; nothing else of the old one is kept.
    fn entering(mut self, to: Phase, fresh: FreshCycle) -> Result<Self, LoopRefusal> {
        // An old secret in a new cycle would let the old phase's agent go on asking.
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

    /// The same loop, with the phase's work further on.
    pub fn at_work(&self, work: PhaseWork, topic: Option<Topic>) -> Self {
        Self { work, topic, ..self.clone() }
    }

    pub fn work(&self) -> &PhaseWork {
        &self.work
    }

    pub fn brief(&self) -> &str {
        &self.brief
    }

    /// What the pending question is about.
    pub fn topic(&self) -> Option<Topic> {
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
