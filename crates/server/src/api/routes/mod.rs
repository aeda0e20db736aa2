//! The calls of the API, one file for each noun.

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

/// Every call there is. The router and the document are made of this list.
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
