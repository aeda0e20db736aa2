//! The Plan → Execute → Review loop: its phases, the edges between them and the work of each phase.
//!
//! The table in [`Phase::after`] is the only list of edges (I8). What the engine starts or creates for a phase is
//! decided here and done there.

pub mod discovered;
pub mod handoff;
pub mod phase_loop;
pub mod refusal;
pub mod subtask;
pub mod summary;
pub mod vagueness;
pub mod work;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask::choice::YesNo;
use crate::ask::cycle::GateRule;
use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::text::NonBlank;

/// A loop this long has lost its aim. The human ends it, reads the summary and starts a new one.
pub const ITERATIONS_MAX: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Where a loop starts and ends. Nobody asks here.
    Hub,
    Plan,
    Execute,
    Review,
}

/// What can happen to a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseEvent {
    StartPlan,
    StartExecute,
    StartReview,
    GateYes,
    GateNo,
    /// The human aborts the loop.
    BreakOff,
}

impl PhaseEvent {
    pub const ALL: [Self; 6] =
        [Self::StartPlan, Self::StartExecute, Self::StartReview, Self::GateYes, Self::GateNo, Self::BreakOff];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StartPlan => "start plan",
            Self::StartExecute => "start execute",
            Self::StartReview => "start review",
            Self::GateYes => "YES at the gate",
            Self::GateNo => "NO at the gate",
            Self::BreakOff => "break off",
        }
    }
}

impl From<YesNo> for PhaseEvent {
    fn from(answer: YesNo) -> Self {
        match answer {
            YesNo::Yes => Self::GateYes,
            YesNo::No => Self::GateNo,
        }
    }
}

impl fmt::Display for PhaseEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a human may start a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseStart {
    Plan,
    Execute,
    Review,
}

impl PhaseStart {
    pub const ALL: [Self; 3] = [Self::Plan, Self::Execute, Self::Review];
}

impl From<PhaseStart> for PhaseEvent {
    fn from(start: PhaseStart) -> Self {
        match start {
            PhaseStart::Plan => Self::StartPlan,
            PhaseStart::Execute => Self::StartExecute,
            PhaseStart::Review => Self::StartReview,
        }
    }
}

/// Where an event leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseMove {
    /// The phase continues, and so does asking.
    Stay,
    To(Phase),
    /// To a phase of the next iteration.
    NextIteration(Phase),
}

/// I8: an event that has no edge from this phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("\"{event}\" leads nowhere from {phase}; {}", phase.what_is_possible())]
pub struct InvalidPhaseMove {
    pub phase: Phase,
    pub event: PhaseEvent,
}

impl Phase {
    pub const ALL: [Self; 4] = [Self::Hub, Self::Plan, Self::Execute, Self::Review];

    /// I8: the complete list of edges.
    pub const fn after(self, event: PhaseEvent) -> Result<PhaseMove, InvalidPhaseMove> {
        use PhaseEvent::{BreakOff, GateNo, GateYes, StartExecute, StartPlan, StartReview};
        match (self, event) {
            (Self::Hub, StartPlan) => Ok(PhaseMove::To(Self::Plan)),
            (Self::Hub, StartExecute) | (Self::Plan, GateYes) => Ok(PhaseMove::To(Self::Execute)),
            (Self::Hub, StartReview) | (Self::Execute, GateYes) => Ok(PhaseMove::To(Self::Review)),
            (Self::Plan | Self::Execute, GateNo) => Ok(PhaseMove::Stay),
            (Self::Review, GateYes) => Ok(PhaseMove::NextIteration(Self::Plan)),
            (Self::Review, GateNo) | (Self::Plan | Self::Execute | Self::Review, BreakOff) => {
                Ok(PhaseMove::To(Self::Hub))
            }
            (Self::Hub, GateYes | GateNo | BreakOff)
            | (Self::Plan | Self::Execute | Self::Review, StartPlan | StartExecute | StartReview) => {
                Err(InvalidPhaseMove { phase: self, event })
            }
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hub => "hub",
            Self::Plan => "plan",
            Self::Execute => "execute",
            Self::Review => "review",
        }
    }

