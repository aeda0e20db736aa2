//! The header `Idempotency-Key`, and `idempotency_key` of the WebSocket.

use axum::http::HeaderMap;
use baton_core::records::receipt::ReceiptKey;

use crate::http::error::{ApiError, Result};

pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

const HINT: &str = "send one key of your choice, such as a UUID";

/// The key of a request, if it has one.
pub(crate) fn read_key(headers: &HeaderMap) -> Result<Option<String>> {
    let mut sent = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = sent.next() else { return Ok(None) };
    if sent.next().is_some() {
        return Err(ApiError::invalid("more than one Idempotency-Key header", HINT));
    }
    check_key(key.to_str().unwrap_or_default(), "Idempotency-Key").map(Some)
}

/// A key that came as `name`.
pub(crate) fn check_key(text: &str, name: &str) -> Result<String> {
    let is_key = !text.is_empty()
        && text.len() <= ReceiptKey::LEN_MAX
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_key {
        Ok(text.to_owned())
    } else {
        let message = format!("invalid {name}: a key has 1 to 255 visible ASCII characters");
        Err(ApiError::invalid(message, HINT))
    }
}
