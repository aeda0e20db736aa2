//! Removes secrets from an agent's output before it is stored.

use baton_agents::driver::run_result::RunResult;
use baton_core::ask::question::QuestionDraft;
use baton_core::base::redact::redact;
use baton_core::base::text::NonBlank;
use baton_core::recycle::plan::PlanDraft;
use baton_core::task::attempt::{AttemptResult, BlockReason};
use serde_json::Value;

/// Removes secrets from everything the agent reported.
pub fn redact_result(mut ended: RunResult) -> RunResult {
    ended.reported.output = redact(&ended.reported.output).into_owned();
    match &mut ended.reported.result {
        AttemptResult::Asked { question: asked } => *asked = redact_question(asked.clone()),
        AttemptResult::NoChanges { reason: text }
        | AttemptResult::Stopped { reason: text }
        | AttemptResult::Error { message: text, .. }
        | AttemptResult::Blocked { reason: BlockReason::Other(text) } => *text = redact(text).into_owned(),
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::TurnLimit
        | AttemptResult::Blocked {
            reason: BlockReason::Timeout | BlockReason::InteractivePrompt | BlockReason::Unstated,
        } => {}
    }
    if let Some(outcome) = &mut ended.outcome {
        outcome.description = outcome.description.take().map(|text| redact(&text).into_owned());
    }
    ended.plan = ended.plan.map(redact_plan);
    ended
}

/// Removes secrets from a question.
pub fn redact_question(mut draft: QuestionDraft) -> QuestionDraft {
    draft.text = clean(&draft.text);
    draft.options = draft.options.iter().map(clean).collect();
    draft.default = draft.default.as_ref().map(clean);
    draft
}

/// Redaction leaves a mark, so the text does not become blank.
fn clean(text: &NonBlank) -> NonBlank {
    NonBlank::or(&redact(text.as_str()), text.clone())
}

/// Goes through the plan as JSON, because it has texts in many places.
fn redact_plan(draft: PlanDraft) -> PlanDraft {
    let Ok(mut value) = serde_json::to_value(&draft) else { return draft };
    clean_texts(&mut value);
    serde_json::from_value(value).unwrap_or(draft)
}

fn clean_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(clean_texts),
        Value::Object(fields) => fields.values_mut().for_each(clean_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
