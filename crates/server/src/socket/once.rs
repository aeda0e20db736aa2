//! `idempotency_key`: a creating message that is sent again with its key changes nothing and gets the first answer.

use baton_core::base::id::{RunId, SessionId};
use baton_core::recipe::run::Run;
use baton_core::records::receipt::{CreatedRecord, Receipt};
use baton_engine::base::once::with_receipt;
use baton_engine::runs::SessionRuns;
use serde_json::Value;

use crate::api::keyed_call::{EarlierCall, KeyedCall};
use crate::http::error::{ApiError, Code, Result};
use crate::socket::incoming::{ClientMessage, SentKey};
use crate::socket::requests;
use crate::state::principal::AuthedApp;

/// The status of a kept answer that is no error.
const SUCCESS: u16 = 200;

/// Carries a message out once for its key.
pub(super) async fn handle(app: &AuthedApp, key: Option<SentKey>, message: ClientMessage) -> Result<Value> {
    let Some(SentKey { key, body }) = key else { return requests::handle(app, message, None).await };
    let scope = format!("/ws {}", message.name());
    let call = KeyedCall::new(app, &app.actor(), scope, key, body.as_bytes());
    let _turn = call.turn().await;
    match &message {
        // The receipt of a message says where it went.
        ClientMessage::Prompt { .. } => {
            let key = call.receipt_key().await?;
            requests::handle(app, message, Some(key)).await
        }
        ClientMessage::StartRecipe { session_id, .. } => {
            let session = session_id.clone();
            start_once(app, &call, &session, message).await
        }
        ClientMessage::Connect { .. }
        | ClientMessage::GetAvailableRecipes {}
        | ClientMessage::ExitRecipe { .. }
        | ClientMessage::Answer { .. }
        | ClientMessage::Subscribe { .. } => Err(ApiError::invalid(
            format!("{} takes no idempotency_key", message.name()),
            "leave it out: this message creates nothing",
        )),
    }
}

async fn start_once(
    app: &AuthedApp,
    call: &KeyedCall,
    session: &SessionId,
    message: ClientMessage,
) -> Result<Value> {
    if let Some(earlier) = call.earlier().await? {
        return repeat(app, call, session, earlier).await;
    }
    let receipt = call.new_receipt().await?;
    let (answer, has_changed) =
        with_receipt(receipt.clone(), Box::pin(requests::handle(app, message, None))).await;
    if has_changed {
        keep(call, receipt, &answer).await;
        return answer;
    }
    // Refused: it may be sent again.
    match call.carried_out_elsewhere(&receipt).await? {
        Some(theirs) => repeat(app, call, session, theirs).await,
        None => answer,
    }
}

/// The answer of the first time.
async fn repeat(
    app: &AuthedApp,
    call: &KeyedCall,
    session: &SessionId,
    earlier: EarlierCall,
) -> Result<Value> {
    let receipt = match earlier {
        EarlierCall::Answered { status: SUCCESS, body } => {
            return serde_json::from_str(&body).map_err(|error| unreadable(&error));
        }
        EarlierCall::Answered { body, .. } => {
            return Err(serde_json::from_str(&body).unwrap_or_else(|error| unreadable(&error)));
        }
        EarlierCall::Lost(receipt) => receipt,
    };
    let answer = Ok(requests::started(&started_run(app, session, &receipt).await?));
    keep(call, *receipt, &answer).await;
    answer
}

async fn started_run(app: &AuthedApp, session: &SessionId, receipt: &Receipt) -> Result<Run> {
    let mut created = receipt.answer.iter().flat_map(|answer| &answer.created);
    let id: Option<RunId> =
        created.find_map(|one| if let CreatedRecord::Run(id) = one { Some(*id) } else { None });
    let run = match id {
        Some(id) => app.tasks().store.run(id).await?.map(|stored| stored.value),
        // The loop makes its run with its first phase.
        None => SessionRuns::new(app.tasks()).latest(session).await?,
    };
    run.ok_or_else(|| {
        ApiError::new(
            Code::Conflict,
            "this recipe was started before, and its run is not known",
            "see what runs: baton recipe status; use a new key to start another",
        )
    })
}

async fn keep(call: &KeyedCall, receipt: Receipt, answer: &Result<Value>) {
    let (status, body) = match answer {
        Ok(answer) => (SUCCESS, answer.to_string()),
        Err(error) => (error.error.status().as_u16(), serde_json::json!(error).to_string()),
    };
    call.keep(receipt, status, body.as_bytes()).await;
}

fn unreadable(error: &serde_json::Error) -> ApiError {
    ApiError::new(
        Code::Internal,
        format!("the kept answer to this message cannot be read: {error}"),
        "look up what it created",
    )
}
