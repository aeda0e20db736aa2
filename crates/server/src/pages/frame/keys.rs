//! The keyboard shortcuts: a dialog on every page, and the table for `/help`.

use maud::{Markup, html};

use super::navigation::PLACES;

const KEYS: [(&str, &str); 12] = [
    ("j / k", "next / previous entry"),
    ("Enter", "open the entry"),
    ("1 – 9", "choose an option of the current question"),
    ("a", "accept, release or retry: the first button of the entry"),
    ("r", "write a reply, or what should change"),
    ("s", "skip the entry"),
    ("z", "undo the last decision"),
    ("Ctrl Enter", "send (⌘ Enter on a Mac)"),
    ("/", "filter this page"),
    ("Ctrl K", "go to a task or a page (⌘ K on a Mac)"),
    ("?", "show shortcuts"),
    ("Esc", "close or leave a field"),
];

pub(crate) fn table() -> Markup {
    html! {
        dl.keys {
            @for (key, what) in KEYS { dt { kbd { (key) } } dd { (what) } }
            @for (_, word, _, _, letter) in PLACES { dt { kbd { "g " (letter) } } dd { (word) } }
        }
    }
}

pub(crate) fn dialog() -> Markup {
    html! {
        dialog #keys aria-labelledby="keys-title" {
            form method="dialog" {
                header { h2 #keys-title { "Keyboard shortcuts" } button aria-label="Close" { "✕" } }
                (table())
            }
        }
    }
}
