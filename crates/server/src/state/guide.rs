//! The guide: a short text above every page that walks a newcomer through the demo.
//!
//! The command line supplies a function from the current tasks to the guide's text, which is called for every page. So it
//! is never out of date, and nothing is stored.

use baton_core::task::Task;

/// The guide's current text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// The part of the story, for tests that read the page.
    pub part: &'static str,
    pub heading: String,
    pub paragraphs: Vec<String>,
    pub next: Option<GuideLink>,
    /// Commands to try, each with a description; shown at the end.
    pub commands: Vec<(&'static str, &'static str)>,
    pub finished: usize,
    pub all: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideLink {
    pub label: String,
    pub address: String,
}

/// Computes the guide from the current tasks.
pub type GuideFn = Box<dyn Fn(&[Task]) -> Guide + Send + Sync>;
