//! The layout of every page: head, navigation, the live part, and the dialogs.

use axum::http::StatusCode;
use axum::response::Response;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::Hold;
use baton_core::task::Task;
use baton_engine::limits::holds::Holds;
use baton_engine::query::TaskFilter;
use baton_engine::reports::accounts;
use maud::{DOCTYPE, Markup, html};

use crate::api::views::health::failing;
use crate::pages::for_you::count_waiting;
use crate::pages::frame::assets::address;
use crate::pages::frame::guide::{self, GUIDED_TASKS_MAX};
use crate::pages::frame::keys;
use crate::pages::frame::navigation::{PLACES, Tab};
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, page};
use crate::pages::widgets::words::{money, span};
use crate::state::App;
use crate::state::guide::Guide;
use crate::state::waiting_count::WaitingCount;

/// What every page needs besides its own content.
pub(crate) struct Frame {
    /// The last event the page includes; the live stream continues after it.
    pub seq: u64,
    pub now: Timestamp,
    /// How many things wait for a person.
    pub waiting: WaitingCount,
    namespace: String,
    /// Failing background services, a sentence each.
    failing: Vec<String>,
    /// Why no agent starts, a sentence each.
    resting: Vec<String>,
    /// What was spent today, and the day's budget, in millionths of a dollar.
    spent: u64,
    budget: Option<u64>,
    /// The demo's guide, if there is one.
    guide: Option<Guide>,
    request: PageRequest,
}

impl Frame {
    pub(crate) async fn load(app: &App, request: PageRequest) -> Result<Self, PageError> {
        let tasks = app.tasks();
        // Read first: later events come by the stream, perhaps twice, but are never missed.
        let seq = tasks.last_event().await?;
        let guide = match app.guide_fn.get() {
            Some(guide_fn) => {
                let page = tasks.store.tasks(&TaskFilter::default(), None, GUIDED_TASKS_MAX).await?;
                let tasks: Vec<Task> = page.items.into_iter().map(|stored| stored.value).collect();
                Some(guide_fn(&tasks))
            }
            None => None,
        };
        let now = tasks.store.now().await?;
        let settings = &app.workspace.settings;
        Ok(Self {
            seq,
            now,
            waiting: count_waiting(app, seq, now).await?,
            namespace: app.namespace().to_owned(),
            failing: app.workspace.services.failing().iter().map(failing).collect(),
            resting: resting(app, now).await?,
            spent: accounts::used_today(&app.workspace).await?.cost_micro_usd,
            budget: settings.budgets.day.cost_micro_usd,
            guide,
            request,
        })
    }

    pub(crate) fn request(&self) -> &PageRequest {
        &self.request
    }

    /// The page, or only its live part. `about` lists the ids it shows; an empty list means any.
    pub(crate) fn page(&self, tab: Tab, title: &str, about: &[String], body: &Markup) -> Response {
        self.page_with(StatusCode::OK, tab, title, about, body)
    }

    pub(crate) fn page_with(
        &self,
        status: StatusCode,
        tab: Tab,
        title: &str,
        about: &[String],
        body: &Markup,
    ) -> Response {
        let live_part = self.live_part(tab, title, about, body);
        page(status, if self.request.is_fragment { live_part } else { self.document(title, &live_part) })
    }

