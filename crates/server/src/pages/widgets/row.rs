//! A row of a list: what it is about, the deciding buttons, and more when it is chosen.

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use maud::{Markup, html};

use crate::pages::widgets::words::{StateBadge, age};

pub(crate) struct Row<'a> {
    pub id: String,
    pub badge: StateBadge,
    pub title: &'a str,
    /// Where Enter leads.
    pub address: String,
    /// One line: the reason, the error, the size of the change.
    pub gist: Markup,
    pub at: Option<Timestamp>,
    pub verbs: Markup,
    /// Shown while the row is chosen.
    pub more: Option<Markup>,
}

impl Row<'_> {
    pub(crate) fn render(&self, now: Timestamp) -> Markup {
        html! {
            article.row.{ "tone-" (self.badge.tone) } #{ "row-" (self.id) } data-row tabindex="-1" aria-labelledby={ "row-" (self.id) "-title" } {
                header {
                    (self.badge.chip())
                    a.title #{ "row-" (self.id) "-title" } href=(self.address) dir="auto" { (self.title) }
                    span.gist { (self.gist) }
                    span.verbs { (self.verbs) }
                    @if let Some(at) = self.at { span.age { (age(at, now)) } }
                }
                @if let Some(more) = &self.more { div.more { (more) } }
            }
        }
    }
}

/// A decision that takes effect at once and can be taken back for a few seconds.
pub(crate) struct QuickDecision<'a> {
    pub verb: &'a str,
    pub word: &'a str,
    /// What happened, for the notice with the way back.
    pub said: &'a str,
    pub key: Option<char>,
    pub is_primary: bool,
    /// Where the form leads.
    pub next: &'a str,
}

impl QuickDecision<'_> {
    pub(crate) fn form(&self, task: TaskId) -> Markup {
        self.form_for(&format!("/tasks/{task}/do/{}", self.verb), &html! {})
    }

    /// The same for any address, with fields of its own.
    pub(crate) fn form_for(&self, address: &str, fields: &Markup) -> Markup {
        html! {
            form.decision method="post" action=(address) data-undo=(self.said) {
                input type="hidden" name="next" value=(self.next);
                (fields)
                button.primary[self.is_primary] type="submit" data-key=[self.key] {
                    (self.word)
                    @if let Some(key) = self.key { " " kbd { (key) } }
                }
            }
        }
    }
}
