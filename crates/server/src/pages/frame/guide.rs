//! The demo guide above a page.

use maud::{Markup, html};

use crate::state::guide::Guide;

/// Tasks passed to the guide: those of the demo, and some that a person may add.
pub(crate) const GUIDED_TASKS_MAX: u32 = 100;

pub(crate) fn render(guide: &Guide) -> Markup {
    html! {
        section.guide #guide aria-label="Guide" data-part=(guide.part) {
            p.far { span { "The demo" } span { (guide.finished) " of " (guide.all) " tasks finished" } }
            progress max=(guide.all) value=(guide.finished) aria-label="Finished tasks" {}
            h2 { (guide.heading) }
            @for paragraph in &guide.paragraphs { p { (paragraph) } }
            @if let Some(next) = &guide.next {
                p { a.button.primary href=(next.address) { (next.label) } }
            }
            @if !guide.commands.is_empty() {
                dl.commands {
                    @for (command, what) in &guide.commands {
                        dt { code { (command) } }
                        dd { (what) }
                    }
                }
            }
        }
    }
}
