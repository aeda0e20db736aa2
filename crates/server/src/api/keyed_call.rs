//! A creating call with a key of the caller's own: for a day, a repeat changes nothing and gets the first answer.
//!
//! Whoever takes the call in decides what a call is and how it is answered: `serve` for HTTP, `socket` for its messages.

use std::time::Duration;

use baton_core::base::id::SessionId;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::receipt::{KeptAnswer, Receipt, ReceiptKey, RequestedWork};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};

use crate::http::error::{ApiError, Code, Result};
use crate::state::App;

/// How long a key is known.
const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Answers beyond it are not kept; a repeat is answered with what was created, as it is then.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// How long a call waits for the answer that another machine gives to the same call.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(crate) struct KeyedCall {
    app: App,
    person: String,
    /// What is called. Each person has their own keys for everything.
    scope: String,
    key: String,
    digest: String,
}

/// A call with the same key that was carried out before.
pub(crate) enum EarlierCall {
    Answered {
        status: u16,
        body: String,
    },
    /// The answer was lost with the machine that should have given it.
    Lost(Box<Receipt>),
}

impl KeyedCall {
    pub(crate) fn new(app: &App, actor: &Actor, scope: String, key: String, body: &[u8]) -> Self {
        let person = match actor {
            Actor::Human { name } => name.clone(),
            other => other.to_string(),
        };
        Self { app: app.clone(), person, scope, key, digest: digest(&canonical(body)) }
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// The same call at the same time waits for the answer to the first.
    pub(crate) async fn turn(&self) -> OwnedMutexGuard<()> {
        self.app.calls.turn(format!("{} {} {}", self.person, self.scope, self.key)).await
    }

    /// The call with this key that was carried out before, if there was one. Another call with it is refused.
    pub(crate) async fn earlier(&self) -> Result<Option<EarlierCall>> {
        match self.known().await?.1 {
            Some(receipt) => self.repeat(receipt).await.map(Some),
            None => Ok(None),
        }
    }

    /// The key of the receipt: that of the earlier call if there was one.
    pub(crate) async fn receipt_key(&self) -> Result<ReceiptKey> {
        Ok(self.known().await?.0)
    }

    /// The receipt that is written with what the call changes.
    pub(crate) async fn new_receipt(&self) -> Result<Receipt> {
        let session_id: SessionId = "api".parse().map_err(|error: baton_core::base::id::InvalidId| {
            ApiError::new(Code::Internal, error.to_string(), "this is a bug in Baton; please report it")
        })?;
        let at = self.app.tasks().store.now().await?;
        Ok(Receipt {
            key: self.key_on(at.ms() / KEPT_MS),
            session_id,
            message: None,
            task_id: None,
            wanted: RequestedWork::default(),
            delivered: None,
            answer: Some(KeptAnswer {
                request_digest: self.digest.clone(),
                status: None,
                body: String::new(),
                created: Vec::new(),
            }),
            at,
        })
    }

    /// After a call that changed nothing: another machine may have carried it out at the same time.
    pub(crate) async fn carried_out_elsewhere(&self, receipt: &Receipt) -> Result<Option<EarlierCall>> {
        match self.app.tasks().store.receipt(&receipt.key).await? {
            Some(theirs) => self.repeat(theirs).await.map(Some),
            None => Ok(None),
        }
    }

    /// Remembers the answer for the next time.
    pub(crate) async fn keep(&self, mut receipt: Receipt, status: u16, body: &[u8]) {
        let Some(answer) = receipt.answer.as_mut().filter(|_| body.len() <= ANSWER_BYTES_MAX) else { return };
        answer.status = Some(status);
        answer.body = String::from_utf8_lossy(body).into_owned();
        // The call itself is done; without its answer, a repeat is answered with what it created.
        let change = Change::new().put(Record::Receipt(receipt), WriteGuard::Version(1));
        if let Err(error) = self.app.tasks().write(change).await {
            tracing::warn!(%error, "the answer to a call with an idempotency key was not kept");
        }
    }

    /// Keys are kept by the day, so that one can be used again later.
    fn key_on(&self, day: i64) -> ReceiptKey {
        ReceiptKey::for_call(&self.person, &self.scope, day, &self.key)
    }

    async fn known(&self) -> Result<(ReceiptKey, Option<Receipt>)> {
        let now = self.app.tasks().store.now().await?;
        let today = now.ms() / KEPT_MS;
        // A clock that was set back must not forget what is from tomorrow now.
        for day in [today, today - 1, today + 1] {
            let known = self.app.tasks().store.receipt(&self.key_on(day)).await?;
            if let Some(receipt) = known.filter(|receipt| now.ms_since(receipt.at) < KEPT_MS) {
                return Ok((receipt.key.clone(), Some(receipt)));
            }
        }
        Ok((self.key_on(today), None))
    }

    async fn repeat(&self, mut receipt: Receipt) -> Result<EarlierCall> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Some(answer) = receipt.answer.as_ref().filter(|answer| answer.request_digest == self.digest)
            else {
                return Err(ApiError::new(
                    Code::Conflict,
                    "this Idempotency-Key was used for another request",
                    "use a new key for a new request",
                ));
            };
            if let Some(status) = answer.status {
                return Ok(EarlierCall::Answered { status, body: answer.body.clone() });
            }
            if Instant::now() >= deadline {
                return Ok(EarlierCall::Lost(Box::new(receipt)));
            }
            // Another machine may be about to answer it.
            sleep(LOOK_EVERY).await;
            if let Some(again) = self.app.tasks().store.receipt(&receipt.key).await? {
                receipt = again;
            }
        }
    }
}

/// JSON that says the same is the same request, however it is written: the order of keys and spaces mean nothing.
fn canonical(body: &[u8]) -> Vec<u8> {
    serde_json::from_slice::<Value>(body)
        .map_or_else(|_| body.to_owned(), |json| json.to_string().into_bytes())
}

fn digest(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
    }
    text
}
