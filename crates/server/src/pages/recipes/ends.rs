//! How a run can end, in words: those its recipe names, and those every recipe has.

use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::{Recipe, RecipeStep, StepTransition};
use maud::{Markup, html};

use crate::pages::words::of_exit;

/// The ends it names itself.
pub fn own(recipe: &Recipe) -> Markup {
    let mut reasons: Vec<&ExitReason> = recipe
        .steps()
        .iter()
        .flat_map(RecipeStep::transitions)
        .filter_map(|(_, transition)| match transition {
            StepTransition::Exit { reason } => Some(reason),
            StepTransition::NextStep { .. } | StepTransition::RestartNewSession => None,
        })
        .collect();
    reasons.sort();
    reasons.dedup();
    html! {
        h3 { "How it can end" }
        ul.plain.exits { @for reason in reasons { li { (end(reason)) } } }
    }
}

/// One of them: its kind by sign, word and colour, its sentence, its name.
pub fn end(reason: &ExitReason) -> Markup {
    html! { (of_exit(reason.category()).chip()) " " (reason.message()) " " span.id { (reason) } }
}

/// The ends no recipe names and each can come to: a person's word, the guardrails, and what goes wrong.
pub fn of_all() -> Markup {
    let reasons = [
        ExitReason::user_requested(),
        ExitReason::max_step_visits_of_any(),
        ExitReason::max_total_steps(),
        ExitReason::orchestration_error(),
        ExitReason::error(),
        ExitReason::internal_error(),
    ];
    html! {
        section.recipe #every-recipe aria-labelledby="every-recipe-title" {
            h2 #every-recipe-title { "Each of them can also end so" }
            ul.plain.exits { @for reason in &reasons { li { (end(reason)) } } }
        }
    }
}
