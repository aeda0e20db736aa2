//! `/api/attempt`: what the agent of a live attempt does under its own token.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::ask::refusal::AskRefusal;
use baton_core::base::id::QuestionId;
use baton_core::base::text::NonBlank;
use baton_engine::asking::{Asked, Secret};
use serde::{Deserialize, Serialize};

use crate::error::{Answer, ApiError, Code};
use crate::guard::bearer;
use crate::input::{Body, Query, said};
use crate::route::Route;
use crate::state::App;

/// Where `baton ask` asks, for agents that have nothing but a command line.
pub const QUESTIONS_PATH: &str = "/api/attempt/questions";

pub fn routes() -> Vec<Route> {
    vec![
        Route::post(QUESTIONS_PATH, "ask", ask)
            .takes("NewQuestion")
            .gives("Asks the human, in the name of the attempt whose token is shown", "AskedQuestion"),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewQuestion {
    question: String,
    #[serde(default)]
    options: Vec<String>,
}

/// One of the three: it waits, it was answered before, or it may not be asked.
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
    query: Query,
    Body(new): Body<NewQuestion>,
) -> Answer<Json<AskedQuestion>> {
    query.done()?;
    let secret = bearer(&headers).and_then(|given| given.parse::<Secret>().ok()).ok_or_else(|| {
        ApiError::new(
            Code::Unauthorized,
            "only the agent of an attempt asks here",
            "an agent passes BATON_TOKEN on as it is",
        )
    })?;
    let mut draft = QuestionDraft::new(QuestionKind::Clarification, said(&new.question, "question")?);
    draft.options = new.options.iter().filter_map(|option| NonBlank::new(option.trim()).ok()).collect();
    Ok(Json(match app.shop.gateway().ask(&secret, draft).await {
        Ok(Asked::Pending { question }) => AskedQuestion::Pending { question_id: question },
        Ok(Asked::Known { answer, answered_by }) => AskedQuestion::Known { answer, answered_by },
        Err(error) => {
            let Some(refusal) = error.ask_refusal().cloned() else { return Err(error.into()) };
            let (message, hint) = (refusal.to_string(), refusal.next());
            AskedQuestion::Refused { refused: refusal, message, hint }
        }
    }))
}
