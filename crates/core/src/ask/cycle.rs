//! An ask cycle: the part of a run in which one owner may ask the human.
//!
//! It belongs to one run: a loop, or one task's execution. It holds at most one pending question, refuses what it may
//! not accept, and never queues. Nothing carries over to the next cycle.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ask::answer_memory::{AnswerMemory, RememberedAnswer};
use crate::ask::answer_source::{AUTOMATIC_IN_A_ROW_MAX, AnsweredBy, match_human_answer, match_option};
use crate::ask::choice::YesNo;
use crate::ask::question::{Question, QuestionKind};
use crate::ask::refusal::{AnswerRefusal, AskRefusal};
use crate::base::id::{CycleId, QuestionId};
use crate::base::text::NonBlank;
use crate::people::owner_token::OwnerToken;

/// More than a long phase needs (two questions for each of ninety subtasks), and an end for an agent that only ever
/// asks.
pub const QUESTIONS_PER_CYCLE_MAX: u32 = 200;

/// The last questions of a cycle are reserved for its gate, so that a phase that used up its questions can still end,
/// and a human may decline it a few times.
pub const GATE_PLACES_KEPT: u32 = 10;

/// Which answers at the gate end the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateRule {
    /// NO stays in the phase and allows more questions.
    YesPasses,
    /// Both answers end the phase; they differ in where it goes.
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
    /// I7: the gate was the last question. The cycle never reopens.
    GatePassed,
    /// Ended without its gate: the human aborted, or the run is over.
    Closed {
        /// The question that was pending and will not be answered.
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
    /// Kept to recognise a second answer; bounded by the questions a cycle may ask.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    answered: BTreeSet<QuestionId>,
    #[serde(default, skip_serializing_if = "AnswerMemory::is_empty")]
    remembered: AnswerMemory,
    /// The question whose answer has not been delivered yet; the next attempt has to be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unheard: Option<NonBlank>,
    /// That answer, if it was about a permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_permission: Option<Box<RememberedAnswer>>,
    /// A permission granted after the agent that asked was gone. The attempt that took over may use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    consent: Option<Box<RememberedAnswer>>,
}

/// The result of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskOutcome {
    /// The question is pending in the new state of the cycle.
    Pending { cycle: Box<AskCycle> },
    /// The human answered this before; nobody is asked, and the cycle is unchanged.
    Again { answer: NonBlank, answered_by: AnsweredBy },
}

/// An accepted answer, and the cycle after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerOutcome {
    pub cycle: AskCycle,
    pub question: Question,
    /// The option's own wording, if the question has options.
    pub answer: NonBlank,
    pub answered_by: AnsweredBy,
    /// The decision at a gate. The cycle is closed if the gate was passed.
    pub gate: Option<YesNo>,
}

impl AskCycle {
    /// `automatic_in_a_row` continues from the run's previous cycle: an unattended loop does not earn new automatic
    /// answers by changing phase.
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

    /// A cycle for one question that Baton itself asked. It has no owner, so nobody can ask in it.
    pub(crate) fn holding(question: Question, automatic_in_a_row: u32) -> Self {
        let (id, owner) = (CycleId::from_bits(0), OwnerToken::from_digest([0; OwnerToken::BYTES]));
        let cycle = Self::open(id, owner, GateRule::YesPasses, automatic_in_a_row);
        Self { state: CycleState::Open { pending: Some(question) }, ..cycle }
    }

    /// The same cycle, with a count kept elsewhere.
    pub(crate) fn counting(&self, automatic_in_a_row: u32) -> Self {
        Self { automatic_in_a_row, ..self.clone() }
    }

    pub fn ask(&self, token: &OwnerToken, question: Question) -> Result<AskOutcome, AskRefusal> {
        self.may_ask(token, &question)?;
        if let Some(known) = self.remembered.recall(&question) {
            let (answer, answered_by) = (known.answer.clone(), known.answered_by.clone());
            return Ok(AskOutcome::Again { answer, answered_by });
        }
        Ok(AskOutcome::Pending { cycle: Box::new(self.ask_anew(token, question)?) })
    }

    /// Asks the human even if they answered before: an agent that ends its turn with the same question again was not
    /// helped by the first answer.
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
            | QuestionKind::Escalation
            | QuestionKind::Completion => QUESTIONS_PER_CYCLE_MAX - GATE_PLACES_KEPT,
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

