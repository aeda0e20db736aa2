//! The web pages. They read through the same engine calls as the API, work without scripts, and update live with them.

mod board;
mod breakdowns;
mod chat;
mod costs;
pub(crate) mod for_you;
pub mod frame;
mod graph;
mod health;
mod help;
mod landing;
mod live;
mod login;
mod parts;
mod projects;
mod question;
mod recipes;
pub mod report;
mod routines;
mod running;
mod search;
mod task;
mod tasks_by_id;
mod user_tasks;
pub mod widgets;
mod workers;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::Method;
use axum::http::header::ACCEPT;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::http::error::{ApiError, Code};
use crate::http::limits::MESSAGE_BYTES_MAX;
use crate::pages::frame::{assets, response};
use crate::state::App;

/// A form writes some characters of Base64 as three.
const FORM_BYTES_MAX: usize = MESSAGE_BYTES_MAX + MESSAGE_BYTES_MAX / 4;

/// Adds the pages to the router.
pub fn add_routes(router: Router<App>) -> Router<App> {
    let files = DefaultBodyLimit::max(FORM_BYTES_MAX);
    router
        .route("/assets/{digest}/{name}", get(assets::serve))
        .route("/badge/{name}", get(assets::badge))
        .route("/live", get(live::stream))
        .route("/search", get(search::find))
        .route("/login", get(login::ask).post(login::enter))
        .route("/help", get(help::show))
        .route("/", get(for_you::show))
        .route("/next", get(for_you::next))
        .route("/questions/{id}", get(question::show))
        .route("/questions/{id}/answer", post(question::answer))
        .route("/board", get(board::show))
        .route("/running", get(running::show))
        .route("/costs", get(costs::show))
        .route("/landing", get(landing::show))
        .route("/tasks/new", get(task::new::ask).post(task::new::add))
        .route("/tasks/retry", post(task::verb::retry_many))
        .route("/tasks/bulk", post(board::bulk::act))
        .route("/tasks/{id}", get(task::activity::show))
        .route("/tasks/{id}/details", get(task::details::show))
        .route("/tasks/{id}/log", get(task::log::show))
        .route("/tasks/{id}/log.txt", get(task::log::raw))
        .route("/tasks/{id}/diff", get(task::changes::show))
        .route("/tasks/{id}/activity", get(task::moved::to_activity))
        .route("/tasks/{id}/questions", get(task::moved::to_questions))
        .route("/tasks/{id}/timeline", get(async |id| task::moved::to_details(id, "timeline")))
        .route("/tasks/{id}/evidence", get(async |id| task::moved::to_details(id, "evidence")))
        .route("/tasks/{id}/lineage", get(async |id| task::moved::to_details(id, "lineage")))
        .route("/tasks/{id}/do/{verb}", get(task::verb::ask).post(task::verb::act))
        .route("/tasks/{id}/say", post(task::messages::say))
        .route("/tasks/{id}/not-after", post(task::verb::remove_dependency))
        .route("/chat", get(chat::show))
        .route("/chat/{session}", get(chat::one).post(chat::post).layer(files))
        .route("/chat/{session}/exit", post(recipes::exit))
        .route("/graph", get(graph::show))
        .route("/recipes", get(recipes::show))
        .route("/recipes/{id}/start", post(recipes::start))
        .route("/routines", get(routines::show).post(routines::add))
        .route("/routines/{id}/do/{verb}", post(routines::act))
        .route("/breakdowns", get(breakdowns::list))
        .route("/breakdowns/{id}", get(breakdowns::show))
        .route("/breakdowns/{id}/edit", post(breakdowns::editor::edit))
        .route("/breakdowns/{id}/run", post(breakdowns::run))
        .route("/breakdowns/{id}/approve", post(breakdowns::approve))
        .route("/breakdowns/{id}/reject", post(breakdowns::reject))
        .route("/user-tasks", get(user_tasks::list))
        .route("/user-tasks/trust", post(user_tasks::trust))
        .route("/user-tasks/{name}/run", post(user_tasks::run))
        .route("/health", get(health::show))
        .route("/health/holds/{agent}/release", post(health::release))
        .route("/workers", get(workers::show))
}

/// Paths that need no login: the login page and its assets.
pub fn is_public(path: &str) -> bool {
    path == "/login" || path.starts_with("/assets/") || path.starts_with("/badge/")
}

/// An error as HTML for browsers, which are redirected to the login if needed, and as JSON for other clients.
pub fn render_error(request: &Request, refusal: ApiError) -> Response {
    let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !accepts.contains("text/html") {
        return refusal.into_response();
    }
    match refusal.error {
        Code::Unauthorized if request.method() == Method::GET => {
            crate::pages::frame::response::redirect("/login")
        }
        // A list of calls does not help a person who looks for a page.
        Code::NotFound => {
            let hint = "Choose a page below.".to_owned();
            response::PageError(ApiError { hint, ..refusal }).into_response()
        }
        _ => response::PageError(refusal).into_response(),
    }
}
