//! Sends a notice as one POST to an http or https URL. A 2xx status means it was delivered.

use std::fmt;
use std::time::Duration;

use baton_core::base::id::EffectId;
use reqwest::Client;
use reqwest::header::CONTENT_TYPE;

use crate::base::http_client::describe;
use crate::settings::webhook::Webhook;

/// From connecting to the response.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn post(
    webhook: &Webhook,
    client: &Client,
    id: EffectId,
    body: String,
) -> Result<(), String> {
    let failed = |why: &dyn fmt::Display| format!("webhook {webhook}: {why}");
    let request = client
        .post(webhook.url().clone())
        .header(CONTENT_TYPE, "application/json")
        .header("Idempotency-Key", id.to_string())
        .body(body);
    match request.send().await {
        Ok(response) if response.status().is_success() => Ok(()),
        Ok(response) => Err(failed(&format_args!("the response was {}", response.status()))),
        Err(error) if error.is_timeout() => {
            Err(failed(&format_args!("no response within {} s", TIMEOUT.as_secs())))
        }
        Err(error) => Err(failed(&describe(&error.without_url()))),
    }
}
