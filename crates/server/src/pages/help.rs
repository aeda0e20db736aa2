//! `/help`: all pages, and the keyboard shortcuts.

use axum::extract::State;
use maud::html;

use crate::pages::frame::keys;
use crate::pages::frame::layout::{Frame, heading};
use crate::pages::frame::navigation::{PLACES, Tab};
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::state::App;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    Ok(frame.page(
        Tab::Elsewhere,
        "More",
        &["none".to_owned()],
        &html! {
            (heading("More", &html! {}))
            section {
                h2 { "Pages" }
                ul.plain.more { @for (_, word, badge, address, _) in PLACES { li { a href=(address) { (badge) " " (word) } } } }
            }
            section { h2 { "Keys" } (keys::table()) }
        },
    ))
}
