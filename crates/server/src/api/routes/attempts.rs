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
            .returns_named("Asks the human on behalf of the attempt that owns the token", "AskedQuestion")
            .may_conflict(),
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

/// Pending, or already answered.
#[derive(Serialize)]
#[serde(untagged)]
enum AskedQuestion {
    Pending { question_id: QuestionId },
    Known { answer: NonBlank, answered_by: AnsweredBy },
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
    match app.workspace.agents.gateway().ask(&secret, draft).await {
        Ok(Asked::Pending { question }) => Ok(Json(AskedQuestion::Pending { question_id: question })),
        Ok(Asked::Known { answer, answered_by }) => Ok(Json(AskedQuestion::Known { answer, answered_by })),
        Err(error) => Err(match error.ask_refusal() {
            Some(refusal) => refused(refusal),
            None => error.into(),
        }),
    }
}

/// `reason` is the refusal's code, as the tool `ask_user` has it.
fn refused(refusal: &AskRefusal) -> ApiError {
    let code = match refusal {
        AskRefusal::NotOwner => Code::Forbidden,
        AskRefusal::NoCycle
        | AskRefusal::CycleClosed { .. }
        | AskRefusal::GatePassed { .. }
        | AskRefusal::QuestionPending { .. }
        | AskRefusal::LimitReached { .. }
        | AskRefusal::IdTaken { .. } => Code::Conflict,
    };
    let reason = Some(refusal.code().to_owned());
    ApiError { reason, ..ApiError::new(code, refusal.to_string(), refusal.next()) }
}