    /// The same markup is used for the first page and for every later patch.
    fn live_part(&self, tab: Tab, title: &str, about: &[String], body: &Markup) -> Markup {
        // Any event may change the guide's text.
        let about = if self.guide.is_some() { &[] } else { about };
        html! {
            (self.navigation(tab))
            main #main data-title=(title) data-seq=(self.seq) data-waiting=(self.waiting.total) data-about=(about.join(" ")) {
                @if !self.failing.is_empty() {
                    div.alert.sticky #degraded role="alert" {
                        @for sentence in &self.failing { p { (sentence) } }
                        p.muted { "Baton keeps retrying. " a href="/health" { "Health" } }
                    }
                }
                @if !self.resting.is_empty() {
                    div.notice.sticky #resting {
                        @for sentence in &self.resting { p { (sentence) } }
                    }
                }
                @if let Some(guide) = &self.guide { (guide::render(guide)) }
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
                    @for (tab, word, badge, address, letter) in PLACES {
                        li {
                            a href=(address) aria-current=[(tab == current).then_some("page")] data-chord=(letter) {
                                span.sign aria-hidden="true" { (badge) }
                                span.word { (word) }
                                (self.count(tab))
                            }
                        }
                        // The third place on a phone, where there is room for a few only.
                        @if tab == Tab::Running {
                            li.phone { a href="/tasks/new" { span.sign aria-hidden="true" { "+" } span.word { "New" } } }
                        }
                    }
                    li.phone { a href="/help" aria-current=[(current == Tab::Elsewhere).then_some("page")] { span.sign aria-hidden="true" { "…" } span.word { "More" } } }
                }
                div.place {
                    a #spent href="/costs" title="What agents have spent today (UTC)" {
                        (money(self.spent)) " today" @if let Some(budget) = self.budget { " of " (money(budget)) }
                    }
                    p title="Namespace" { (self.namespace) }
                }
            }
        }
    }

    fn count(&self, tab: Tab) -> Markup {
        html! {
            @if tab == Tab::ForYou && self.waiting.total > 0 {
                span.count data-tab="for-you" { (self.waiting) span.unseen { " waiting" } }
            }
        }
    }

    fn document(&self, title: &str, live_part: &Markup) -> Markup {
        let count = if self.waiting.total > 0 { format!("({}) ", self.waiting) } else { String::new() };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover";
                    meta name="color-scheme" content="light dark";
                    title { (count) (title) " · Baton" }
                    // Before the style sheet: a script after it would block rendering until the style sheet is loaded.
                    script src=(address("theme.js")) {}
                    link rel="stylesheet" href=(address("baton.css"));
                    link rel="icon" href={ "/badge/" (self.waiting.total) ".svg" } type="image/svg+xml" #icon;
                    link rel="apple-touch-icon" href=(address("icon-192.png"));
                    link rel="manifest" href=(address("manifest.webmanifest"));
                    script type="module" src=(address("app.js")) {}
                }
                body {
                    a.skip href="#main" { "Skip to content" }
                    p #away .alert role="alert" hidden { "The server cannot be reached. What you see may be out of date; it is updated when the server is back." }
                    (live_part)
                    footer #foot {
                        span #line role="status" aria-live="polite" { }
                        span.tools {
                            button type="button" data-do="palette" .js { "Go to… " kbd { "Ctrl K" } }
                            button type="button" data-do="keys" .js { "Shortcuts " kbd { "?" } }
                            button type="button" data-do="theme" .js { "Light / dark" }
                            button type="button" data-do="notify" .js hidden { "Notify me" }
                        }
                    }
                    div #told .unseen role="status" aria-live="polite" { }
                    div #toasts role="status" aria-live="polite" { }
                    (keys::dialog())
                    dialog #palette aria-label="Go to" { }
                    dialog #sheet aria-label="Decide" { }
                }
            }
        }
    }
}

/// Why no agent starts, or one of them does not.
async fn resting(app: &App, now: Timestamp) -> Result<Vec<String>, PageError> {
    if app.workspace.settings.agents.is_empty() {
        return Ok(vec![
            "No agent is set up, so no task starts. `baton doctor` shows which agents work here.".to_owned(),
        ]);
    }
    let holds = Holds::new(app.tasks()).active().await?;
    let sentence = |hold: &Hold| match hold.until {
        Some(until) => format!("{} is on hold for {}.", hold.agent, span(until.ms_since(now))),
        None => format!("{} is on hold until you release it.", hold.agent),
    };
    Ok(holds.iter().map(sentence).collect())
}

/// The title of a page, with actions beside it.
pub(crate) fn heading(title: &str, beside: &Markup) -> Markup {
    html! {
        header.heading {
            h1 { (title) }
            div.beside { (beside) }
        }
    }
}

/// An empty state: what belongs here, and commands to try.
pub(crate) fn empty(title: &str, text: &str, commands: &[(&str, &str)]) -> Markup {
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
