//! The handlers of the API, one file per resource.

pub(crate) mod accounts;
pub(crate) mod attempts;
pub(crate) mod breakdowns;
pub(crate) mod chat;
pub(crate) mod costs;
pub(crate) mod events;
pub(crate) mod groups;
pub(crate) mod health;
pub(crate) mod holds;
pub(crate) mod landing;
pub(crate) mod login;
pub(crate) mod projects;
pub(crate) mod questions;
pub(crate) mod recipes;
pub(crate) mod routines;
pub(crate) mod sessions;
pub(crate) mod standstills;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod tools;
pub(crate) mod user_tasks;
pub(crate) mod workers;

use crate::api::route::Route;

/// All routes. The router and the `OpenAPI` document are built from this list.
pub(crate) fn all() -> Vec<Route> {
    [
        projects::routes(),
        chat::routes(),
        groups::routes(),
        tasks::routes(),
        questions::routes(),
        standstills::routes(),
        breakdowns::routes(),
        recipes::routes(),
        sessions::routes(),
        routines::routes(),
        user_tasks::routes(),
        tools::routes(),
        attempts::routes(),
        events::routes(),
        accounts::routes(),
        costs::routes(),
        holds::routes(),
        landing::routes(),
        workers::routes(),
        tokens::routes(),
        health::routes(),
        login::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
