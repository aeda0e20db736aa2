//! `/ws`: the WebSocket. `hello` → `connect` → `connected`, then requests in, messages out.
//!
//! Durable messages come from the event log and carry its sequence number; a client that reconnects with the last number
//! it saw misses none and gets none twice. A client that does not read is disconnected and catches up later.

mod incoming;
mod once;
mod outgoing;
#[cfg(test)]
mod reference;
mod requests;
mod subscription;

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use baton_core::base::id::SessionId;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::http::error::{ApiError, Code};
use crate::http::limits::BODY_BYTES_MAX;
use crate::socket::incoming::{ClientMessage, SentKey, SocketRequest};
use crate::socket::subscription::Subscription;
use crate::state::App;
use crate::state::principal::{AuthedApp, Principal, identify, identify_token};

/// How long a client may take to send `connect`.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long sending one message may take. A slower client is disconnected and resumes from the log.
const SEND_PATIENCE: Duration = Duration::from_secs(20);
/// Ping interval; a client that misses two is disconnected.
const PING_EVERY: Duration = Duration::from_secs(30);

pub(crate) async fn serve(
    State(app): State<App>,
    known: Option<Extension<Principal>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    // Logged-in browsers and clients with a bearer token are authenticated already.
    let principal = match known {
        Some(Extension(principal)) => Some(principal),
        None => identify(&app, &headers).await.ok(),
    };
    let place = match app.stream_place() {
        Ok(place) => place,
        Err(full) => return full.into_response(),
    };
    upgrade.max_message_size(BODY_BYTES_MAX).on_upgrade(move |socket| async move {
        let _open = (OpenSocket::new(app.clone()), place);
        let mut client = SocketSession { socket, app, principal, subscription: None };
        let reason = client.run().await;
        tracing::debug!(?reason, "socket closed");
        client.close(reason).await;
    })
}

/// Counts an open socket.
struct OpenSocket(App);

impl OpenSocket {
    fn new(app: App) -> Self {
        app.sockets.send_modify(|open| *open += 1);
        Self(app)
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        self.0.sockets.send_modify(|open| *open -= 1);
    }
}

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SocketEnd {
    /// The client disconnected or timed out.
    Gone,
    Unauthorized,
    /// The server is shutting down and all messages were delivered.
    Ending,
    /// The event log could not be read; the client may reconnect.
    Broken,
}

struct SocketSession {
    socket: WebSocket,
    app: App,
    /// None until a token was presented.
    principal: Option<Principal>,
    subscription: Option<Subscription>,
}

/// What the session reacts to.
enum SocketEvent {
    Received(Message),
    Outgoing(Value),
    Ping,
    Over(SocketEnd),
}

