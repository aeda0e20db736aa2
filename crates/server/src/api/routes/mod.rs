//! The handlers of the API, one file per resource.

pub mod attempts;
pub mod breakdowns;
pub mod chat;
pub mod events;
pub mod groups;
pub mod health;
pub mod holds;
pub mod login;
pub mod projects;
pub mod questions;
pub mod recipes;
pub mod sessions;
pub mod tasks;
pub mod tokens;
pub mod tools;
pub mod user_tasks;
pub mod workers;

use crate::api::route::Route;

/// All routes. The router and the `OpenAPI` document are built from this list.
pub fn all() -> Vec<Route> {
    [
        projects::routes(),
        chat::routes(),
        groups::routes(),
        tasks::routes(),
        questions::routes(),
        breakdowns::routes(),
        recipes::routes(),
        sessions::routes(),
        user_tasks::routes(),
        tools::routes(),
        attempts::routes(),
        events::routes(),
        holds::routes(),
        workers::routes(),
        tokens::routes(),
        health::routes(),
        login::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
