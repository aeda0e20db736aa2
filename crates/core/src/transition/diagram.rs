//! Mermaid diagrams of the state machines, generated from the tables the code runs on.

use std::fmt::Write;

use crate::phase::{InvalidPhaseMove, Phase, PhaseEvent, PhaseMove};
use crate::task::state::StateName;
use crate::transition::command::CommandName;
use crate::transition::table::next_states;

/// The states of a task and the commands between them.
pub fn task_states() -> String {
    let mut diagram =
        String::from("stateDiagram-v2\n    [*] --> Incoming: create\n    [*] --> Breakdown: create\n");
    for from in StateName::ALL {
        for to in StateName::ALL {
            let labels: Vec<&str> = CommandName::ALL
                .into_iter()
                .filter(|command| next_states(from, *command).contains(&to))
                .map(CommandName::as_str)
                .collect();
            if !labels.is_empty() {
                // Writing to a String cannot fail.
                let _ = writeln!(diagram, "    {from} --> {to}: {}", labels.join(", "));
            }
        }
    }
    for end in StateName::ALL.into_iter().filter(|state| is_final(*state)) {
        let _ = writeln!(diagram, "    {end} --> [*]");
    }
    diagram
}

fn is_final(state: StateName) -> bool {
    CommandName::ALL.into_iter().all(|command| next_states(state, command).is_empty())
}

/// The phases of a loop and the answers between them.
pub fn phases() -> String {
    let mut diagram = String::from("stateDiagram-v2\n    [*] --> hub\n");
    for from in Phase::ALL {
        for event in PhaseEvent::ALL {
            let (to, extra) = match from.after(event) {
                Ok(PhaseMove::To(to)) => (to, ""),
                Ok(PhaseMove::NextIteration(to)) => (to, " (iteration + 1)"),
                Ok(PhaseMove::Stay) => (from, ""),
                Err(InvalidPhaseMove { .. }) => continue,
            };
            let _ = writeln!(diagram, "    {} --> {}: {}{extra}", from.as_str(), to.as_str(), event.as_str());
        }
    }
    diagram
}
