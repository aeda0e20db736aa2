use baton_core::base::text::OutcomeName;
use baton_core::recipe::outcome::OutcomeMistake;
use baton_core::recipe::outcome::{DESCRIPTION_BYTES_MAX, Outcome, closing_block};
use baton_core::recipe::outcome_parser::{MESSAGE_TAIL_BYTES_MAX, parse};
use proptest::prelude::*;

use crate::recipes::fixture::names;

fn allowed() -> Vec<OutcomeName> {
    names(&["complete", "no-tasks", "blocked", "other"])
}

fn found(message: &str) -> Result<(String, Option<String>), OutcomeMistake> {
    parse(message, &allowed())
        .map(|outcome| (outcome.name.to_string(), outcome.description.map(|words| words.to_string())))
}

fn named(name: &str) -> (String, Option<String>) {
    (name.to_owned(), None)
}

#[test]
fn the_closing_block_shows_every_allowed_line() {
    insta::assert_snapshot!(closing_block(&allowed()), @r#"
    ## How to end this step
    Call the tool `report_outcome` if you have it. Otherwise end your last message with exactly one of these JSON lines, and write nothing after it:

    {"outcome": "complete"}
    {"outcome": "no-tasks"}
    {"outcome": "blocked"}
    {"outcome": "other", "otherDescription": "<one sentence: what happened>"}
    "#);
}

#[test]
fn an_outcome_is_found_however_it_is_wrapped() {
    for message in [
        r#"{"outcome": "complete"}"#,
        "Done.\n\n```json\n{\"outcome\": \"complete\"}\n```\n",
        "Done. {\n  \"outcome\":\n    \"complete\"\n}\nBye.",
        r#"{"outcome": "blocked"} no, wait: {"outcome":"complete"}"#,
        r#"{"outcome": "complete", "detail": {"outcome": "blocked"}}"#,
        r#"[{"outcome": "complete"}]"#,
        r#"set {x} and { "y": then {"outcome":" complete "} }"#,
        "{\"outcome\": \"blo\n\nLet me say it again:\n{\"outcome\": \"complete\"}",
    ] {
        assert_eq!(found(message), Ok(named("complete")), "{message}");
    }
}

#[test]
fn the_description_has_three_spellings() {
    for key in ["otherDescription", "other_description", "description"] {
        let message = format!("{{\"outcome\": \"other\", \"{key}\": \" it rained \"}}");
        assert_eq!(found(&message), Ok(("other".to_owned(), Some("it rained".to_owned()))));
    }
    let both = r#"{"outcome": "blocked", "otherDescription": "", "description": "Which port?"}"#;
    assert_eq!(found(both), Ok(("blocked".to_owned(), Some("Which port?".to_owned()))));
}

#[test]
fn each_of_the_five_mistakes_has_its_own_reminder() {
    let cases = [
        ("I am done.", "none_found", "no JSON object with an \"outcome\" key"),
        ("{\"outcome\": \"complete\",}", "malformed_json", "not valid JSON: {\"outcome\": \"complete\",}"),
        ("{\"outcome\": 5}", "not_a_string", "must be a string, and you sent a number"),
        ("{\"outcome\": \"Completed\"}", "not_allowed", "did you mean \"complete\"?"),
        ("{\"outcome\": \"other\"}", "other_without_description", "needs a description"),
    ];
    for (message, kind, words) in cases {
        let mistake = found(message).unwrap_err();
        assert_eq!(serde_json::to_value(&mistake).unwrap()["mistake"], kind);
        let reminder = mistake.reminder(&allowed());
        assert!(reminder.contains(words), "{reminder}");
        for line in closing_block(&allowed()).lines().filter(|line| line.starts_with('{')) {
            assert!(reminder.contains(line), "{reminder}");
        }
    }
    insta::assert_snapshot!(found("{\"outcome\": \"complet\"}").unwrap_err().reminder(&names(&["complete"])), @r#"
    Your outcome was not accepted: "complet" is not an outcome of this step (did you mean "complete"?).
    Choose one of the names below, spelled exactly as shown. Do not repeat the work. Answer with exactly one of these JSON lines, or call `report_outcome`:

    {"outcome": "complete"}
    "#);
}

#[test]
fn a_broken_outcome_object_is_malformed() {
    for message in [
        "{outcome: complete}",
        "{'outcome': 'complete'}",
        "{\"outcome\": \"complete\"",
        "{\"outcome\": complete}",
        "{\"description\": \"x\" \"outcome\": \"other\"}",
        "{“outcome”: “complete”}",
        // The inner one is part of a sentence, not a report.
        r#"{"outcome": "other", "otherDescription": "the log has {"outcome": "complete"} in it"}"#,
        "{\"a\": {\"outcome\": \"complete\"},\n \"outcome\": \"blocked\",}",
    ] {
        let mistake = found(message).unwrap_err();
        assert!(matches!(mistake, OutcomeMistake::MalformedJson { .. }), "{message}: {mistake}");
    }
}

#[test]
fn prose_about_outcomes_is_not_an_outcome() {
    for message in [
        "",
        "The outcome: complete.",
        "I opened { and the outcome: fine",
        "{\"result\": {\"outcome\": \"complete\"}}",
        "\"outcome\": \"complete\"",
        "{\"Outcome\": \"complete\"}",
    ] {
        assert_eq!(found(message), Err(OutcomeMistake::NoneFound), "{message}");
    }
}

#[test]
fn the_last_object_decides_even_when_it_is_wrong() {
    let earlier = "{\"outcome\": \"complete\"}\n";
    for (later, kind) in [
        ("{\"outcome\": \"done\"}", "not_allowed"),
        ("{\"outcome\": null}", "not_a_string"),
        ("{\"outcome\": \"other\"}", "other_without_description"),
        ("{\"outcome\": \"blocked}", "malformed_json"),
    ] {
        let mistake = found(&format!("{earlier}{later}")).unwrap_err();
        assert_eq!(serde_json::to_value(&mistake).unwrap()["mistake"], kind);
    }
}

#[test]
fn an_echoed_closing_block_reports_nothing() {
    assert_eq!(found(&closing_block(&allowed())), Err(OutcomeMistake::OtherWithoutDescription));
}

#[test]
fn the_tool_uses_the_same_entry_point() {
    let report = |name, description| Outcome::report(name, description, &allowed());
    assert_eq!(report("complete", None).unwrap().name.as_str(), "complete");
    assert_eq!(report("other", Some(" \u{200b}")), Err(OutcomeMistake::OtherWithoutDescription));
    assert!(matches!(report("", None), Err(OutcomeMistake::NotAllowed { nearest: None, .. })));
    let long = "ä".repeat(DESCRIPTION_BYTES_MAX);
    let kept = report("other", Some(&long)).unwrap().description.unwrap();
    assert_eq!(kept.as_str().len(), DESCRIPTION_BYTES_MAX);
}

#[test]
fn only_the_end_of_a_message_is_read() {
    let outcome = "{\"outcome\": \"complete\"}";
    let filler = "ä ".repeat(MESSAGE_TAIL_BYTES_MAX / 2);
    assert_eq!(found(&format!("{outcome}{filler}")), Err(OutcomeMistake::NoneFound));
    assert_eq!(found(&format!("{filler}{outcome}")), Ok(named("complete")));
}

#[test]
fn hostile_messages_are_read_in_reasonable_time() {
    let nested = "{\"a\":".repeat(120) + "[" + &"1,".repeat(40_000);
    for message in [
        "{".repeat(300_000),
        "{\"a\":".repeat(10_000),
        "{\"outcome\":".repeat(10_000),
        "{\"".repeat(150_000),
        "outcome ".repeat(40_000),
        "{}".repeat(150_000),
        nested,
    ] {
        assert!(found(&message).is_err());
    }
}

/// Pieces that come near to JSON without closing around what follows them.
fn prose() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[ -~\n]{0,40}",
        proptest::sample::select(vec![
            "{",
            "}",
            "{\"",
            "\"",
            "```json\n",
            "\n",
            "{\"a\": 1}",
            "{}",
            "[",
            "\\",
            "the outcome ",
            "{ x }",
            "💥",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// The same, with broken outcome objects.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prose(),
        proptest::sample::select(vec![
            "{\"outcome\"",
            ": \"complete\"",
            "}",
            "{outcome:",
            "{\"outcome\": {\"outcome\": 1}}",
            "'outcome'=",
            ",",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn no_message_panics_the_parser(text in noise()) {
        if let Ok(outcome) = parse(&text, &allowed()) {
            prop_assert!(allowed().contains(&outcome.name));
        }
    }

    #[test]
    fn a_valid_object_is_found_whatever_prose_surrounds_it(before in prose(), after in prose(), which in 0..3usize) {
        prop_assume!(!before.contains("outcome\"") && !after.contains("outcome\""));
        let name = allowed()[which].to_string();
        let message = format!("{before}{{\"outcome\": \"{name}\"}}{after}");
        prop_assert_eq!(found(&message), Ok(named(&name)));
    }

    #[test]
    fn an_object_on_its_own_line_beats_whatever_came_before(before in noise(), which in 0..3usize) {
        let name = allowed()[which].to_string();
        let message = format!("{before}\n{{\"outcome\": \"{name}\"}}");
        prop_assert_eq!(found(&message), Ok(named(&name)));
    }

    #[test]
    fn a_later_object_beats_the_echoed_list(before in prose(), between in prose(), which in 0..3usize) {
        prop_assume!(!before.contains("outcome\"") && !between.contains("outcome\""));
        let name = allowed()[which].to_string();
        let message = format!("{before}\n{}\n{between}\n{{\"outcome\": \"{name}\"}}\n", closing_block(&allowed()));
        prop_assert_eq!(found(&message), Ok(named(&name)));
    }
}
