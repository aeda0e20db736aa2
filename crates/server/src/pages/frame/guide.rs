//! The guide's words, as they stand over a page.

use maud::{Markup, html};

use crate::state::guide::Guide;

/// Tasks a guide looks at: those of a demo, and room for a few that a person adds to it.
pub const GUIDED_TASKS_MAX: u32 = 100;

pub fn render(guide: &Guide) -> Markup {
    html! {
        section.guide #guide aria-label="Guide" data-part=(guide.part) {
            p.far { span { "The demo" } span { (guide.finished) " of " (guide.all) " tasks are finished" } }
            progress max=(guide.all) value=(guide.finished) aria-label="Tasks that are finished" {}
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
