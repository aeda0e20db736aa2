//! `/api/attempt`: calls of a live attempt's agent, authenticated by the attempt's token.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::ask::refusal::AskRefusal;
use baton_core::base::id::QuestionId;
use baton_core::base::text::NonBlank;
use baton_engine::asking::Asked;
use baton_engine::base::attempt_secret::AttemptSecret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::route::Route;
use crate::http::error::{ApiError, Code, Result};
use crate::http::guard::bearer;
use crate::http::input::{JsonBody, NoQuery, non_blank};
use crate::http::paths;
use crate::schema::words;
use crate::state::App;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post(paths::ATTEMPT_QUESTIONS, "ask", ask)
            .takes::<NewQuestion>()
            .returns_named("Asks the human on behalf of the attempt that owns the token", "AskedQuestion"),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewQuestion {
    #[schemars(with = "words::NonBlank")]
    question: String,
    #[serde(default)]
    options: Vec<String>,
}

/// Pending, already answered, or refused.
#[derive(Serialize)]
#[serde(untagged)]
enum AskedQuestion {
    Pending { question_id: QuestionId },
    Known { answer: NonBlank, answered_by: AnsweredBy },
    Refused { refused: AskRefusal, message: String, hint: String },
}

async fn ask(
    State(app): State<App>,
    headers: HeaderMap,
    _: NoQuery,
    JsonBody(new): JsonBody<NewQuestion>,
) -> Result<Json<AskedQuestion>> {
    let secret = bearer(&headers).and_then(|given| given.parse::<AttemptSecret>().ok()).ok_or_else(|| {
        ApiError::new(
            Code::Unauthorized,
            "only an attempt's agent may call this",
            "send BATON_TOKEN as the bearer token",
        )
    })?;
    let mut draft = QuestionDraft::new(QuestionKind::Clarification, non_blank(&new.question, "question")?);
    draft.options = new.options.iter().filter_map(|option| NonBlank::new(option.trim()).ok()).collect();
    Ok(Json(match app.workspace.agents.gateway().ask(&secret, draft).await {
        Ok(Asked::Pending { question }) => AskedQuestion::Pending { question_id: question },
        Ok(Asked::Known { answer, answered_by }) => AskedQuestion::Known { answer, answered_by },
        Err(error) => {
            let Some(refusal) = error.ask_refusal().cloned() else { return Err(error.into()) };
            let (message, hint) = (refusal.to_string(), refusal.next());
            AskedQuestion::Refused { refused: refusal, message, hint }
        }
    }))
}
