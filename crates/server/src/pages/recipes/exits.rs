//! The exits of recipes, as text.

use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::{Recipe, RecipeStep, StepTransition};
use maud::{Markup, html};

use crate::pages::widgets::words::{StateBadge, exit_badge, for_you_badge};

/// The exits a recipe defines.
pub(crate) fn render_own(recipe: &Recipe) -> Markup {
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
        h3 { "Exits" }
        ul.plain.exits { @for reason in reasons { li { (render_exit(reason)) } } }
    }
}

/// An exit: category, message, name.
pub(crate) fn render_exit(reason: &ExitReason) -> Markup {
    with_badge(&exit_badge(reason), reason)
}

/// The exit of a run that has ended. If its task waits for a person, that comes before how the run ended.
pub(crate) fn render_end(reason: &ExitReason, is_waiting: bool) -> Markup {
    if is_waiting { with_badge(&for_you_badge(), reason) } else { render_exit(reason) }
}

fn with_badge(badge: &StateBadge, reason: &ExitReason) -> Markup {
    html! { (badge.chip()) " " (reason.message()) " " span.id { (reason) } }
}

/// The exits every recipe has: stopped by a person, guardrails, errors.
pub(crate) fn render_common() -> Markup {
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
            h2 #every-recipe-title { "Exits of all recipes" }
            ul.plain.exits { @for reason in &reasons { li { (render_exit(reason)) } } }
        }
    }
}
