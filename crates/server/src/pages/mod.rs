//! The pages: HTML for people, made by the same doors as the API. They can be read and answered without scripts; with
//! them they stay current by themselves.

mod answer;
mod assets;
mod board;
mod breakdowns;
mod card;
mod chat;
mod drawing;
mod form;
mod graph;
mod guide;
mod health;
mod help;
mod inbox;
mod key;
mod layers;
mod layout;
mod live;
mod login;
mod markdown;
mod percent;
mod projects;
mod question;
mod recipes;
mod search;
mod task;
mod user_tasks;
mod visit;
mod words;
mod workers;

use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::http::header::ACCEPT;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use baton_engine::Store;

use crate::error::{ApiError, Code};
use crate::state::App;
use answer::PageError;

/// Puts the pages on the router.
pub fn on<S: Store>(router: Router<App<S>>) -> Router<App<S>> {
    router
        .route("/assets/{digest}/{name}", get(assets::serve))
        .route("/badge/{name}", get(assets::badge))
        .route("/live", get(live::stream::<S>))
        .route("/search", get(search::find::<S>))
        .route("/login", get(login::ask::<S>).post(login::enter::<S>))
        .route("/help", get(help::show::<S>))
        .route("/", get(inbox::show::<S>))
        .route("/questions/{id}", get(question::show::<S>))
        .route("/questions/{id}/answer", post(question::answer::<S>))
        .route("/board", get(board::show::<S>))
        .route("/tasks/new", get(task::new::ask::<S>).post(task::new::add::<S>))
        .route("/tasks/{id}", get(task::overview::show::<S>))
        .route("/tasks/{id}/log", get(task::log::show::<S>))
        .route("/tasks/{id}/log.txt", get(task::log::raw::<S>))
        .route("/tasks/{id}/diff", get(task::diff::show::<S>))
        .route("/tasks/{id}/timeline", get(task::timeline::show::<S>))
        .route("/tasks/{id}/evidence", get(task::evidence::show::<S>))
        .route("/tasks/{id}/questions", get(task::questions::show::<S>))
        .route("/tasks/{id}/lineage", get(task::lineage::show::<S>))
        .route("/tasks/{id}/do/{verb}", get(task::verb::ask::<S>).post(task::verb::act::<S>))
        .route("/chat", get(chat::show::<S>))
        .route("/chat/{session}", get(chat::one::<S>).post(chat::post::<S>))
        .route("/chat/{session}/exit", post(recipes::exit::<S>))
        .route("/graph", get(graph::show::<S>))
        .route("/recipes", get(recipes::show::<S>))
        .route("/recipes/{id}/start", post(recipes::start::<S>))
        .route("/breakdowns", get(breakdowns::list::<S>))
        .route("/breakdowns/{id}", get(breakdowns::show::<S>))
        .route("/breakdowns/{id}/edit", post(breakdowns::edit::<S>))
        .route("/breakdowns/{id}/run", post(breakdowns::run::<S>))
        .route("/breakdowns/{id}/approve", post(breakdowns::approve::<S>))
        .route("/breakdowns/{id}/reject", post(breakdowns::reject::<S>))
        .route("/user-tasks", get(user_tasks::list::<S>))
        .route("/user-tasks/trust", post(user_tasks::trust::<S>))
        .route("/user-tasks/{name}/run", post(user_tasks::run::<S>))
        .route("/health", get(health::show::<S>))
        .route("/health/holds/{agent}/release", post(health::release::<S>))
        .route("/workers", get(workers::show::<S>))
}

/// What a stranger may see: the page where the token is shown, and what it is made of.
pub fn is_open(path: &str) -> bool {
    path == "/login" || path.starts_with("/assets/") || path.starts_with("/badge/")
}

/// A refusal in the form whoever asked can read: a person is sent to the login, or gets a page; a program JSON.
pub fn refused(request: &Request, refusal: ApiError) -> Response {
    let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !accepts.contains("text/html") {
        return refusal.into_response();
    }
    match refusal.error {
        Code::Unauthorized if request.method() == Method::GET => answer::go("/login"),
        _ => PageError(refusal).into_response(),
    }
}
