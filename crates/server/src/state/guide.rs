//! The guide: a few words over every page for somebody who is shown around, with the one thing to do next.
//!
//! It is said by whoever starts the server, from the tasks as they are when a page is made. So it is never behind the
//! page it stands on, and nothing about it is stored.

use baton_core::task::Task;

/// What is said now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// Which part of the story it is, for programs that look at the page.
    pub part: &'static str,
    pub heading: String,
    /// What happens, and why it matters.
    pub paragraphs: Vec<String>,
    /// Where to go for the next step.
    pub next: Option<GuideLink>,
    /// Commands to type, with what each does; shown at the end of the story.
    pub commands: Vec<(&'static str, &'static str)>,
    pub finished: usize,
    pub all: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideLink {
    pub label: String,
    pub address: String,
}

/// Who says it.
pub type GuideFn = Box<dyn Fn(&[Task]) -> Guide + Send + Sync>;
