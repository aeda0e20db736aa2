//! An ask cycle: the stretch of a run in which one owner may ask the human.
//!
//! Its run owns it: one loop, or one task's execution. It holds at most one pending question, refuses
//! whatever it may not take, and never queues. It never hands anything to the cycle that follows it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ask::answer_memory::{AnswerMemory, Remembered};
use crate::ask::answer_source::{AUTOMATIC_IN_A_ROW_MAX, AnsweredBy, fitting, fitting_from_human};
use crate::ask::choice::YesNo;
use crate::ask::question::{Question, QuestionKind};
use crate::ask::refusal::{AnswerRefusal, AskRefusal};
use crate::base::id::{CycleId, QuestionId};
use crate::base::text::NonBlank;
use crate::people::owner_token::OwnerToken;

/// More than a long phase needs (two questions for each of ninety subtasks), and an end for an agent
/// that only ever asks.
pub const QUESTIONS_PER_CYCLE_MAX: u32 = 200;

/// The last places of a cycle are kept for its gate, so that a phase which used up its questions can
/// still end, and a human may decline it a few times.
pub const GATE_PLACES_KEPT: u32 = 10;

/// Which answers at the gate end the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateRule {
    /// NO stays in the phase and opens asking again.
    YesPasses,
    /// Both answers end the phase and differ in where it goes.
    BothPass,
}

impl GateRule {
    pub const fn passes(self, answer: YesNo) -> bool {
        match (self, answer) {
            (Self::YesPasses | Self::BothPass, YesNo::Yes) | (Self::BothPass, YesNo::No) => true,
            (Self::YesPasses, YesNo::No) => false,
        }
    }
}

/// I6: an open cycle has room for one pending question, a closed one for none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CycleState {
    Open {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending: Option<Question>,
    },
    /// I7: the gate was the last question. Nothing opens the cycle again.
    GatePassed,
    /// Ended without its gate: the human broke off, or the run is over.
    Closed {
        /// The question that was pending then and is not to be answered any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        withdrawn: Option<QuestionId>,
    },
}

/// One owner's questions to the human. I6, and with its gate I7.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskCycle {
    id: CycleId,
    owner: OwnerToken,
    gate_rule: GateRule,
    #[serde(flatten)]
    state: CycleState,
    asked_count: u32,
    automatic_in_a_row: u32,
    /// Bounded by the questions a cycle may ask; kept so that a second answer is known for one.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    answered: BTreeSet<QuestionId>,
    #[serde(default, skip_serializing_if = "AnswerMemory::is_empty")]
    remembered: AnswerMemory,
    /// The question whose answer came after the owner's last word; whoever goes on has to be told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unheard: Option<NonBlank>,
    /// That answer, where it was about a permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_permission: Option<Box<Remembered>>,
    /// What a human allowed after the agent that asked was gone. Whoever took its place may do that much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    consent: Option<Box<Remembered>>,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The question is pending in the new state of the cycle.
    Pending { cycle: Box<AskCycle> },
    /// The human said so before; nobody is asked, and the cycle is as it was.
    Again { answer: NonBlank, answered_by: AnsweredBy },
}

/// An answer that was taken, with the cycle after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub cycle: AskCycle,
    pub question: Question,
    /// In the question's own word for it, where it offers words.
    pub answer: NonBlank,
    pub answered_by: AnsweredBy,
    /// The reading of a gate's answer. The cycle is closed when its gate was passed.
    pub gate: Option<YesNo>,
}

impl AskCycle {
    /// `automatic_in_a_row` goes on counting from the run's cycle before this one: an unattended loop
    /// does not earn new automatic answers by changing its phase.
    pub fn open(id: CycleId, owner: OwnerToken, gate_rule: GateRule, automatic_in_a_row: u32) -> Self {
        Self {
            id,
            owner,
            gate_rule,
            state: CycleState::Open { pending: None },
            asked_count: 0,
            automatic_in_a_row,
            answered: BTreeSet::new(),
            remembered: AnswerMemory::default(),
            unheard: None,
            last_permission: None,
            consent: None,
        }
    }

