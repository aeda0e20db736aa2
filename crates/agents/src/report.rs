//! A report: one line of an agent's standard output that is meant for Baton, not for a reader.
//!
//! It is a JSON object with the key `baton`. Everything an agent says of itself comes through here and leaves
//! as one of few values. A line that wants to be a report and cannot be read is never taken for one: it stays
//! text, and its [`RecipeError`] says what is wrong with it.

mod fields;

use baton_core::ask::question::QuestionDraft;
use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::vagueness::Rubric;
use baton_core::recycle::plan::PlanDraft;
use baton_core::task::attempt::AttemptResult;
use serde_json::{Map, Value};

use crate::lines::without_nul;

pub(crate) use fields::micro_usd;
pub use fields::{OPTIONS_MAX, QUESTION_BYTES_MAX};

/// A piece of a line or of a word that is quoted back.
const QUOTED_BYTES_MAX: usize = 200;

/// What a line of standard output is.
#[derive(Debug, Clone, PartialEq)]
pub enum Spoken {
    Report(Report),
    Text,
    /// Text that wanted to be a report.
    Unreadable(Fault),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// One turn was used.
    Turn,
    /// Used since the last report of this kind; they are added up.
    Usage(Usage),
    Ask(QuestionDraft),
    Result(ResultReport),
    Outcome(OutcomeReport),
    Plan(PlanDraft),
    /// How vague the task is, point by point.
    Vagueness(Box<Rubric>),
    /// Tasks a review came upon.
    Discovered(Vec<DiscoveredTask>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar, so that sums stay exact.
    pub cost_micro_usd: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultReport {
    /// Never `AskOutcome` or `TurnLimit`: those are not a status an agent gives itself.
    pub result: AttemptResult,
    /// None when the text on standard output is the output.
    pub output: Option<String>,
}

/// An outcome as it was said. Whether the step allows it is for [`baton_core::recipe::outcome::Outcome::report`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeReport {
    pub name: String,
    pub description: Option<String>,
}

/// Why a line could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a report could not be read: {reason}; the line was: {line}")]
pub struct Fault {
    /// The value of `baton`, where there was one.
    pub kind: Option<String>,
    pub reason: String,
    /// The beginning of the line.
    pub line: String,
}

/// Reads one line of standard output.
pub fn read(line: &str) -> Spoken {
    let trimmed = line.trim();
    if !trimmed.starts_with('{') || !trimmed.contains("\"baton\"") {
        return Spoken::Text;
    }
    let fault = |kind, reason| Spoken::Unreadable(Fault { kind, reason, line: quote(trimmed) });
    let mut object = match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Object(object)) if object.contains_key("baton") => object,
        // The word stands somewhere inside; the object is about something else.
        Ok(_) => return Spoken::Text,
        Err(error) if looks_like_report(trimmed) => return fault(None, format!("it is not JSON: {error}")),
        Err(_) => return Spoken::Text,
    };
    object.values_mut().for_each(clean);
    let Some(Value::String(kind)) = object.remove("baton") else {
        return fault(None, "`baton` must be a text".to_owned());
    };
    match read_kind(&kind, object) {
        Ok(report) => Spoken::Report(report),
        Err(reason) => fault(Some(kind), reason),
    }
}

/// The fault of a line that was too long to be read whole; none when it was ordinary text.
pub fn too_long(beginning: &str, bytes_max: usize) -> Option<Fault> {
    let beginning = beginning.trim_start();
    looks_like_report(beginning).then(|| Fault {
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

fn read_kind(kind: &str, object: Map<String, Value>) -> Result<Report, String> {
    match kind {
        "turn" => Ok(Report::Turn),
        "usage" => fields::usage(object).map(Report::Usage),
        "ask" => fields::question(object).map(Report::Ask),
        "result" => fields::result(object).map(Report::Result),
        "outcome" => fields::outcome(object).map(Report::Outcome),
        "plan" => fields::plan(object).map(Report::Plan),
        "vagueness" => fields::vagueness(object).map(|rubric| Report::Vagueness(Box::new(rubric))),
        "discovered" => fields::discovered(object).map(Report::Discovered),
        unknown => Err(format!(
            "\"{}\" is none of turn, usage, ask, result, outcome, plan, vagueness, discovered",
            quote(unknown)
        )),
    }
}
