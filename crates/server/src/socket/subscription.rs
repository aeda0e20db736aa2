//! A client's subscription: the event log from a sequence number on, optionally of one session only.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;

use baton_core::base::id::{SessionId, TaskId};
use baton_engine::base::error::EngineError;
use serde_json::Value;

use crate::live::follower::EventFollower;
use crate::live::wire;
use crate::socket::SocketEnd;
use crate::state::App;
use crate::state::principal::Principal;

/// Cached task-to-session lookups; the cache is cleared when full.
const SESSIONS_MAX: usize = 1_000;

pub(super) struct Subscription {
    app: App,
    follower: EventFollower,
    principal: Principal,
    /// The client's token was revoked.
    is_revoked: bool,
    /// The sessions whose messages are wanted; none for all.
    wanted: Option<BTreeSet<SessionId>>,
    sessions: BTreeMap<TaskId, SessionId>,
    /// Read from the log, filter not yet applied; kept here for cancel safety.
    pending_message: Option<Value>,
}

impl Subscription {
    pub(super) fn new(app: &App, principal: Principal, session: Option<SessionId>, last_seq: u64) -> Self {
        let follower = EventFollower::new(app.clone(), last_seq);
        Self {
            app: app.clone(),
            follower,
            principal,
            is_revoked: false,
            wanted: session.map(|session| BTreeSet::from([session])),
            sessions: BTreeMap::new(),
            pending_message: None,
        }
    }

    /// Adds a session's messages from here on.
    pub(super) fn add(&mut self, session: SessionId) {
        if let Some(wanted) = &mut self.wanted {
            wanted.insert(session);
        }
    }

    /// The next message; waits forever without a subscription. Cancel-safe.
    pub(super) async fn next(of: &mut Option<Self>) -> Result<Option<Value>, EngineError> {
        match of {
            Some(subscription) => subscription.message().await,
            None => pending().await,
        }
    }

    /// Why the subscription ended.
    pub(super) fn end(of: Option<&Self>) -> SocketEnd {
        if of.is_some_and(|subscription| subscription.is_revoked) {
            SocketEnd::Unauthorized
        } else {
            SocketEnd::Ending
        }
    }

    async fn message(&mut self) -> Result<Option<Value>, EngineError> {
        loop {
            if self.pending_message.is_none() {
                let Some(recorded) = self.follower.next().await else { return Ok(None) };
                if self.principal.is_revoked_by(&recorded) {
                    self.is_revoked = true;
                    return Ok(None);
                }
                self.pending_message =
                    wire::message(&recorded).and_then(|message| serde_json::to_value(message).ok());
            }
            let Some(message) = &self.pending_message else { continue };
            let is_wanted = if self.wanted.is_none() {
                true
            } else {
                let message = message.clone();
                let session = self.session_of(&message).await?;
                let is_among = |session| self.wanted.as_ref().is_some_and(|all| all.contains(&session));
                session.is_some_and(is_among)
            };
            let message = self.pending_message.take();
            if is_wanted {
                return Ok(message);
            }
        }
    }

    /// A message names its session, or a task, whose session never changes (I4).
    async fn session_of(&mut self, message: &Value) -> Result<Option<SessionId>, EngineError> {
        if let Some(session) = message["session_id"].as_str() {
            return Ok(session.parse().ok());
        }
        let Some(task) = message["task_id"].as_str().and_then(|task| task.parse::<TaskId>().ok()) else {
            return Ok(None);
        };
        if let Some(session) = self.sessions.get(&task) {
            return Ok(Some(session.clone()));
        }
        let found = self.app.tasks().store.task(task).await?;
        let Some(session) = found.map(|stored| stored.value.spec().session_id.clone()) else {
            return Ok(None);
        };
        if self.sessions.len() >= SESSIONS_MAX {
            self.sessions.clear();
        }
        self.sessions.insert(task, session.clone());
        Ok(Some(session))
    }
}
