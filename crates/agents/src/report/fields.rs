//! Parses the fields of each kind of report. Errors are sentences that the author can act on.

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::text::NonBlank;
use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::vagueness::Rubric;
use baton_core::recycle::plan::PlanDraft;
use baton_core::task::attempt::{AttemptResult, BlockReason, ErrorCause};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::output::excerpt::excerpt;
use crate::report::{OutcomeReport, ResultReport, Usage, quote};

/// A longer question is cut.
pub const QUESTION_BYTES_MAX: usize = 16 * 1024;
/// Answers offered as buttons; further ones are dropped.
pub const OPTIONS_MAX: usize = 20;
const REASON_BYTES_MAX: usize = 1024;

fn read<T: for<'de> Deserialize<'de>>(object: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(object)).map_err(|error| error.to_string())
}

/// Core validates the items when it checks the plan.
pub(super) fn plan(object: Map<String, Value>) -> Result<PlanDraft, String> {
    read(object)
}

/// Core requires a judgement and a reason for every point.
pub(super) fn vagueness(object: Map<String, Value>) -> Result<Rubric, String> {
    read(object)
}

pub(super) fn discovered(object: Map<String, Value>) -> Result<Vec<DiscoveredTask>, String> {
    #[derive(Deserialize)]
    struct DiscoveredFields {
        tasks: Vec<Value>,
    }
    let DiscoveredFields { tasks } = read(object)?;
    let total = tasks.len();
    // One bad entry must not lose the others.
    let readable: Vec<DiscoveredTask> =
        tasks.into_iter().filter_map(|task| serde_json::from_value(task).ok()).collect();
    if readable.is_empty() && total > 0 {
        return Err(format!("none of the {total} tasks has a title"));
    }
    Ok(readable)
}

pub(super) fn usage(object: Map<String, Value>) -> Result<Usage, String> {
    #[derive(Deserialize)]
    struct UsageFields {
        #[serde(default)]
        input_tokens: Option<u64>,
        #[serde(default)]
        output_tokens: Option<u64>,
        #[serde(default)]
        cost_usd: Option<f64>,
    }
    let UsageFields { input_tokens, output_tokens, cost_usd } = read(object)?;
    if input_tokens.is_none() && output_tokens.is_none() && cost_usd.is_none() {
        return Err("it names none of input_tokens, output_tokens, cost_usd".to_owned());
    }
    Ok(Usage {
        input_tokens: input_tokens.unwrap_or(0),
        output_tokens: output_tokens.unwrap_or(0),
        cost_micro_usd: cost_usd.map_or(Ok(0), micro_usd)?,
    })
}

pub(crate) fn micro_usd(usd: f64) -> Result<u64, String> {
    /// Larger numbers are mistakes.
    const USD_MAX: f64 = 1e9;
    if !(0.0..=USD_MAX).contains(&usd) {
        return Err(format!("{usd} is not a cost in dollars"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within bounds by the check above"
    )]
    let micro_usd = (usd * 1e6).round() as u64;
    Ok(micro_usd)
}

pub(super) fn question(object: Map<String, Value>) -> Result<QuestionDraft, String> {
    #[derive(Deserialize)]
    struct QuestionFields {
        question: String,
        #[serde(default)]
        options: Option<Vec<String>>,
        /// Its answer when nobody answers.
        #[serde(default)]
        default: Option<String>,
    }
    let QuestionFields { question, options, default } = read(object)?;
    let text = NonBlank::new(excerpt(question.trim(), QUESTION_BYTES_MAX))
        .map_err(|_| "the question is blank".to_owned())?;
    let mut draft = QuestionDraft::new(QuestionKind::Clarification, text);
    let options = options.unwrap_or_default().into_iter();
    draft.options =
        options.filter_map(|option| NonBlank::new(option.trim()).ok()).take(OPTIONS_MAX).collect();
    draft.default = default.and_then(|answer| NonBlank::new(answer.trim()).ok());
    Ok(draft)
}

pub(super) fn result(object: Map<String, Value>) -> Result<ResultReport, String> {
    #[derive(Deserialize)]
    struct ResultFields {
        status: String,
        #[serde(default)]
        reason: Option<String>,
        #[serde(default)]
        output: Option<String>,
    }
    let ResultFields { status, reason, output } = read(object)?;
    let reason =
        reason.map(|reason| excerpt(reason.trim(), REASON_BYTES_MAX)).filter(|reason| !reason.is_empty());
    let result = match status.trim().to_ascii_uppercase().as_str() {
        "COMPLETE" => AttemptResult::Complete,
        "INCOMPLETE" => AttemptResult::Incomplete,
        "NO_EVIDENCE" => AttemptResult::NoEvidence,
        "BLOCKED" => AttemptResult::Blocked { reason: block_reason(reason) },
        "ERROR" => error(reason, output.as_deref()),
        _ => {
            let status = quote(&status);
            return Err(format!("\"{status}\" is none of COMPLETE, INCOMPLETE, NO_EVIDENCE, ERROR, BLOCKED"));
        }
    };
    let output = output.filter(|output| !output.trim().is_empty());
    Ok(ResultReport { result, output })
}

fn block_reason(reason: Option<String>) -> BlockReason {
    match reason {
        None => BlockReason::Unstated,
        Some(reason) => match reason.to_ascii_uppercase().as_str() {
            "TIMEOUT" => BlockReason::Timeout,
            "INTERACTIVE_PROMPT" => BlockReason::InteractivePrompt,
            _ => BlockReason::Other(reason),
        },
    }
}

/// An agent may report that an error is not the task's fault: it would have hit any other task too.
fn error(reason: Option<String>, output: Option<&str>) -> AttemptResult {
    let cause = match reason.as_deref().map(str::to_ascii_uppercase).as_deref() {
        Some("SYSTEMIC" | "RATE_LIMIT" | "NETWORK") => ErrorCause::Systemic,
        Some(_) | None => ErrorCause::Own,
    };
    let said = reason.or_else(|| output.map(|output| excerpt(output.trim(), REASON_BYTES_MAX)));
    let message =
        said.filter(|said| !said.is_empty()).unwrap_or_else(|| "the agent gave no reason".to_owned());
    AttemptResult::Error { cause, message }
}

pub(super) fn outcome(object: Map<String, Value>) -> Result<OutcomeReport, String> {
    #[derive(Deserialize)]
    struct OutcomeFields {
        outcome: String,
        #[serde(default, alias = "otherDescription")]
        description: Option<String>,
    }
    let OutcomeFields { outcome, description } = read(object)?;
    let name = outcome.trim().to_owned();
    if name.is_empty() {
        return Err("the outcome is blank".to_owned());
    }
    let description =
        description.map(|text| excerpt(text.trim(), baton_core::recipe::outcome::DESCRIPTION_BYTES_MAX));
    Ok(OutcomeReport { name: quote(&name), description: description.filter(|text| !text.is_empty()) })
}
