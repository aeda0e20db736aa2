//! The notifier: tells a person who is not looking, by a command or a webhook they set.
//!
//! Every notice goes out at least once. It carries the id of the effect that caused it, and that id is the same each
//! time, so whoever receives it can drop a repeat.

mod command;
mod notice;
mod webhook;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use baton_core::base::id::EffectId;
use reqwest::Client;
use tokio::sync::OnceCell;

pub use notice::NoticeText;

use crate::base::http_client;
use crate::settings::webhook::Webhook;

/// How notices leave. Cheap to clone; clones share what has been delivered.
#[derive(Clone)]
pub struct Notifier {
    command: Vec<String>,
    webhook: Option<Webhook>,
    /// Built for the first notice that goes to the webhook.
    client: Arc<OnceCell<Client>>,
    folder: PathBuf,
    program: PathBuf,
    /// What one way has taken while the other still refuses, so that it is not told again at every try.
    taken: Arc<Mutex<BTreeSet<(EffectId, Way)>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Command,
    Webhook,
}

impl Notifier {
    pub fn new(command: Vec<String>, webhook: Option<Webhook>, folder: PathBuf, program: PathBuf) -> Self {
        Self { command, webhook, client: Arc::default(), folder, program, taken: Arc::default() }
    }

    /// Whether there is anybody to tell.
    pub fn is_set(&self) -> bool {
        !self.command.is_empty() || self.webhook.is_some()
    }

    /// Tells it by every way that is set. The error is for a person to read.
    pub async fn tell(&self, id: EffectId, notice: &NoticeText) -> Result<(), String> {
        let body = notice.json(id);
        let by_command = async {
            if self.command.is_empty() || self.has_taken(id, Way::Command) {
                return Ok(());
            }
            command::run(&self.command, &self.folder, &self.program, id, notice, body.clone()).await?;
            self.took(id, Way::Command);
            Ok(())
        };
        let by_webhook = async {
            match &self.webhook {
                Some(webhook) if !self.has_taken(id, Way::Webhook) => {
                    let build = async || http_client::build(webhook::TIMEOUT, None);
                    let client = self.client.get_or_try_init(build).await?;
                    webhook::post(webhook, client, id, body.clone()).await?;
                    self.took(id, Way::Webhook);
                    Ok(())
                }
                Some(_) | None => Ok(()),
            }
        };
        let told: [Result<(), String>; 2] = tokio::join!(by_command, by_webhook).into();
        let errors: Vec<String> = told.into_iter().filter_map(Result::err).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }

    /// The notice is over, delivered or given up.
    pub fn forget(&self, id: EffectId) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).retain(|(taken, _)| *taken != id);
    }

    fn has_taken(&self, id: EffectId, way: Way) -> bool {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).contains(&(id, way))
    }

    fn took(&self, id: EffectId, way: Way) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert((id, way));
    }
}
