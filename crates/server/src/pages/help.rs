//! `/help`: the keyboard shortcuts as a page.

use axum::extract::State;
use maud::html;

use crate::pages::frame::keys;
use crate::pages::frame::layout::{Frame, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::state::App;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    Ok(frame.page(
        Tab::Elsewhere,
        "Keys",
        &["none".to_owned()],
        &html! {
            (heading("Keys", &html! {}))
            (keys::table())
        },
    ))
}
