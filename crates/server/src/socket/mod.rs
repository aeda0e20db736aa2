//! `/ws`: the same server as a conversation. `hello` → `connect` → `connected`, then requests in, messages out.
//!
//! What is durable comes from the log and carries its number; a client that comes back with the last number it saw
//! misses nothing and gets nothing twice. A client that does not read is cut off, and catches up when it comes back.

mod hand;
mod incoming;
mod outgoing;
#[cfg(test)]
mod reference;
mod subscription;

use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::http::error::{ApiError, Code};
use crate::http::limits::BODY_BYTES_MAX;
use crate::socket::incoming::{Incoming, Request};
use crate::socket::subscription::Subscription;
use crate::state::App;
use crate::state::principal::{Visited, Visitor, identify, identify_given};

/// How long a client may take to introduce itself.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long one message may take to be sent. A client that takes longer reads the log when it comes back.
const SEND_PATIENCE: Duration = Duration::from_secs(20);
/// How often a quiet client is asked whether it is still there; twice without an answer, and it is not.
const PING_EVERY: Duration = Duration::from_secs(30);

pub async fn serve(State(app): State<App>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    // A browser that has logged in has shown the token already, and so has a client that sent it in its header.
    let visitor = identify(&app, &headers).await.ok();
    upgrade.max_message_size(BODY_BYTES_MAX).on_upgrade(move |socket| async move {
        let _open = Open::new(app.clone());
        let mut client = Client { socket, app, visitor, subscription: None };
        let reason = client.talk().await;
        tracing::debug!(?reason, "a socket ended");
        client.close(reason).await;
    })
}

/// Counts a socket for as long as it is open.
struct Open(App);

impl Open {
    fn new(app: App) -> Self {
        app.sockets.send_modify(|open| *open += 1);
        Self(app)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.sockets.send_modify(|open| *open -= 1);
    }
}

/// Why a conversation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// The client went, or could not be reached any more.
    Gone,
    Unauthorized,
    /// The server is ending, and everything was told.
    Ending,
    /// The log could not be read; the client may come back.
    Broken,
}

struct Client {
    socket: WebSocket,
    app: App,
    /// None as long as a token has to be shown.
    visitor: Option<Visitor>,
    subscription: Option<Subscription>,
}

/// What a client does next, or what there is to tell it.
enum Next {
    Heard(Message),
    Told(Value),
    Ping,
    Over(Over),
}

