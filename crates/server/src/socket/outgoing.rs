//! Messages to one client that are not durable. Durable ones are in [`crate::live::wire`].

use baton_engine::settings::recipes::RecipeLibrary;
use serde_json::{Value, json};

use crate::api::views::recipe::RecipeView;
use crate::http::error::ApiError;
use crate::socket::incoming::RequestId;

pub(super) fn hello(namespace: &str, needs_token: bool) -> Value {
    json!({
        "type": "hello",
        "namespace": namespace,
        "version": env!("CARGO_PKG_VERSION"),
        "needs_token": needs_token,
    })
}

pub(super) fn connected(id: &RequestId, last_seq: u64) -> Value {
    with_id(json!({ "type": "connected", "last_seq": last_seq }), id)
}

pub(super) fn ack(request: &str) -> Value {
    json!({ "type": "ack", "request": request })
}

pub(super) fn available_recipes(library: &RecipeLibrary) -> Value {
    let recipes: Vec<RecipeView> = library.list().iter().map(RecipeView::from).collect();
    let faults: Vec<String> = library.errors().iter().map(ToString::to_string).collect();
    json!({ "type": "available_recipes", "recipes": recipes, "faults": faults })
}

pub(super) fn error(id: &RequestId, error: &ApiError) -> Value {
    let mut message = json!(error);
    message["type"] = json!("error");
    with_id(message, id)
}

pub(super) fn with_id(mut message: Value, id: &RequestId) -> Value {
    if let RequestId(Some(id)) = id {
        message["request_id"] = json!(id);
    }
    message
}