    /// A cycle for one question that Baton itself asked. Nobody owns it, so nobody can ask in it.
    pub(crate) fn holding(question: Question, automatic_in_a_row: u32) -> Self {
        let (id, owner) = (CycleId::from_bits(0), OwnerToken::from_digest([0; OwnerToken::BYTES]));
        let cycle = Self::open(id, owner, GateRule::YesPasses, automatic_in_a_row);
        Self { state: CycleState::Open { pending: Some(question) }, ..cycle }
    }

    /// The same cycle after answers that were counted elsewhere.
    pub(crate) fn counting(&self, automatic_in_a_row: u32) -> Self {
        Self { automatic_in_a_row, ..self.clone() }
    }

    pub fn ask(&self, token: &OwnerToken, question: Question) -> Result<Asked, AskRefusal> {
        self.may_ask(token, &question)?;
        if let Some(known) = self.remembered.recall(&question) {
            let (answer, answered_by) = (known.answer.clone(), known.answered_by.clone());
            return Ok(Asked::Again { answer, answered_by });
        }
        Ok(Asked::Pending { cycle: Box::new(self.ask_anew(token, question)?) })
    }

    /// Asks the human even if they said it before: an agent whose turn ends with its question, and who asks the
    /// same again, was not helped by the first answer.
    pub fn ask_anew(&self, token: &OwnerToken, mut question: Question) -> Result<Self, AskRefusal> {
        self.may_ask(token, &question)?;
        let limit = match question.kind() {
            QuestionKind::Gate => {
                question.draft = question.draft.with_options(YesNo::OPTIONS);
                QUESTIONS_PER_CYCLE_MAX
            }
            QuestionKind::Clarification
            | QuestionKind::Confirmation
            | QuestionKind::Permission
            | QuestionKind::Danger
            | QuestionKind::Escalation => QUESTIONS_PER_CYCLE_MAX - GATE_PLACES_KEPT,
        };
        if self.asked_count >= limit {
            return Err(AskRefusal::LimitReached { limit });
        }
        let mut cycle = self.clone();
        cycle.asked_count += 1;
        cycle.unheard = None;
        cycle.last_permission = None;
        cycle.consent = None;
        cycle.state = CycleState::Open { pending: Some(question) };
        Ok(cycle)
    }

    fn may_ask(&self, token: &OwnerToken, question: &Question) -> Result<(), AskRefusal> {
        if *token != self.owner {
            return Err(AskRefusal::NotOwner);
        }
        match &self.state {
            CycleState::GatePassed => return Err(AskRefusal::GatePassed { cycle: self.id }),
            CycleState::Closed { .. } => return Err(AskRefusal::CycleClosed { cycle: self.id }),
            CycleState::Open { pending: Some(pending) } => {
                return Err(AskRefusal::QuestionPending { pending: pending.id });
            }
            CycleState::Open { pending: None } => {}
        }
        if self.answered.contains(&question.id) {
            return Err(AskRefusal::IdTaken { id: question.id });
        }
        Ok(())
    }

    /// What the human said to the very same question before: where it was information, or where the agent that
    /// wanted a permission was gone before it had the answer.
    pub fn recall(&self, question: &Question) -> Option<(NonBlank, AnsweredBy)> {
        let consent = self.consent.as_deref().filter(|known| known.is_to(question));
        let known = self.remembered.recall(question).or(consent)?;
        Some((known.answer.clone(), known.answered_by.clone()))
    }

