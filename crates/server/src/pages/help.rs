//! `/help`: the keyboard shortcuts as a page.

use axum::extract::State;
use maud::html;

use crate::pages::frame::keys;
use crate::pages::frame::layout::{Frame, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::response::PageAnswer;
use crate::pages::frame::visit::Visit;
use crate::state::App;

pub async fn show(State(app): State<App>, visit: Visit) -> PageAnswer {
    let frame = Frame::load(&app, visit).await?;
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
