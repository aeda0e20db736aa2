//! The wording of failures, as observed from providers and agents.

use crate::failure::FailureKind;

/// The first match decides. Causes come before symptoms: a used-up quota, for example, also has a rate limit's status.
const WORDS: [(FailureKind, &[&str]); 7] = [
    (
        FailureKind::ContextOverflow,
        &[
            "context_length_exceeded",
            "context length exceeded",
            "maximum context length",
            "prompt is too long",
            "input is too long",
            "context window exceeds",
            "exceeds the context window",
            "exceed context limit",
            "ran out of room in the model's context window",
            "exceeds the maximum number of tokens",
        ],
    ),
    (
        FailureKind::BrokenSession,
        &[
            "ids were found without `tool_result`",
            "unexpected `tool_use_id` found in `tool_result`",
            "each `tool_use` block must have a corresponding `tool_result`",
            "no tool output found for function call",
            "no tool call found for function call output",
            "must be followed by tool messages",
            "did not have response messages",
            "text content blocks must be non-empty",
            "messages: at least one message is required",
            "invalid `signature` in `thinking` block",
            "`thinking` or `redacted_thinking` blocks",
            "provided without its required 'reasoning' item",
            "could not process image",
            "function call turn comes immediately after",
            "invalid_encrypted_content",
        ],
    ),
    (
        FailureKind::Quota,
        &[
            "insufficient_quota",
            "insufficient quota",
            "exceeded your current quota",
            "check your plan and billing",
            "credit balance is too low",
            "credits exhausted",
            "out of credits",
            "insufficient credits",
            "payment required",
            "billing_hard_limit",
            "billing hard limit",
            "spending limit",
        ],
    ),
    (
        FailureKind::Authentication,
        &[
            "invalid api key",
            "invalid x-api-key",
            "incorrect api key",
            "invalid_api_key",
            "api key not valid",
            "api key not found",
            "no api key",
            "missing api key",
            "api key is missing",
            "authentication_error",
            "authentication required",
            "authentication failed",
            "auth required",
            "auth_required",
            "unauthorized",
            "not logged in",
            "please run /login",
            "please log in",
            "please login",
            "login required",
            "token has expired",
            "token expired",
            "oauth token revoked",
            "permission_error",
            "please set an auth method",
        ],
    ),
    (
        FailureKind::RateLimit,
        &[
            "rate limit",
            "rate_limit",
            "ratelimit",
            "too many requests",
            "resource_exhausted",
            "resource exhausted",
            "usage limit",
            "limit reached",
            "hit your limit",
            "hit your usage limit",
            "quota exceeded",
            "exceeded your quota",
            "throttl",
        ],
    ),
    (
        FailureKind::Network,
        &[
            "econnrefused",
            "econnreset",
            "enotfound",
            "etimedout",
            "eai_again",
            "getaddrinfo",
            "connection refused",
            "connection reset",
            "connection error",
            "connection closed before",
            "could not resolve host",
            "failed to lookup address",
            "name or service not known",
            "network error",
            "network is unreachable",
            "fetch failed",
            "socket hang up",
            "error sending request",
            "unable to connect",
            "certificate",
        ],
    ),
    (
        FailureKind::Overload,
        &[
            "overloaded",
            "api_error",
            "internal server error",
            "internal_server_error",
            "server_error",
            "server error",
            "service unavailable",
            "bad gateway",
            "gateway timeout",
            "model is currently unavailable",
            "at capacity",
            "temporarily unavailable",
            "experiencing high demand",
        ],
    ),
];

/// HTTP statuses, for messages without such words.
const STATUSES: [(&str, FailureKind); 10] = [
    ("402", FailureKind::Quota),
    ("401", FailureKind::Authentication),
    ("403", FailureKind::Authentication),
    ("429", FailureKind::RateLimit),
    ("413", FailureKind::ContextOverflow),
    ("500", FailureKind::Overload),
    ("502", FailureKind::Overload),
    ("503", FailureKind::Overload),
    ("504", FailureKind::Overload),
    ("529", FailureKind::Overload),
];

/// A number is a status only shortly after one of these words.
const BEFORE_STATUS: [&str; 5] = ["status", "error", "http", "code", "response"];
/// How close, in bytes.
const NEAR: usize = 24;

pub(super) fn kind(text: &str) -> Option<FailureKind> {
    let text = text.to_lowercase();
    let by_words = WORDS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word)));
    let by_model = || (text.contains("hit your") || text.contains("reached your")) && is_of_model(&text);
    by_words
        .map(|(kind, _)| *kind)
        .or_else(|| by_status(&text))
        .or_else(|| by_model().then_some(FailureKind::RateLimit))
}

fn by_status(text: &str) -> Option<FailureKind> {
    STATUSES.iter().find(|(number, _)| has_status(text, number)).map(|(_, kind)| *kind)
}

fn has_status(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        let before = &text[..at];
        let after = &text[at + number.len()..];
        let near = &before[before.floor_char_boundary(before.len().saturating_sub(NEAR))..];
        !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
            && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
            && BEFORE_STATUS.iter().any(|word| near.contains(word))
    })
}

/// Names of models that have limits of their own beside their account's, as providers write them.
const MODELS: [&str; 8] = ["opus", "sonnet", "haiku", "fable", "gpt-", "gemini-", "glm-", "qwen"];
/// Shortly before or after a model's name, these make it the limit's.
const BEFORE_MODEL: [&str; 4] = ["your ", "for ", "model: ", "model "];

/// Whether a limit is one model's: "You've hit your Opus limit", "Rate limit reached for gpt-5 in organization …".
pub(super) fn is_of_model(text: &str) -> bool {
    let text = text.to_lowercase();
    MODELS.iter().any(|model| {
        text.match_indices(model).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + model.len()..]);
            let after = &after[..after.floor_char_boundary(NEAR)];
            let is_named =
                BEFORE_MODEL.iter().any(|word| before.trim_end_matches(['"', '`', '\'']).ends_with(word));
            is_named && (after.contains("limit") || before.contains("limit") || before.contains("quota"))
        })
    })
}