    /// The earlier answer to the same question: if it was information, or if the agent that asked for a permission
    /// was gone before the answer came.
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
    ) -> Result<AnswerOutcome, AnswerRefusal> {
        let question = self.awaiting(id)?.clone();
        let automatic = answered_by.is_automatic();
        if automatic && question.kind().is_human_only() {
            return Err(AnswerRefusal::HumanOnly { id });
        }
        if automatic && self.automatic_in_a_row >= AUTOMATIC_IN_A_ROW_MAX {
            return Err(AnswerRefusal::AutomationStopped { id, limit: AUTOMATIC_IN_A_ROW_MAX });
        }
        let read = if automatic { match_option } else { match_human_answer };
        let unreadable = |why| AnswerRefusal::Unreadable { id, why };
        let answer = read(&question, answer).map_err(unreadable)?;
        let gate = match question.kind() {
            QuestionKind::Gate => Some(YesNo::read(answer.as_str()).map_err(unreadable)?),
            QuestionKind::Clarification
            | QuestionKind::Confirmation
            | QuestionKind::Permission
            | QuestionKind::Danger
            | QuestionKind::Escalation
            | QuestionKind::Completion => None,
        };
        let mut cycle = self.clone();
        cycle.answered.insert(id);
        cycle.automatic_in_a_row = if automatic { self.automatic_in_a_row + 1 } else { 0 };
        cycle.unheard = Some(question.text().clone());
        if question.kind() == QuestionKind::Permission {
            cycle.last_permission = Some(Box::new(RememberedAnswer::new(&question, &answer, &answered_by)));
        }
        cycle.state = match gate {
            Some(decision) if self.gate_rule.passes(decision) => CycleState::GatePassed,
            Some(_) | None => CycleState::Open { pending: None },
        };
        cycle.remembered.keep(&question, &answer, &answered_by);
        Ok(AnswerOutcome { cycle, question, answer, answered_by, gate })
    }

    /// Takes an answer in other words than the offered ones. The question is settled; a gate is not passed by it.
    pub fn answer_freely(
        &self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<AnswerOutcome, AnswerRefusal> {
        let question = self.awaiting(id)?.clone();
        if answered_by.is_automatic() && question.kind().is_human_only() {
            return Err(AnswerRefusal::HumanOnly { id });
        }
        let mut cycle = self.clone();
        cycle.answered.insert(id);
        cycle.automatic_in_a_row = 0;
        cycle.unheard = Some(question.text().clone());
        cycle.state = CycleState::Open { pending: None };
        Ok(AnswerOutcome { cycle, question, answer: answer.clone(), answered_by, gate: None })
    }

    /// Ends the cycle without its gate and withdraws the pending question. A closed cycle is unchanged.
    pub fn close(&self) -> Self {
        let mut cycle = self.clone();
        if let CycleState::Open { pending } = &self.state {
            cycle.state = CycleState::Closed { withdrawn: pending.as_ref().map(|question| question.id) };
        }
        cycle
    }

    /// A new attempt continues the work of a dead one: it may ask, the dead one's secret may not, and the pending
    /// question stays.
    pub fn take_over(&self, owner: OwnerToken) -> Result<Self, AskRefusal> {
        match &self.state {
            CycleState::Open { .. } => {
                // Permissions only: other decisions are told to the new agent, which asks again if it must.
                let consent = self.last_permission.clone();
                Ok(Self { owner, unheard: None, consent, ..self.clone() })
            }
            CycleState::GatePassed => Err(AskRefusal::GatePassed { cycle: self.id }),
            CycleState::Closed { .. } => Err(AskRefusal::CycleClosed { cycle: self.id }),
        }
    }

    /// Withdraws the pending question, so that the owner may ask another.
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

    /// Whether the answer to this question has not been delivered yet.
    pub fn is_undelivered(&self, question: &NonBlank) -> bool {
        self.unheard.as_ref() == Some(question)
    }

    pub fn asked_count(&self) -> u32 {
        self.asked_count
    }

    pub fn automatic_in_a_row(&self) -> u32 {
        self.automatic_in_a_row
    }
}
