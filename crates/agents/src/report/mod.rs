//! What agents report: the report lines of command agents, and the vocabulary all protocols share (usage, tool calls,
//! stop reasons).
//!
//! A report is a line of standard output that is a JSON object with the key `baton`. A line that looks like a report and
//! cannot be parsed stays text, and its [`ReportError`] says what is wrong. How other protocols phrase the same things
//! belongs in `protocols`.

mod fields;
pub mod stop_reason;
pub mod tool_call;
pub mod usage;
use baton_core::ask::question::QuestionDraft;
use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::vagueness::Rubric;
use baton_core::recycle::plan::PlanDraft;
use baton_core::task::attempt::AttemptResult;
use serde_json::{Map, Value};

use crate::output::lines::without_nul;

pub(crate) use fields::micro_usd;
pub use fields::{OPTIONS_MAX, QUESTION_BYTES_MAX};
pub use usage::Usage;

/// How much of a line or word an error message quotes.
const QUOTED_BYTES_MAX: usize = 200;

/// One line of standard output.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedLine {
    Report(AgentReport),
    Text,
    /// Text that looks like a report but is none.
    Unreadable(ReportError),
}

#[derive(Debug, Clone, PartialEq)]
pub enum AgentReport {
    /// One turn was used.
    Turn,
    /// Used since the last such report; added up.
    Usage(Usage),
    Ask(QuestionDraft),
    Result(ResultReport),
    Outcome(OutcomeReport),
    Plan(PlanDraft),
    /// Rating of how vague the task is.
    Vagueness(Box<Rubric>),
    /// Tasks a review discovered.
    Discovered(Vec<DiscoveredTask>),
}

impl AgentReport {
    /// The value of `baton` in its line.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Usage(_) => "usage",
            Self::Ask(_) => "ask",
            Self::Result(_) => "result",
            Self::Outcome(_) => "outcome",
            Self::Plan(_) => "plan",
            Self::Vagueness(_) => "vagueness",
            Self::Discovered(_) => "discovered",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultReport {
    /// Never `AskOutcome` or `TurnLimit`: no status line means those.
    pub result: AttemptResult,
    /// None when the output is the text on standard output.
    pub output: Option<String>,
}

/// An outcome as reported. [`baton_core::recipe::outcome::Outcome::report`] checks whether the step allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeReport {
    pub name: String,
    pub description: Option<String>,
}

/// Why a line could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid report: {reason}; the line was: {line}")]
pub struct ReportError {
    /// The value of `baton`, if there was one.
    pub kind: Option<String>,
    pub reason: String,
    /// The beginning of the line.
    pub line: String,
}

/// Parses one line of standard output.
pub fn read(line: &str) -> ParsedLine {
    let trimmed = line.trim();
    if !trimmed.starts_with('{') || !trimmed.contains("\"baton\"") {
        return ParsedLine::Text;
    }
    let fault = |kind, reason| ParsedLine::Unreadable(ReportError { kind, reason, line: quote(trimmed) });
    let mut object = match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Object(object)) if object.contains_key("baton") => object,
        // The key is nested; the object is about something else.
        Ok(_) => return ParsedLine::Text,
        Err(error) if looks_like_report(trimmed) => return fault(None, format!("it is not JSON: {error}")),
        Err(_) => return ParsedLine::Text,
    };
    object.values_mut().for_each(clean);
    let Some(Value::String(kind)) = object.remove("baton") else {
        return fault(None, "`baton` must be a string".to_owned());
    };
    match read_kind(&kind, object) {
        Ok(report) => ParsedLine::Report(report),
        Err(reason) => fault(Some(kind), reason),
    }
}

/// The error for an oversized line; None for ordinary text.
pub fn too_long(beginning: &str, bytes_max: usize) -> Option<ReportError> {
    let beginning = beginning.trim_start();
    looks_like_report(beginning).then(|| ReportError {
        kind: None,
        reason: format!("it is longer than {bytes_max} bytes"),
        line: quote(beginning),
    })
}

fn looks_like_report(line: &str) -> bool {
    line.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with("\"baton\""))
}

fn quote(line: &str) -> String {
    line[..line.floor_char_boundary(QUOTED_BYTES_MAX)].to_owned()
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_nul(std::mem::take(text)),
        Value::Array(values) => values.iter_mut().for_each(clean),
        Value::Object(object) => object.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn read_kind(kind: &str, object: Map<String, Value>) -> Result<AgentReport, String> {
    match kind {
        "turn" => Ok(AgentReport::Turn),
        "usage" => fields::usage(object).map(AgentReport::Usage),
        "ask" => fields::question(object).map(AgentReport::Ask),
        "result" => fields::result(object).map(AgentReport::Result),
        "outcome" => fields::outcome(object).map(AgentReport::Outcome),
        "plan" => fields::plan(object).map(AgentReport::Plan),
        "vagueness" => fields::vagueness(object).map(|rubric| AgentReport::Vagueness(Box::new(rubric))),
        "discovered" => fields::discovered(object).map(AgentReport::Discovered),
        unknown => Err(format!(
            "\"{}\" is none of turn, usage, ask, result, outcome, plan, vagueness, discovered",
            quote(unknown)
        )),
    }
}