    /// I7: the text of the question that ends the phase. The hub has none.
    pub const fn gate_text(self) -> Option<&'static str> {
        match self {
            Self::Hub => None,
            Self::Plan => Some("Ready to execute? [YES/NO]"),
            Self::Execute => Some("Ready for review? [YES/NO]"),
            Self::Review => Some("Continue loop? [YES/NO]"),
        }
    }

    pub fn gate(self) -> Option<QuestionDraft> {
        let text = NonBlank::fixed(self.gate_text()?);
        Some(QuestionDraft::new(QuestionKind::Gate, text).with_options(YesNo::OPTIONS))
    }

    pub const fn gate_rule(self) -> GateRule {
        match self {
            Self::Hub | Self::Plan | Self::Execute => GateRule::YesPasses,
            Self::Review => GateRule::BothPass,
        }
    }

    const fn what_is_possible(self) -> &'static str {
        match self {
            Self::Hub => "start plan, execute or review",
            Self::Plan | Self::Execute | Self::Review => {
                "answer the phase's gate, or break off to return to the hub"
            }
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I8, written down a second time as the list of edges it is.
    const EDGES: [(Phase, PhaseEvent, Phase, u32); 10] = [
        (Phase::Hub, PhaseEvent::StartPlan, Phase::Plan, 0),
        (Phase::Hub, PhaseEvent::StartExecute, Phase::Execute, 0),
        (Phase::Hub, PhaseEvent::StartReview, Phase::Review, 0),
        (Phase::Plan, PhaseEvent::GateYes, Phase::Execute, 0),
        (Phase::Execute, PhaseEvent::GateYes, Phase::Review, 0),
        (Phase::Review, PhaseEvent::GateYes, Phase::Plan, 1),
        (Phase::Review, PhaseEvent::GateNo, Phase::Hub, 0),
        (Phase::Plan, PhaseEvent::BreakOff, Phase::Hub, 0),
        (Phase::Execute, PhaseEvent::BreakOff, Phase::Hub, 0),
        (Phase::Review, PhaseEvent::BreakOff, Phase::Hub, 0),
    ];

    #[test]
    fn i8_every_pair_of_phase_and_event_is_an_edge_a_stay_or_refused() {
        let mut edges_seen = 0;
        for phase in Phase::ALL {
            for event in PhaseEvent::ALL {
                let edge = EDGES.iter().find(|(from, on, ..)| (*from, *on) == (phase, event));
                match phase.after(event) {
                    Ok(PhaseMove::To(to)) => assert_eq!(edge, Some(&(phase, event, to, 0))),
                    Ok(PhaseMove::NextIteration(to)) => assert_eq!(edge, Some(&(phase, event, to, 1))),
                    Ok(PhaseMove::Stay) => {
                        assert_eq!(edge, None);
                        assert!(matches!(phase, Phase::Plan | Phase::Execute), "{phase}");
                        assert_eq!(event, PhaseEvent::GateNo);
                    }
                    Err(refusal) => {
                        assert_eq!(edge, None);
                        assert_eq!(refusal, InvalidPhaseMove { phase, event });
                    }
                }
                edges_seen += usize::from(edge.is_some());
            }
        }
        assert_eq!(edges_seen, EDGES.len());
    }

    #[test]
    fn i7_the_gate_passes_exactly_where_its_answer_leaves_the_phase() {
        for phase in [Phase::Plan, Phase::Execute, Phase::Review] {
            for &answer in YesNo::ALL {
                let leaves = phase.after(answer.into()) != Ok(PhaseMove::Stay);
                assert_eq!(phase.gate_rule().passes(answer), leaves, "{phase} {answer}");
            }
        }
    }

    #[test]
    fn gates_are_worded_as_agreed() {
        let texts: Vec<_> = Phase::ALL.into_iter().filter_map(Phase::gate).collect();
        assert_eq!(texts.len(), 3);
        insta::assert_snapshot!(
            texts.iter().map(|draft| draft.text.to_string()).collect::<Vec<_>>().join("\n"),
            @r"
        Ready to execute? [YES/NO]
        Ready for review? [YES/NO]
        Continue loop? [YES/NO]
        "
        );
        for draft in texts {
            assert_eq!(draft.options.iter().map(NonBlank::as_str).collect::<Vec<_>>(), ["YES", "NO"]);
        }
    }

    #[test]
    fn a_refused_move_says_what_is_possible() {
        let refusal = Phase::Hub.after(PhaseEvent::GateYes).unwrap_err();
        insta::assert_snapshot!(refusal, @r#""YES at the gate" leads nowhere from hub; start plan, execute or review"#);
    }
}
