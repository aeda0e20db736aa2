//! The hub: what is shown when a loop has ended.

use baton_core::recipe::run::Run;
use maud::{Markup, html};

/// The totals of a loop that has ended, and what a person can do next. Empty for any other run.
pub(crate) fn render_hub(run: &Run) -> Markup {
    let Some(summary) = run.summary() else { return html! {} };
    html! {
        div.notice.hub #hub {
            dl.facts-list {
                dt { "Iterations" } dd { (summary.iterations) }
                dt { "Tasks completed" } dd { (summary.tasks_completed) }
                dt { "Tasks failed" } dd { (summary.tasks_failed) }
                dt { "Tasks discovered" } dd { (summary.tasks_discovered) }
                dt { "Duplicates skipped" } dd { (summary.duplicates_skipped) }
            }
            div.row {
                form method="post" action={ "/recipes/" (run.recipe()) "/start" } {
                    input type="hidden" name="session" value=(run.session());
                    button.primary type="submit" { "New session" }
                }
                a.button href="/board" { "View results" }
                a.button href="/tasks/new" { "Edit tasks" }
            }
        }
    }
}