impl SocketSession {
    async fn run(&mut self) -> SocketEnd {
        if let Err(over) = self.handshake().await {
            return over;
        }
        let mut pings = interval(PING_EVERY);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut ending, mut last_heard) = (self.app.ending.clone(), Instant::now());
        loop {
            let next = tokio::select! {
                heard = self.socket.recv() => match heard {
                    Some(Ok(message)) => SocketEvent::Received(message),
                    Some(Err(_)) | None => SocketEvent::Over(SocketEnd::Gone),
                },
                told = Subscription::next(&mut self.subscription) => match told {
                    Ok(Some(message)) => SocketEvent::Outgoing(message),
                    Ok(None) => SocketEvent::Over(Subscription::end(self.subscription.as_ref())),
                    Err(error) => {
                        tracing::warn!(%error, "cannot read the event log for a socket");
                        SocketEvent::Over(SocketEnd::Broken)
                    }
                },
                () = ended(&mut ending), if self.subscription.is_none() => SocketEvent::Over(SocketEnd::Ending),
                _ = pings.tick() => SocketEvent::Ping,
            };
            let sent = match next {
                SocketEvent::Received(message) => {
                    last_heard = Instant::now();
                    self.answer(message).await
                }
                SocketEvent::Outgoing(message) => self.send(&message).await,
                SocketEvent::Ping if last_heard.elapsed() > PING_EVERY * 2 => Err(SocketEnd::Gone),
                SocketEvent::Ping if !Self::is_authorized(self.app.clone(), self.principal.clone()).await => {
                    Err(SocketEnd::Unauthorized)
                }
                SocketEvent::Ping => self.send_frame(Message::Ping(Vec::new().into())).await,
                SocketEvent::Over(over) => Err(over),
            };
            if let Err(over) = sent {
                return over;
            }
        }
    }

    /// `hello` → `connect` → `connected`.
    async fn handshake(&mut self) -> Result<(), SocketEnd> {
        self.send(&outgoing::hello(self.app.namespace(), self.principal.is_none())).await?;
        let deadline = Instant::now() + CONNECT_PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(Some(Ok(message))) = timeout(left, self.socket.recv()).await else {
                return Err(SocketEnd::Gone);
            };
            let Some(SocketRequest { id, body, .. }) = incoming::read(&message) else { continue };
            let token = match body {
                Ok(ClientMessage::Connect { token }) => token,
                Ok(_) => {
                    let hint = "send {\"type\": \"connect\"} first, with a token if one is needed";
                    let error = ApiError::new(Code::Unauthorized, "not connected yet", hint);
                    self.send(&outgoing::error(&id, &error)).await?;
                    continue;
                }
                Err(error) => {
                    self.send(&outgoing::error(&id, &error)).await?;
                    continue;
                }
            };
            if self.principal.is_none() {
                match identify_token(&self.app, token.as_deref()).await {
                    Ok(principal) => self.principal = Some(principal),
                    Err(error) => {
                        self.send(&outgoing::error(&id, &error)).await?;
                        return Err(SocketEnd::Unauthorized);
                    }
                }
            }
            let last_seq = *self.app.tasks().changes().borrow();
            return self.send(&outgoing::connected(&id, last_seq)).await;
        }
    }

    async fn answer(&mut self, message: Message) -> Result<(), SocketEnd> {
        let answer = match incoming::read(&message) {
            None => return if matches!(message, Message::Close(_)) { Err(SocketEnd::Gone) } else { Ok(()) },
            Some(SocketRequest { id, key, body }) => {
                let handled = match (key, body) {
                    (Ok(key), Ok(body)) => self.handle(key, body).await,
                    (Err(error), _) | (_, Err(error)) => Err(error),
                };
                match handled {
                    Ok(answer) => outgoing::with_id(answer, &id),
                    Err(error) => outgoing::error(&id, &error),
                }
            }
        };
        self.send(&answer).await
    }

    /// Sockets stay open long, so the token is checked for every request.
    async fn handle(&mut self, key: Option<SentKey>, body: ClientMessage) -> Result<Value, ApiError> {
        let gone = || {
            let hint = "reconnect with a valid token";
            ApiError::new(Code::Unauthorized, "the token has expired or was revoked", hint)
        };
        let principal = self.principal.clone().ok_or_else(gone)?;
        if !principal.is_still_valid(&self.app).await? {
            return Err(gone());
        }
        principal.check(body.needs(), "this message")?;
        if let (None, ClientMessage::Subscribe { session_id, last_seq }) = (&key, &body) {
            let (session_id, last_seq) = (session_id.clone(), *last_seq);
            self.subscription = Some(Subscription::new(&self.app, principal, session_id, last_seq));
            return Ok(outgoing::ack("subscribe"));
        }
        let started = match &body {
            ClientMessage::StartRecipe { session_id, .. } => Some(session_id.clone()),
            _ => None,
        };
        let last_seq = *self.app.tasks().changes().borrow();
        let app = AuthedApp::new(self.app.clone(), principal.clone());
        // On the heap: it holds the state of the whole call.
        let answer = Box::pin(once::handle(&app, key, body)).await?;
        if let Some(session) = started {
            self.listen_to(session, principal, last_seq);
        }
        Ok(answer)
    }

    /// A client that starts a recipe gets the messages of its session from then on.
    fn listen_to(&mut self, session: SessionId, principal: Principal, last_seq: u64) {
        match &mut self.subscription {
            Some(subscription) => subscription.add(session),
            None => {
                self.subscription = Some(Subscription::new(&self.app, principal, Some(session), last_seq));
            }
        }
    }

    /// Clients that only listen are checked at every ping.
    async fn is_authorized(app: App, principal: Option<Principal>) -> bool {
        match principal {
            // An unreachable store does not invalidate tokens.
            Some(principal) => principal.is_still_valid(&app).await.unwrap_or(true),
            None => false,
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), SocketEnd> {
        self.send_frame(Message::Text(message.to_string().into())).await
    }

    async fn send_frame(&mut self, frame: Message) -> Result<(), SocketEnd> {
        match timeout(SEND_PATIENCE, self.socket.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(SocketEnd::Gone),
        }
    }

    async fn close(&mut self, over: SocketEnd) {
        let (code, reason) = match over {
            SocketEnd::Gone => return,
            SocketEnd::Unauthorized => (close_code::POLICY, "missing or invalid token"),
            SocketEnd::Ending => (close_code::AWAY, "the server is shutting down"),
            SocketEnd::Broken => (close_code::ERROR, "cannot read the event log; reconnect with last_seq"),
        };
        // The client may be gone already.
        let _ = self.send_frame(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
    }
}

async fn ended(ending: &mut tokio::sync::watch::Receiver<bool>) {
    // Also resolves when the sender is dropped.
    drop(ending.wait_for(|ending| *ending).await);
}
