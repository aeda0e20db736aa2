//! `/landing`: accepted work on its way into its branch, what the checks say, and what became of it.

mod lane;
mod recent;
mod verdicts;

use axum::extract::State;
use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::git_name::CommitId;
use baton_engine::landing::views::LandingView;
use baton_engine::settings::Settings;
use maud::{Markup, html};

use crate::http::error::ApiError;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::state::App;

/// Digits of a commit that are shown.
const COMMIT_DIGITS: usize = 12;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let landing = app.workspace.landing.view(&app.workspace.projects).await.map_err(ApiError::from)?;
    let settings = &app.workspace.projects.shown_settings().await;
    let body = html! {
        (heading("Landing", &html! { @if !settings.checks.is_empty() { span.muted { (policy(settings)) } } }))
        div data-landing {
            @if landing.lanes.is_empty() { (nothing_waits(settings)) }
            @for (number, lane) in landing.lanes.iter().enumerate() {
                (lane::render(number, lane, find_run(&landing, lane.run), frame.now))
            }
            (recent::render(&landing.recent, frame.now))
            (verdicts::render(&landing.verdicts, frame.now))
        }
        p.muted { "API: " a href="/api/landing" { "/api/landing" } ", terminal: " code { "baton landing --follow" } }
    };
    Ok(frame.page(Tab::Landing, "Landing", &[], &body))
}

fn find_run(
    landing: &LandingView,
    run: Option<u64>,
) -> Option<&baton_engine::landing::live_runs::CheckRunView> {
    landing.runs.iter().find(|one| Some(one.run) == run)
}

/// Which checks decide, and who accepts.
fn policy(settings: &Settings) -> String {
    let names: Vec<&str> = settings.checks.iter().map(|check| check.name.as_str()).collect();
    let who = match settings.accept_when {
        AcceptPolicy::Person => "you accept the work",
        AcceptPolicy::Green => "work that passes is accepted",
        AcceptPolicy::Reviewed => "work that another agent approves is accepted",
    };
    format!("Checks: {}; {who}", names.join(", "))
}

fn nothing_waits(settings: &Settings) -> Markup {
    let green = (
        "accept_when = \"green\"",
        "in .agent/baton.toml: finished work that passes is accepted without a person",
    );
    if settings.checks.is_empty() {
        let text = "Accepted work is merged at once, because this project has no checks. With checks it waits here: they run \
                    on the branch together with the work, and only what passes is merged. What fails goes back to its agent \
                    with the output.";
        return empty(
            "No checks",
            text,
            &[
                (
                    "checks = [\"test\"]",
                    "in .agent/baton.toml: the user tasks that must pass, or a table of commands",
                ),
                green,
            ],
        );
    }
    let text = "Accepted work waits here until the checks have passed on its branch together with it. What fails goes back to \
                its agent with the output.";
    let mut commands = vec![("baton accept TASK", "accept finished work, and wait until it has landed")];
    if settings.accept_when == AcceptPolicy::Person {
        commands.push(green);
    }
    empty("Nothing waits to land", text, &commands)
}

fn commit(id: &CommitId) -> Markup {
    let text = id.as_str().get(..COMMIT_DIGITS).unwrap_or(id.as_str());
    html! { code title=(id) { (text) } }
}