    pub fn answer(
        &self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<Answered, AnswerRefusal> {
        let question = self.awaiting(id)?.clone();
        let automatic = answered_by.is_automatic();
        if automatic && question.kind().is_human_only() {
            return Err(AnswerRefusal::HumanOnly { id });
        }
        if automatic && self.automatic_in_a_row >= AUTOMATIC_IN_A_ROW_MAX {
            return Err(AnswerRefusal::AutomationStopped { id, limit: AUTOMATIC_IN_A_ROW_MAX });
        }
        let read = if automatic { fitting } else { fitting_from_human };
        let unreadable = |why| AnswerRefusal::Unreadable { id, why };
        let answer = read(&question, answer).map_err(unreadable)?;
        let gate = match question.kind() {
            QuestionKind::Gate => Some(YesNo::read(answer.as_str()).map_err(unreadable)?),
            QuestionKind::Clarification
            | QuestionKind::Confirmation
            | QuestionKind::Permission
            | QuestionKind::Danger
            | QuestionKind::Escalation => None,
        };
        let mut cycle = self.clone();
        cycle.answered.insert(id);
        cycle.automatic_in_a_row = if automatic { self.automatic_in_a_row + 1 } else { 0 };
        cycle.unheard = Some(question.text().clone());
        if question.kind() == QuestionKind::Permission {
            cycle.last_permission = Some(Box::new(Remembered::new(&question, &answer, &answered_by)));
        }
        cycle.state = match gate {
            Some(decision) if self.gate_rule.passes(decision) => CycleState::GatePassed,
            Some(_) | None => CycleState::Open { pending: None },
        };
        cycle.remembered.keep(&question, &answer, &answered_by);
        Ok(Answered { cycle, question, answer, answered_by, gate })
    }

    /// Ends the cycle without its gate. The pending question is withdrawn; a closed cycle stays as it is.
    pub fn close(&self) -> Self {
        let mut cycle = self.clone();
        if let CycleState::Open { pending } = &self.state {
            cycle.state = CycleState::Closed { withdrawn: pending.as_ref().map(|question| question.id) };
        }
        cycle
    }

    /// A new attempt goes on with the work of one that died: it may ask, the dead one's secret may not
    /// any more, and the pending question stays.
    pub fn taken_over_by(&self, owner: OwnerToken) -> Result<Self, AskRefusal> {
        match &self.state {
            CycleState::Open { .. } => {
                // Only a permission: what was decided otherwise, the new agent is told, and asks anew if it must.
                let consent = self.last_permission.clone();
                Ok(Self { owner, unheard: None, consent, ..self.clone() })
            }
            CycleState::GatePassed => Err(AskRefusal::GatePassed { cycle: self.id }),
            CycleState::Closed { .. } => Err(AskRefusal::CycleClosed { cycle: self.id }),
        }
    }

    /// The pending question is not to be answered any more, and the owner may ask another.
    pub fn withdraw(&self) -> Self {
        let mut cycle = self.clone();
        if let CycleState::Open { pending } = &mut cycle.state {
            *pending = None;
        }
        cycle
    }

    fn awaiting(&self, id: QuestionId) -> Result<&Question, AnswerRefusal> {
        if self.answered.contains(&id) {
            return Err(AnswerRefusal::AlreadyAnswered { id });
        }
        match &self.state {
            CycleState::Open { pending: Some(question) } if question.id == id => Ok(question),
            CycleState::Closed { withdrawn: Some(withdrawn) } if *withdrawn == id => {
                Err(AnswerRefusal::Withdrawn { id })
            }
            CycleState::Open { .. } | CycleState::GatePassed | CycleState::Closed { .. } => {
                Err(AnswerRefusal::UnknownQuestion { id })
            }
        }
    }

    pub fn id(&self) -> CycleId {
        self.id
    }

    pub fn owner(&self) -> &OwnerToken {
        &self.owner
    }

    pub fn state(&self) -> &CycleState {
        &self.state
    }

    pub fn pending(&self) -> Option<&Question> {
        match &self.state {
            CycleState::Open { pending } => pending.as_ref(),
            CycleState::GatePassed | CycleState::Closed { .. } => None,
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.state, CycleState::Open { .. })
    }

    /// Whether the answer to this very question waits for whoever goes on.
    pub fn is_unheard(&self, question: &NonBlank) -> bool {
        self.unheard.as_ref() == Some(question)
    }

    pub fn asked_count(&self) -> u32 {
        self.asked_count
    }

    pub fn automatic_in_a_row(&self) -> u32 {
        self.automatic_in_a_row
    }
}
