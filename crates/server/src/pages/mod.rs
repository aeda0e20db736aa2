//! The pages: HTML for people, made by the same doors as the API. They can be read and answered without scripts; with
//! them they stay current by themselves.

mod answer;
mod assets;
mod board;
mod card;
mod form;
mod help;
mod inbox;
mod layout;
mod live;
mod markdown;
mod question;
mod task;
mod visit;
mod words;

use axum::Router;
use axum::routing::{get, post};
use baton_engine::Store;

use crate::state::App;

/// Puts the pages on the router.
pub fn on<S: Store>(router: Router<App<S>>) -> Router<App<S>> {
    router
        .route("/assets/{digest}/{name}", get(assets::serve))
        .route("/badge/{name}", get(assets::badge))
        .route("/live", get(live::stream::<S>))
        .route("/help", get(help::show::<S>))
        .route("/", get(inbox::show::<S>))
        .route("/questions/{id}", get(question::show::<S>))
        .route("/questions/{id}/answer", post(question::answer::<S>))
        .route("/board", get(board::show::<S>))
        .route("/tasks/{id}", get(task::overview::show::<S>))
        .route("/tasks/{id}/log", get(task::log::show::<S>))
        .route("/tasks/{id}/log.txt", get(task::log::raw::<S>))
        .route("/tasks/{id}/diff", get(task::diff::show::<S>))
        .route("/tasks/{id}/timeline", get(task::timeline::show::<S>))
        .route("/tasks/{id}/do/{verb}", get(task::verb::ask::<S>).post(task::verb::act::<S>))
}
