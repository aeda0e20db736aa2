//! The tree of plans the task belongs to.

use baton_core::base::id::TaskId;
use baton_core::recycle::RecycleReason;
use baton_core::task::{Purpose, Task};
use baton_engine::reports::lineage::Kin;
use baton_engine::reports::lineage::Lineage;
use maud::{Markup, html};

use crate::pages::widgets::words::state_badge;

pub(super) fn render(lineage: &Lineage, here: TaskId) -> Markup {
    html! {
        section #lineage {
            h2 { "Lineage" }
            @if lineage.kin.len() < 2 {
                p.muted { "This task was not created by a plan, and nothing replaces it." }
            } @else {
                (generation(&lineage.kin, here))
                @if lineage.is_cut { p.muted { "More tasks are not shown." } }
            }
        }
    }
}

/// The tasks of one level, each with its descendants.
fn generation(kin: &[Kin], here: TaskId) -> Markup {
    let Some(level) = kin.first().map(|first| first.level) else { return html! {} };
    let families = kin.chunk_by(|_, next| next.level > level);
    html! {
        ul.lineage {
            @for family in families {
                @if let Some((head, rest)) = family.split_first() {
                    li { (render_task(&head.task, here)) (generation(rest, here)) }
                }
            }
        }
    }
}

fn render_task(task: &Task, here: TaskId) -> Markup {
    html! {
        div.kin aria-current=[(task.id() == here).then_some("true")] {
            (state_badge(task.state()).chip()) " "
            a href={ "/tasks/" (task.id()) "/details#lineage" } { (task.spec().title) }
            " " span.id { (task.id()) }
            span.muted { (role(task)) }
        }
    }
}

/// How the task relates to its parent.
const fn role(task: &Task) -> &'static str {
    match task.spec().purpose {
        Purpose::Breakdown { reason: Some(RecycleReason::TooLarge), .. } => "breakdown: too large",
        Purpose::Breakdown { reason: Some(RecycleReason::CumulativeFailures), .. } => {
            "breakdown: too many attempts"
        }
        Purpose::Breakdown { .. } => "breakdown",
        Purpose::Work | Purpose::Run if task.spec().planned_in.is_some() => "planned",
        Purpose::Work | Purpose::Run => "",
    }
}
