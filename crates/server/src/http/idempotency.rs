//! The header `Idempotency-Key`.

use axum::http::HeaderMap;
use baton_core::records::receipt::ReceiptKey;

use crate::http::error::{ApiError, Result};

pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The key of a request, if it has one.
pub(crate) fn read_key(headers: &HeaderMap) -> Result<Option<String>> {
    let hint = "send one key of your choice, such as a UUID";
    let mut sent = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = sent.next() else { return Ok(None) };
    if sent.next().is_some() {
        return Err(ApiError::invalid("more than one Idempotency-Key header", hint));
    }
    let text = key.to_str().unwrap_or_default();
    let is_key = !text.is_empty()
        && text.len() <= ReceiptKey::LEN_MAX
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_key {
        Ok(Some(text.to_owned()))
    } else {
        Err(ApiError::invalid("invalid Idempotency-Key: a key has 1 to 255 visible ASCII characters", hint))
    }
}