impl Client {
    async fn talk(&mut self) -> Over {
        if let Err(over) = self.introduction().await {
            return over;
        }
        let mut pings = interval(PING_EVERY);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut ending, mut last_heard) = (self.app.ending.clone(), Instant::now());
        loop {
            let next = tokio::select! {
                heard = self.socket.recv() => match heard {
                    Some(Ok(message)) => Next::Heard(message),
                    Some(Err(_)) | None => Next::Over(Over::Gone),
                },
                told = Subscription::next(&mut self.subscription) => match told {
                    Ok(Some(message)) => Next::Told(message),
                    Ok(None) => Next::Over(Subscription::end(self.subscription.as_ref())),
                    Err(error) => {
                        tracing::warn!(%error, "a socket's log broke off");
                        Next::Over(Over::Broken)
                    }
                },
                () = ended(&mut ending), if self.subscription.is_none() => Next::Over(Over::Ending),
                _ = pings.tick() => Next::Ping,
            };
            let sent = match next {
                Next::Heard(message) => {
                    last_heard = Instant::now();
                    self.answer(message).await
                }
                Next::Told(message) => self.send(&message).await,
                Next::Ping if last_heard.elapsed() > PING_EVERY * 2 => Err(Over::Gone),
                Next::Ping if !Self::is_welcome(self.app.clone(), self.visitor.clone()).await => {
                    Err(Over::Unauthorized)
                }
                Next::Ping => self.send_frame(Message::Ping(Vec::new().into())).await,
                Next::Over(over) => Err(over),
            };
            if let Err(over) = sent {
                return over;
            }
        }
    }

    /// `hello` → `connect` → `connected`.
    async fn introduction(&mut self) -> Result<(), Over> {
        self.send(&outgoing::hello(self.app.namespace(), self.visitor.is_none())).await?;
        let deadline = Instant::now() + CONNECT_PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(Some(Ok(message))) = timeout(left, self.socket.recv()).await else {
                return Err(Over::Gone);
            };
            let request = match incoming::read(&message) {
                None => continue,
                Some(Err(error)) => {
                    self.send(&outgoing::error(None, &error)).await?;
                    continue;
                }
                Some(Ok(request)) => request,
            };
            let Incoming::Connect { token } = request.body else {
                let hint = "send {\"type\": \"connect\"} first, with the token where one is needed";
                let error = ApiError::new(Code::Unauthorized, "this socket is not connected yet", hint);
                self.send(&outgoing::error(request.id.as_deref(), &error)).await?;
                continue;
            };
            if self.visitor.is_none() {
                match identify_given(&self.app, token.as_deref()).await {
                    Ok(visitor) => self.visitor = Some(visitor),
                    Err(error) => {
                        self.send(&outgoing::error(request.id.as_deref(), &error)).await?;
                        return Err(Over::Unauthorized);
                    }
                }
            }
            let last_seq = *self.app.desk().changes().borrow();
            return self.send(&outgoing::connected(request.id.as_deref(), last_seq)).await;
        }
    }

    async fn answer(&mut self, message: Message) -> Result<(), Over> {
        let answer = match incoming::read(&message) {
            None => return if matches!(message, Message::Close(_)) { Err(Over::Gone) } else { Ok(()) },
            Some(Err(error)) => outgoing::error(None, &error),
            Some(Ok(Request { id, body })) => match self.carry_out(body).await {
                Ok(answer) => outgoing::with_id(answer, id.as_deref()),
                Err(error) => outgoing::error(id.as_deref(), &error),
            },
        };
        self.send(&answer).await
    }

    /// A socket stays open long, so that they are still welcome is looked at anew for each request.
    async fn carry_out(&mut self, body: Incoming) -> Result<Value, ApiError> {
        let gone = || {
            let hint = "connect again, with a token that is good";
            ApiError::new(Code::Unauthorized, "this token is not good any more", hint)
        };
        let visitor = self.visitor.clone().ok_or_else(gone)?;
        if !visitor.is_still_welcome(&self.app).await? {
            return Err(gone());
        }
        visitor.check(body.needs(), "this message")?;
        if let Incoming::Subscribe { session_id, last_seq } = body {
            self.subscription = Some(Subscription::new(&self.app, visitor, session_id, last_seq));
            return Ok(outgoing::ack("subscribe"));
        }
        hand::carry_out(&Visited::new(self.app.clone(), visitor), body).await
    }

    /// Whoever only listens is asked for nothing, and must go all the same when their time is over.
    async fn is_welcome(app: App, visitor: Option<Visitor>) -> bool {
        match visitor {
            // A store that cannot be asked just now takes nobody's token back.
            Some(visitor) => visitor.is_still_welcome(&app).await.unwrap_or(true),
            None => false,
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), Over> {
        self.send_frame(Message::Text(message.to_string().into())).await
    }

    async fn send_frame(&mut self, frame: Message) -> Result<(), Over> {
        match timeout(SEND_PATIENCE, self.socket.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Over::Gone),
        }
    }

    async fn close(&mut self, over: Over) {
        let (code, reason) = match over {
            Over::Gone => return,
            Over::Unauthorized => (close_code::POLICY, "the token is missing or wrong"),
            Over::Ending => (close_code::AWAY, "the server is ending"),
            Over::Broken => (close_code::ERROR, "the log broke off; come back with last_seq"),
        };
        // It may be gone by itself meanwhile.
        let _ = self.send_frame(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
    }
}

async fn ended(ending: &mut tokio::sync::watch::Receiver<bool>) {
    // Whoever could tell is gone: that is the end, too.
    drop(ending.wait_for(|ending| *ending).await);
}
