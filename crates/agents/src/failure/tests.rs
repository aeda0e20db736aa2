//! Real error messages and their classification.

use super::*;
use FailureKind::{
    Authentication, BrokenSession, ContextOverflow, CrashAtStart, Network, Overload, Quota, RateLimit,
};

/// 2026-11-15T09:30:00Z.
const NOW: Timestamp = Timestamp::from_ms(1_794_735_000_000);

fn of_error(error: &str) -> Option<AgentFailure> {
    AgentFailure::classify(&Symptoms { error, was_prompted: true, ..Symptoms::default() }, NOW)
}

#[test]
fn real_wordings_are_known() {
    for (said, kind) in [
        ("Claude AI usage limit reached|1794740400", RateLimit),
        ("You've hit your limit · resets 3pm (UTC)", RateLimit),
        (
            r#"API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit"}}"#,
            RateLimit,
        ),
        ("stream error: exceeded retry limit, last status: 429 Too Many Requests", RateLimit),
        (
            "You've hit your usage limit. Upgrade to Plus, or try again in 3 days 2 hours 5 minutes.",
            RateLimit,
        ),
        (
            r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"17s"}]}}"#,
            RateLimit,
        ),
        ("You exceeded your current quota. Please retry in 12.3s.", RateLimit),
        ("You exceeded your current quota, please check your plan and billing details.", Quota),
        ("429 insufficient_quota", Quota),
        ("Your credit balance is too low to access the Anthropic API.", Quota),
        ("HTTP 402", Quota),
        ("Invalid API key · Please run /login", Authentication),
        (
            r#"API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            Authentication,
        ),
        ("unexpected status 401 Unauthorized: Missing bearer authentication", Authentication),
        ("Authentication required", Authentication),
        ("OAuth token has expired", Authentication),
        (
            r#"API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Overload,
        ),
        ("API Error: 500 {\"type\":\"error\"}", Overload),
        ("Server error (500 Internal Server Error): scripted", Overload),
        ("unexpected status 503", Overload),
        ("We’re currently experiencing high demand, which may cause temporary errors.", Overload),
        ("Ran into this error: Rate limit exceeded: scripted rate_limit_error.", RateLimit),
        ("prompt is too long: 210000 tokens > 200000 maximum", ContextOverflow),
        ("This model's maximum context length is 128000 tokens.", ContextOverflow),
        ("input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000", ContextOverflow),
        (
            "API Error: 400 messages.4: `tool_use` ids were found without `tool_result` blocks immediately after",
            BrokenSession,
        ),
        ("No tool output found for function call call_abc.", BrokenSession),
        ("error sending request for url (http://127.0.0.1:1/v1/responses)", Network),
        ("connect ECONNREFUSED 127.0.0.1:443", Network),
        ("getaddrinfo ENOTFOUND api.anthropic.com", Network),
        ("TypeError: fetch failed", Network),
    ] {
        assert_eq!(of_error(said).map(|failure| failure.kind), Some(kind), "{said}");
    }
}

#[test]
fn what_is_not_about_the_provider_is_no_such_failure() {
    for said in
        ["thread 'main' panicked at src/main.rs:429:5", "exit 1", "wrote 500 lines", "no such file", ""]
    {
        assert_eq!(of_error(said), None, "{said}");
    }
}

#[test]
fn the_time_it_is_over_is_read_where_it_can_be_meant() {
    let in_ms = |ms| Some(NOW.plus_ms(ms));
    for (said, until) in [
        ("rate limit; try again in 20 seconds", in_ms(20_000)),
        ("rate limit; try again in 1.5s", in_ms(1_500)),
        ("rate limit; try again in 6m0s", in_ms(360_000)),
        ("usage limit: try again in 3 days 2 hours 5 minutes.", in_ms(266_700_000)),
        ("rate limit; retry-after: 30", in_ms(30_000)),
        (r#"resource_exhausted "retryDelay": "17s""#, in_ms(17_000)),
        ("usage limit reached|1794740400", Some(Timestamp::from_ms(1_794_740_400_000))),
        (r#"usage limit {"resets_at":1794740400}"#, Some(Timestamp::from_ms(1_794_740_400_000))),
        ("limit reached, resets at 2026-11-15T12:00:00Z.", Some("2026-11-15T12:00:00Z".parse().unwrap())),
        ("hit your limit, resets 3pm (UTC)", Some("2026-11-15T15:00:00Z".parse().unwrap())),
        ("hit your limit, resets 9:15 UTC", Some("2026-11-16T09:15:00Z".parse().unwrap())),
        ("hit your limit, resets 12am (UTC)", Some("2026-11-16T00:00:00Z".parse().unwrap())),
        // Implausible, or not unambiguous.
        ("rate limit; try again in 900 days", None),
        ("hit your limit, resets 3pm (Europe/Berlin)", None),
        ("rate limit; try again later", None),
        ("usage limit reached|17", None),
    ] {
        assert_eq!(of_error(said).unwrap().until, until, "{said}");
    }
}

#[test]
fn a_limit_of_one_model_is_known_from_one_of_the_account() {
    for (said, is_of_model) in [
        ("You've hit your Opus limit · resets 3pm (UTC)", true),
        ("You've reached your Sonnet weekly limit", true),
        ("Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM)", true),
        ("429 RESOURCE_EXHAUSTED Quota exceeded for metric: requests, limit: 0, model: gemini-2.5-pro", true),
        ("You've hit your limit · resets 3pm (UTC)", false),
        ("You've hit your usage limit. Upgrade to Plus, or switch to gpt-5-mini.", false),
        ("This request would exceed your organization's rate limit of 50 requests per minute", false),
    ] {
        let failure = of_error(said).unwrap();
        assert_eq!((failure.kind, failure.is_of_model), (RateLimit, is_of_model), "{said}");
    }
}

#[test]
fn each_kind_has_its_remedy() {
    let failure = |kind, until| AgentFailure { kind, until, is_of_model: false, message: String::new() };
    let later = NOW.plus_ms(1_000);
    for (failure, remedy) in [
        (failure(RateLimit, Some(later)), Remedy::HoldUntil(later)),
        (failure(RateLimit, None), Remedy::HoldUntil(NOW.plus_ms(300_000))),
        (failure(Overload, None), Remedy::HoldUntil(NOW.plus_ms(60_000))),
        (failure(Network, None), Remedy::HoldUntil(NOW.plus_ms(60_000))),
        (failure(Quota, None), Remedy::HoldForHuman),
        (failure(Authentication, None), Remedy::HoldForHuman),
        (failure(CrashAtStart, None), Remedy::HoldForHuman),
        (failure(ContextOverflow, None), Remedy::NewSession),
        (failure(BrokenSession, None), Remedy::NewSession),
    ] {
        assert_eq!(failure.remedy(NOW), remedy, "{failure:?}");
    }
}

#[test]
fn before_the_prompt_an_end_is_a_crash_at_start_unless_it_says_more() {
    let symptoms = Symptoms { stderr: "Cannot find module 'x'", ..Symptoms::default() };
    let failure = AgentFailure::classify(&symptoms, NOW).unwrap();
    assert_eq!((failure.kind, failure.message.as_str()), (CrashAtStart, "Cannot find module 'x'"));
    let symptoms = Symptoms { stderr: "Please run /login", ..Symptoms::default() };
    assert_eq!(AgentFailure::classify(&symptoms, NOW).unwrap().kind, Authentication);
    let symptoms = Symptoms { stderr: "bye", was_prompted: true, ..Symptoms::default() };
    assert_eq!(AgentFailure::classify(&symptoms, NOW), None);
}
