//! Topics: rules as text and as JSON, from the tables the program runs on.

use std::fmt::Write;

use baton_core::phase::{Phase, PhaseEvent, PhaseMove};
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::task::state::StateName;
use baton_core::transition::command::CommandName;
use baton_core::transition::table::next_states;
use serde_json::{Value, json};

use crate::explain::landing;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExplainTopic {
    States,
    Phases,
    Exits,
    Landing,
    Accept,
    StartOn,
}

impl ExplainTopic {
    pub(crate) const ALL: [Self; 6] =
        [Self::States, Self::Phases, Self::Exits, Self::Landing, Self::Accept, Self::StartOn];

    /// By its name, or that of the setting that it is about.
    pub(crate) fn find(what: &str) -> Option<Self> {
        let what = what.to_lowercase().replace('-', "_");
        Self::ALL
            .into_iter()
            .find(|topic| what == topic.name() || *topic == Self::Accept && what == "accept_when")
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::Phases => "phases",
            Self::Exits => "exits",
            Self::Landing => "landing",
            Self::Accept => "accept",
            Self::StartOn => "start_on",
        }
    }

    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::States => "Task states and their transitions",
            Self::Phases => "Phases of the Plan → Execute → Review loop",
            Self::Exits => "Exit reasons of recipes and what they mean",
            Self::Landing => "How accepted work gets into its branch",
            Self::Accept => "Who accepts finished work",
            Self::StartOn => "When tasks start that depend on others",
        }
    }
}

pub(crate) fn text(topic: ExplainTopic) -> String {
    match topic {
        ExplainTopic::States => states(),
        ExplainTopic::Phases => phases(),
        ExplainTopic::Exits => exits(),
        ExplainTopic::Landing => landing::LANDING.to_owned(),
        ExplainTopic::Accept => landing::accept(),
        ExplainTopic::StartOn => landing::START_ON.to_owned(),
    }
}

fn states() -> String {
    let mut text =
        String::from("A task starts in Incoming, or in Breakdown if it has to be planned first.\n");
    for state in StateName::ALL {
        let _ = writeln!(text, "\n{state}");
        let mut is_final = true;
        for command in CommandName::ALL {
            let to: Vec<&str> = next_states(state, command).iter().map(|state| state.as_str()).collect();
            if !to.is_empty() {
                is_final = false;
                let _ = writeln!(text, "  {:<16} → {}", command.as_str(), to.join(" | "));
            }
        }
        if is_final {
            let _ = writeln!(text, "  final state");
        }
    }
    text
}

fn phases() -> String {
    let mut text =
        String::from("A loop starts and ends at the hub. Each phase ends with one question, its gate.\n");
    for phase in Phase::ALL {
        let gate = phase.gate_text().map(|gate| format!(": {gate}")).unwrap_or_default();
        let _ = writeln!(text, "\n{}{gate}", phase.as_str());
        for event in PhaseEvent::ALL {
            let to = match phase.after(event) {
                Ok(PhaseMove::To(to)) => to.as_str().to_owned(),
                Ok(PhaseMove::NextIteration(to)) => format!("{}, iteration + 1", to.as_str()),
                Ok(PhaseMove::Stay) => "stays".to_owned(),
                Err(_) => continue,
            };
            let _ = writeln!(text, "  {:<16} → {to}", event.as_str());
        }
    }
    text
}

/// The same as JSON.
pub(crate) fn as_json(topic: ExplainTopic) -> Value {
    match topic {
        ExplainTopic::States => json!({ "states": StateName::ALL.map(|state| {
            let ways: Vec<Value> = CommandName::ALL
                .iter()
                .map(|command| (command, next_states(state, *command)))
                .filter(|(_, to)| !to.is_empty())
                .map(|(command, to)| {
                    let to: Vec<&str> = to.iter().map(|state| state.as_str()).collect();
                    json!({ "command": command.as_str(), "to": to })
                })
                .collect();
            json!({ "state": state.as_str(), "ways": ways })
        }) }),
        ExplainTopic::Phases => json!({ "phases": Phase::ALL.map(|phase| {
            let ways: Vec<Value> = PhaseEvent::ALL
                .into_iter()
                .filter_map(|event| Some((event, phase.after(event).ok()?)))
                .map(|(event, moved)| {
                    let (to, is_next_iteration) = match moved {
                        PhaseMove::To(to) => (to, false),
                        PhaseMove::NextIteration(to) => (to, true),
                        PhaseMove::Stay => (phase, false),
                    };
                    json!({ "event": event.as_str(), "to": to.as_str(), "next_iteration": is_next_iteration })
                })
                .collect();
            json!({ "phase": phase.as_str(), "gate": phase.gate_text(), "ways": ways })
        }) }),
        ExplainTopic::Exits => json!({ "exits": known_exits()
            .map(|reason| json!({
                "reason": reason.as_str(), "category": reason.category().as_str(), "message": reason.message(),
            }))
            .collect::<Vec<Value>>() }),
        ExplainTopic::Landing | ExplainTopic::Accept | ExplainTopic::StartOn => {
            let text = text(topic);
            json!({ topic.name(): text.lines().collect::<Vec<&str>>() })
        }
    }
}

/// The exits of the built-in recipes, the guardrails and the errors.
const EXITS: [&str; 16] = [
    "task-committed",
    "design-committed",
    "tasks-committed",
    "no-changes-to-commit",
    "clarification-needed",
    "implementation-blocked",
    "no-design-document-found",
    "no-tasks-available",
    "user-provided-other",
    "max-total-steps",
    "max-step-visits-exceeded:fix",
    "orchestration-error",
    "error",
    "internal-error",
    "no-prompt",
    "one-of-your-own",
];

fn known_exits() -> impl Iterator<Item = ExitReason> {
    EXITS.into_iter().filter_map(|reason| ExitReason::new(reason).ok())
}

fn exits() -> String {
    let mut text = String::from("A recipe exits with a reason; its category says how to interpret it.\n\n");
    for reason in known_exits() {
        let _ =
            writeln!(text, "{:<10} {:<30} {}", reason.category().as_str(), reason.as_str(), reason.message());
    }
    text
}
