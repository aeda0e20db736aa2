//! The frame of every page: head, navigation, the place for what changes, and the sheets that help.

use axum::http::StatusCode;
use axum::response::Response;
use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use baton_engine::query::{QuestionFilter, TaskFilter};
use maud::{DOCTYPE, Markup, html};

use super::answer::{PageError, page};
use super::assets::address;
use super::guide::{self, GUIDED_TASKS_MAX};
use super::help;
use super::visit::Visit;
use crate::guide::Guide;
use crate::state::App;
use crate::views::health::failing;

/// Counted up to here; a larger number tells nobody more.
const COUNTED_MAX: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Inbox,
    Board,
    Chat,
    Graph,
    Breakdowns,
    Recipes,
    UserTasks,
    Health,
    /// Somewhere the navigation does not lead.
    Elsewhere,
}

/// Where the navigation leads: tab, word, sign, address, and the letter after `g`.
pub const PLACES: [(Tab, &str, &str, &str, char); 8] = [
    (Tab::Inbox, "Inbox", "✉", "/", 'i'),
    (Tab::Board, "Board", "▦", "/board", 'b'),
    (Tab::Chat, "Chat", "❝", "/chat", 'c'),
    (Tab::Graph, "Graph", "⋔", "/graph", 'r'),
    (Tab::Breakdowns, "Breakdowns", "⊞", "/breakdowns", 'd'),
    (Tab::Recipes, "Recipes", "↺", "/recipes", 'p'),
    (Tab::UserTasks, "User tasks", "❯", "/user-tasks", 'u'),
    (Tab::Health, "Health", "♥", "/health", 'h'),
];

/// What every page knows before it looks at anything of its own.
pub struct Frame {
    /// The history up to here is on the page; the stream goes on behind it.
    pub seq: u64,
    pub now: Timestamp,
    pub pending: usize,
    unaccepted: usize,
    namespace: String,
    /// Background services that fail now, a sentence each.
    failing: Vec<String>,
    /// What somebody who is shown around is told on every page.
    guide: Option<Guide>,
    visit: Visit,
}

impl Frame {
    pub async fn load(app: &App, visit: Visit) -> Result<Self, PageError> {
        let tasks = app.tasks();
        // Before anything else is read: what happens from now on is told by the stream, perhaps twice, never not.
        let seq = tasks.last_event().await?;
        let guide = match app.guiding.get() {
            Some(guiding) => {
                let page = tasks.store.tasks(&TaskFilter::default(), None, GUIDED_TASKS_MAX).await?;
                let tasks: Vec<Task> = page.items.into_iter().map(|stored| stored.value).collect();
                Some(guiding(&tasks))
            }
            None => None,
        };
        let provisional = TaskFilter { queue: Some(QueueName::Provisional), ..TaskFilter::default() };
        Ok(Self {
            seq,
            now: tasks.store.now().await?,
            pending: tasks.store.questions(&QuestionFilter::pending(), None, COUNTED_MAX).await?.items.len(),
            unaccepted: tasks.store.tasks(&provisional, None, COUNTED_MAX).await?.items.len(),
            namespace: app.namespace().to_owned(),
            failing: app.shop.services.failing().iter().map(failing).collect(),
            guide,
            visit,
        })
    }

    pub fn visit(&self) -> &Visit {
        &self.visit
    }

    /// The page, or only what of it changes. `about` names the ids it shows; an empty list stands for everything.
    pub fn page(&self, tab: Tab, title: &str, about: &[String], body: &Markup) -> Response {
        self.page_with(StatusCode::OK, tab, title, about, body)
    }

    pub fn page_with(
        &self,
        status: StatusCode,
        tab: Tab,
        title: &str,
        about: &[String],
        body: &Markup,
    ) -> Response {
        let changing = self.changing(tab, title, about, body);
        page(status, if self.visit.is_fragment { changing } else { self.whole(title, &changing) })
    }

