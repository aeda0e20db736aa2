//! Every kind of report line, and every mistake in one.

use baton_agents::report::{AgentReport, OutcomeReport, ParsedLine, ResultReport, Usage, read};
use baton_core::base::text::NonBlank;
use baton_core::task::attempt::{AttemptResult, BlockReason, ErrorCause};
use proptest::prelude::*;

fn report(line: &str) -> AgentReport {
    match read(line) {
        ParsedLine::Report(report) => report,
        other => panic!("{line}: {other:?}"),
    }
}

fn result(line: &str) -> AttemptResult {
    match report(line) {
        AgentReport::Result(report) => report.result,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_turn() {
    assert_eq!(report(r#"{"baton":"turn"}"#), AgentReport::Turn);
    assert_eq!(report(r#"  { "n": 3, "baton" : "turn" }  "#), AgentReport::Turn);
}

#[test]
fn usage_is_exact_to_the_millionth_of_a_dollar() {
    let line = r#"{"baton":"usage","input_tokens":1200,"output_tokens":34,"cost_usd":0.012345}"#;
    let usage = Usage { input_tokens: 1200, output_tokens: 34, cost_micro_usd: 12_345 };
    assert_eq!(report(line), AgentReport::Usage(usage));
    let tokens_alone = Usage { output_tokens: 5, ..Usage::default() };
    assert_eq!(
        report(r#"{"baton":"usage","output_tokens":5,"cost_usd":null}"#),
        AgentReport::Usage(tokens_alone)
    );
}

#[test]
fn a_question_with_and_without_options() {
    let AgentReport::Ask(draft) = report(r#"{"baton":"ask","question":" Which? ","options":["A"," ","B"]}"#)
    else {
        panic!("not a question");
    };
    assert_eq!(draft.text.as_str(), "Which?");
    assert_eq!(draft.options.iter().map(NonBlank::as_str).collect::<Vec<_>>(), ["A", "B"]);
    assert!(
        matches!(report(r#"{"baton":"ask","question":"Which?"}"#), AgentReport::Ask(draft) if draft.options.is_empty())
    );
}

#[test]
fn every_status_of_a_result() {
    assert_eq!(result(r#"{"baton":"result","status":"COMPLETE"}"#), AttemptResult::Complete);
    assert_eq!(result(r#"{"baton":"result","status":"INCOMPLETE"}"#), AttemptResult::Incomplete);
    assert_eq!(result(r#"{"baton":"result","status":"NO_EVIDENCE"}"#), AttemptResult::NoEvidence);
    let own = AttemptResult::Error { cause: ErrorCause::Own, message: "it broke".to_owned() };
    assert_eq!(result(r#"{"baton":"result","status":"ERROR","reason":"it broke"}"#), own);
    assert_eq!(result(r#"{"baton":"result","status":"ERROR","output":"it broke"}"#), own);
    let systemic = AttemptResult::Error { cause: ErrorCause::Systemic, message: "RATE_LIMIT".to_owned() };
    assert_eq!(result(r#"{"baton":"result","status":"ERROR","reason":"RATE_LIMIT"}"#), systemic);
}

#[test]
fn every_reason_to_be_blocked() {
    for (reason, expected) in [
        (r#""TIMEOUT""#, BlockReason::Timeout),
        (r#""INTERACTIVE_PROMPT""#, BlockReason::InteractivePrompt),
        (r#""no key""#, BlockReason::Other("no key".to_owned())),
        (r#""  ""#, BlockReason::Unstated),
        ("null", BlockReason::Unstated),
    ] {
        let line = format!(r#"{{"baton":"result","status":"BLOCKED","reason":{reason}}}"#);
        assert_eq!(result(&line), AttemptResult::Blocked { reason: expected });
    }
}

#[test]
fn a_blank_output_is_no_output_and_nul_is_replaced() {
    let complete = |output: Option<&str>| {
        let output = output.map(str::to_owned);
        AgentReport::Result(ResultReport { result: AttemptResult::Complete, output })
    };
    assert_eq!(report(r#"{"baton":"result","status":"COMPLETE","output":" "}"#), complete(None));
    let line = r#"{"baton":"result","status":"COMPLETE","output":"a\u0000b"}"#;
    assert_eq!(report(line), complete(Some("a\u{fffd}b")));
}

#[test]
fn an_outcome_has_a_name_and_a_description() {
    let outcome = |name: &str, description: Option<&str>| {
        AgentReport::Outcome(OutcomeReport {
            name: name.to_owned(),
            description: description.map(str::to_owned),
        })
    };
    assert_eq!(report(r#"{"baton":"outcome","outcome":"complete"}"#), outcome("complete", None));
    let line = r#"{"baton":"outcome","outcome":" other ","description":"why"}"#;
    assert_eq!(report(line), outcome("other", Some("why")));
}

#[test]
fn a_plan_is_cores_own_draft() {
    let AgentReport::Plan(plan) =
        report(r#"{"baton":"plan","items":[{"title":"one"},{"title":"two","depends_on":1}]}"#)
    else {
        panic!("not a plan");
    };
    let titles: Vec<&str> = plan.items.iter().map(|item| item.title.as_str()).collect();
    assert_eq!(titles, ["one", "two"]);
}

#[test]
fn other_lines_are_text() {
    for line in [
        "",
        "hello",
        "{}",
        r#"{"outcome":"complete"}"#,
        r#"["baton"]"#,
        r#"{"a":{"baton":"turn"}}"#,
        "{\"baton\"",
    ] {
        assert!(!matches!(read(line), ParsedLine::Report(_)), "{line}");
    }
    assert_eq!(read(r#"{"a":{"baton":"turn"}}"#), ParsedLine::Text);
}

#[test]
fn a_bad_report_is_an_error_that_names_the_mistake() {
    for (line, mistake) in [
        (r#"{"baton":"trun"}"#, "\"trun\" is none of turn, usage, ask, result, outcome, plan"),
        (r#"{"baton":3}"#, "`baton` must be a string"),
        (r#"{"baton":"turn""#, "it is not JSON"),
        (r#"{"baton":"usage"}"#, "it names none of input_tokens, output_tokens, cost_usd"),
        (r#"{"baton":"usage","input_tokens":-1}"#, "expected u64"),
        (r#"{"baton":"usage","cost_usd":-0.5}"#, "-0.5 is not a cost"),
        (r#"{"baton":"ask"}"#, "missing field `question`"),
        (r#"{"baton":"ask","question":" "}"#, "the question is blank"),
        (r#"{"baton":"ask","question":"Why?","options":"yes"}"#, "expected a sequence"),
        (r#"{"baton":"result"}"#, "missing field `status`"),
        (r#"{"baton":"result","status":"DONE"}"#, "\"DONE\" is none of COMPLETE"),
        (r#"{"baton":"outcome","outcome":""}"#, "the outcome is blank"),
        (r#"{"baton":"plan","items":7}"#, "invalid type"),
    ] {
        match read(line) {
            ParsedLine::Unreadable(error) => assert!(error.to_string().contains(mistake), "{error}"),
            other => panic!("{line}: {other:?}"),
        }
    }
}

proptest! {
    #[test]
    fn no_line_panics_the_reader(line in ".{0,200}") {
        let _ = read(&line);
    }

    #[test]
    fn nothing_inside_a_report_panics_the_reader(
        kind in "turn|usage|ask|result|outcome|plan|other",
        key in "question|options|status|reason|output|outcome|items|cost_usd|input_tokens",
        value in r#""[A-Zä]{0,8}"|-?[0-9]{1,30}(\.[0-9]{1,9})?|null|true|\[[0-9,]*\]|\{\}|\[\{"title":3\}\]"#,
    ) {
        let _ = read(&format!(r#"{{"baton":"{kind}","{key}":{value}}}"#));
    }
}
