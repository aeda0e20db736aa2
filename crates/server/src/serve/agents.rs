//! Requests from processes of an attempt (I19).

use std::sync::PoisonError;

use axum::extract::MatchedPath;
use axum::http::request::Parts;
use baton_core::base::id::AttemptId;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_engine::base::attempt_secret::AttemptSecret;

use crate::http::error::{ApiError, Code};
use crate::http::guard::bearer;
use crate::http::peer::is_for_agents;
use crate::mcp::mount;
use crate::state::App;
use crate::state::principal::Principal;

/// Different refusals that are recorded; an agent that tries everything fills no history.
const RECORDED_MAX: usize = 1_000;
const ACTION_CHARS_MAX: usize = 200;

/// The tools with the attempt's own token, and a few calls without; everything else is refused.
pub(super) async fn admit(
    app: &App,
    head: &Parts,
    attempt: AttemptId,
) -> Result<Option<Principal>, ApiError> {
    let path = head.uri.path();
    let shown = bearer(&head.headers).and_then(|given| given.parse::<AttemptSecret>().ok());
    let refusal = match shown {
        Some(secret) if secret.attempt() != attempt => "it shows the token of another attempt",
        Some(_) if mount::is_attempt_request(path, &head.headers) => return Ok(None),
        Some(_) | None => {
            let route = head.extensions.get::<MatchedPath>().map_or(path, MatchedPath::as_str);
            if is_for_agents(&head.method, route) {
                return Ok(Some(Principal::agent(attempt)));
            }
            "only a person may do this"
        }
    };
    let action: String = format!("{} {path}", head.method).chars().take(ACTION_CHARS_MAX).collect();
    record(app, attempt, action, refusal).await;
    Err(ApiError::new(
        Code::Forbidden,
        format!("this call came from {attempt}, and {refusal}"),
        "agents use the tools of their attempt with BATON_TOKEN: ask_user, report_outcome, add_task and the others",
    ))
}

/// Each action of an attempt is recorded once.
async fn record(app: &App, attempt: AttemptId, action: String, reason: &str) {
    tracing::warn!(%attempt, action, reason, "refused to an agent");
    {
        let mut refused = app.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= RECORDED_MAX || !refused.insert((attempt, action.clone())) {
            return;
        }
    }
    let store = &app.tasks().store;
    // An attempt of another Baton has no task here.
    let Ok(Some(known)) = store.attempt(attempt).await else { return };
    let (Ok(action), Ok(reason), Ok(at)) = (NonBlank::new(action), NonBlank::new(reason), store.now().await)
    else {
        return;
    };
    let body = EventBody::AttemptRefused { task: known.task_id, attempt, action, reason };
    let mut change = Change::new();
    change.events.push(Event { at, by: Actor::Agent { attempt }, body });
    if let Err(error) = store.commit(change).await {
        tracing::warn!(%error, %attempt, "cannot record a refusal");
    }
}