    /// The same markup stands in the first page and in every later patch.
    fn changing(&self, tab: Tab, title: &str, about: &[String], body: &Markup) -> Markup {
        // A guide speaks of the whole story, so every event may change what it says.
        let about = if self.guide.is_some() { &[] } else { about };
        html! {
            (self.navigation(tab))
            main #main data-title=(title) data-seq=(self.seq) data-pending=(self.pending) data-about=(about.join(" ")) {
                @if !self.failing.is_empty() {
                    div.alert.sticky #degraded role="alert" {
                        @for sentence in &self.failing { p { (sentence) } }
                        p.muted { "It is retried. " a href="/health" { "Health" } }
                    }
                }
                @if let Some(guide) = &self.guide { (guide::words(guide)) }
                (body)
            }
        }
    }

    fn navigation(&self, current: Tab) -> Markup {
        html! {
            nav #nav aria-label="Main" {
                a.brand href="/" {
                    img src="/badge/0.svg" alt="" width="22" height="22";
                    span { "Baton" }
                }
                ul {
                    @for (tab, word, sign, address, letter) in PLACES {
                        li {
                            a href=(address) aria-current=[(tab == current).then_some("page")] data-chord=(letter) {
                                span.sign aria-hidden="true" { (sign) }
                                span.word { (word) }
                                (self.count(tab))
                            }
                        }
                    }
                }
                p.place title="The namespace: whose work this is" { (self.namespace) }
            }
        }
    }

    fn count(&self, tab: Tab) -> Markup {
        let (count, about) = match tab {
            Tab::Inbox => (self.pending, "questions wait"),
            Tab::Board => (self.unaccepted, "to accept"),
            _ => (0, ""),
        };
        let text = if count >= COUNTED_MAX as usize { format!("{count}+") } else { count.to_string() };
        html! {
            @if count > 0 {
                span.count data-tab=[(tab == Tab::Inbox).then_some("inbox")] {
                    (text) span.unseen { " " (about) }
                }
            }
        }
    }

    fn whole(&self, title: &str, changing: &Markup) -> Markup {
        let count = if self.pending > 0 { format!("({}) ", self.pending) } else { String::new() };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover";
                    meta name="color-scheme" content="light dark";
                    title { (count) (title) " · Baton" }
                    // Before the style sheet: a script behind one waits for it, and the page for both.
                    script src=(address("theme.js")) {}
                    link rel="stylesheet" href=(address("baton.css"));
                    link rel="icon" href={ "/badge/" (self.pending) ".svg" } type="image/svg+xml" #icon;
                    link rel="apple-touch-icon" href=(address("icon-192.png"));
                    link rel="manifest" href=(address("manifest.webmanifest"));
                    script type="module" src=(address("app.js")) {}
                }
                body {
                    a.skip href="#main" { "To the content" }
                    (changing)
                    footer #foot {
                        span #line role="status" aria-live="polite" { }
                        span.tools {
                            button type="button" data-do="palette" .js { "Go to… " kbd { "Ctrl K" } }
                            button type="button" data-do="keys" .js { "Keys " kbd { "?" } }
                            button type="button" data-do="theme" .js { "Light / dark" }
                            button type="button" data-do="notify" .js hidden { "Notify me" }
                        }
                    }
                    div #told .unseen role="status" aria-live="polite" { }
                    div #toasts role="status" aria-live="polite" { }
                    (help::sheet())
                    dialog #palette aria-label="Go to" { }
                    dialog #sheet aria-label="Decide" { }
                }
            }
        }
    }
}

/// The title of a page, with what can be done beside it.
pub fn heading(title: &str, beside: &Markup) -> Markup {
    html! {
        header.heading {
            h1 { (title) }
            div.beside { (beside) }
        }
    }
}

/// A place where nothing is yet: what it is for, and what to type.
pub fn empty(title: &str, text: &str, commands: &[(&str, &str)]) -> Markup {
    html! {
        div.empty {
            h2 { (title) }
            p { (text) }
            @if !commands.is_empty() {
                dl.commands {
                    @for (command, what) in commands {
                        dt { code { (command) } }
                        dd { (what) }
                    }
                }
            }
        }
    }
}
