//! A recipe as a state machine: as text for a terminal, and as a Mermaid diagram.

use std::fmt::Write;

use baton_core::recipe::{Recipe, RecipeStep, StepTransition};

/// Steps in the file's order.
pub fn render_text(recipe: &Recipe) -> String {
    let guardrails = recipe.guardrails();
    let mut text = format!(
        "{}  {}\n{}\n\nAt most {} visits per step and {} steps in total.\n",
        recipe.id(),
        recipe.label(),
        recipe.description(),
        guardrails.max_step_visits(),
        guardrails.max_total_steps()
    );
    if recipe.takes_task() {
        text.push_str("Works on the next ready task.\n");
    }
    for step in recipe.steps() {
        let _ = write!(text, "\n{}{}\n", step.name(), traits(recipe, step));
        let width = step.outcomes().iter().map(|name| name.as_str().len()).max().unwrap_or(0);
        for (outcome, transition) in step.transitions() {
            let name = outcome.as_str();
            let _ = writeln!(text, "  {name:width$} → {}", describe_target(recipe, transition));
        }
        if let Some(gate) = step.gate() {
            let no = gate.no().map_or("repeats the step".to_owned(), |no| format!("→ {no}"));
            let _ = writeln!(text, "  gate \"{}\": YES → {}, NO {no}", gate.question(), gate.yes());
        }
    }
    text
}

fn traits(recipe: &Recipe, step: &RecipeStep) -> String {
    let mut traits = Vec::new();
    if step.name() == recipe.initial_step() {
        traits.push("first".to_owned());
    }
    if step.is_fresh() {
        traits.push("fresh agent session".to_owned());
    }
    traits.extend(step.role().map(|role| format!("role {role}")));
    traits.extend(step.model().map(|model| format!("model {model}")));
    traits.extend(step.default_outcome().map(|name| format!("{name} if nothing is reported")));
    if traits.is_empty() { String::new() } else { format!(" ({})", traits.join(", ")) }
}

fn describe_target(recipe: &Recipe, transition: &StepTransition) -> String {
    match transition {
        StepTransition::NextStep { step } => step.to_string(),
        StepTransition::Exit { reason } => format!("exit {reason}: {}", reason.message()),
        StepTransition::RestartNewSession => format!("{}, in a new agent session", recipe.initial_step()),
    }
}

/// As a Mermaid state diagram.
pub fn render_mermaid(recipe: &Recipe) -> String {
    let id = |name: &str| name.replace('-', "_");
    let mut text = format!("stateDiagram-v2\n    [*] --> {}\n", id(recipe.initial_step().as_str()));
    for step in recipe.steps() {
        let _ = writeln!(text, "    state \"{}\" as {}", step.name(), id(step.name().as_str()));
    }
    for step in recipe.steps() {
        let from = id(step.name().as_str());
        for (outcome, transition) in step.transitions() {
            let gate = step.gate().is_some_and(|gate| gate.stands_for(outcome));
            let label = if gate { format!("{outcome} (gate)") } else { outcome.to_string() };
            let _ = match transition {
                StepTransition::NextStep { step } => {
                    writeln!(text, "    {from} --> {}: {label}", id(step.as_str()))
                }
                StepTransition::Exit { reason } => writeln!(text, "    {from} --> [*]: {label} / {reason}"),
                StepTransition::RestartNewSession => {
                    writeln!(
                        text,
                        "    {from} --> {}: {label} / new session",
                        id(recipe.initial_step().as_str())
                    )
                }
            };
        }
    }
    text
}
