//! The rules as text, from the same tables the program runs on.

use std::fmt::Write;

use baton_core::command::CommandName;
use baton_core::exit_reason::ExitReason;
use baton_core::phase::{Move, Phase, PhaseEvent};
use baton_core::state::StateName;
use baton_core::transition::table::next_states;

use crate::cli::Topic;

pub fn text(topic: Topic) -> String {
    match topic {
        Topic::States => states(),
        Topic::Phases => phases(),
        Topic::Exits => exits(),
    }
}

fn states() -> String {
    let mut text =
        String::from("A task starts in Incoming, or in Breakdown when it is to be planned first.\n");
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
            let _ = writeln!(text, "  nothing leads out of it");
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
                Ok(Move::To(to)) => to.as_str().to_owned(),
                Ok(Move::NextIteration(to)) => format!("{}, iteration + 1", to.as_str()),
                Ok(Move::Stay) => "goes on".to_owned(),
                Err(_) => continue,
            };
            let _ = writeln!(text, "  {:<16} → {to}", event.as_str());
        }
    }
    text
}

/// The exits worth knowing: those of the built-in recipes, the guardrails and the errors.
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

fn exits() -> String {
    let mut text = String::from("A recipe ends with a reason. Its category says how to take it.\n\n");
    for reason in EXITS.into_iter().filter_map(|reason| ExitReason::new(reason).ok()) {
        let _ =
            writeln!(text, "{:<10} {:<30} {}", reason.category().as_str(), reason.as_str(), reason.message());
    }
    text
}
