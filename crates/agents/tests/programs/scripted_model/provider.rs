//! What providers answer when something is wrong, in their own words.

use serde_json::{Value, json};

use crate::dialect::ModelApi;
use crate::script::ProviderFailure;

/// Status and body; none where the connection just ends.
pub(crate) fn failure(api: ModelApi, failure: ProviderFailure) -> Option<(u16, Value)> {
    match api {
        ModelApi::Messages => anthropic(failure),
        ModelApi::Responses | ModelApi::Chat => openai(failure),
        ModelApi::Gemini => google(failure),
    }
}

fn anthropic(failure: ProviderFailure) -> Option<(u16, Value)> {
    let (status, kind, message) = match failure {
        ProviderFailure::Login => (
            401,
            "authentication_error",
            "OAuth token has expired. Please obtain a new token or refresh your existing token.",
        ),
        ProviderFailure::Quota => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        ProviderFailure::Limit => (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 50 requests per minute. Please try again in 40 seconds.",
        ),
        ProviderFailure::Overload => (529, "overloaded_error", "Overloaded"),
        ProviderFailure::Context => {
            (400, "invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum")
        }
        ProviderFailure::Network => return None,
    };
    Some((
        status,
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011CS"}),
    ))
}

fn openai(failure: ProviderFailure) -> Option<(u16, Value)> {
    let (status, kind, code, message) = match failure {
        ProviderFailure::Login => (
            401,
            "invalid_request_error",
            "invalid_api_key",
            "Incorrect API key provided: none. You can find your API key at https://platform.openai.com/account/api-keys.",
        ),
        ProviderFailure::Quota => (
            429,
            "insufficient_quota",
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
        ),
        ProviderFailure::Limit => (
            429,
            "tokens",
            "rate_limit_exceeded",
            "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 40s.",
        ),
        ProviderFailure::Overload => (
            503,
            "server_error",
            "server_error",
            "The server is currently overloaded with other requests. Sorry about that! You can retry your request.",
        ),
        ProviderFailure::Context => (
            400,
            "invalid_request_error",
            "context_length_exceeded",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. Please reduce the length of the messages.",
        ),
        ProviderFailure::Network => return None,
    };
    Some((status, json!({"error": {"message": message, "type": kind, "param": null, "code": code}})))
}

fn google(failure: ProviderFailure) -> Option<(u16, Value)> {
    let (status, word, message) = match failure {
        ProviderFailure::Login => {
            (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
        }
        ProviderFailure::Quota => (
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        ProviderFailure::Limit => (
            429,
            "RESOURCE_EXHAUSTED",
            "Quota exceeded for quota metric 'Generate Content API requests per minute'. Please retry in 40s.",
        ),
        ProviderFailure::Overload => (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        ProviderFailure::Context => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        ProviderFailure::Network => return None,
    };
    Some((status, json!({"error": {"code": status, "message": message, "status": word}})))
}
