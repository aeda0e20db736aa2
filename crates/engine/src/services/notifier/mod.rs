//! Sends notices to a person by a command, a webhook or both.
//!
//! Every notice is sent at least once. It has the id of the effect that caused it, so that receivers can drop duplicates.

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

/// Sends notices. Cheap to clone; clones share what has been delivered.
#[derive(Clone)]
pub struct Notifier {
    command: Vec<String>,
    webhook: Option<Webhook>,
    /// Created for the first webhook notice.
    client: Arc<OnceCell<Client>>,
    folder: PathBuf,
    program: PathBuf,
    /// Notices that one channel delivered while the other still fails, so that retries do not repeat them.
    delivered: Arc<Mutex<BTreeSet<(EffectId, NoticeChannel)>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NoticeChannel {
    Command,
    Webhook,
}

impl Notifier {
    pub fn new(command: Vec<String>, webhook: Option<Webhook>, folder: PathBuf, program: PathBuf) -> Self {
        Self { command, webhook, client: Arc::default(), folder, program, delivered: Arc::default() }
    }

    /// Whether a command or a webhook is set.
    pub fn is_set(&self) -> bool {
        !self.command.is_empty() || self.webhook.is_some()
    }

    /// Sends the notice on every channel that is set.
    pub async fn send(&self, id: EffectId, notice: &NoticeText) -> Result<(), String> {
        let body = notice.json(id);
        let by_command = async {
            if self.command.is_empty() || self.is_delivered(id, NoticeChannel::Command) {
                return Ok(());
            }
            command::run(&self.command, &self.folder, &self.program, id, notice, body.clone()).await?;
            self.mark_delivered(id, NoticeChannel::Command);
            Ok(())
        };
        let by_webhook = async {
            match &self.webhook {
                Some(webhook) if !self.is_delivered(id, NoticeChannel::Webhook) => {
                    let build = async || http_client::build(webhook::TIMEOUT, None);
                    let client = self.client.get_or_try_init(build).await?;
                    webhook::post(webhook, client, id, body.clone()).await?;
                    self.mark_delivered(id, NoticeChannel::Webhook);
                    Ok(())
                }
                Some(_) | None => Ok(()),
            }
        };
        let results: [Result<(), String>; 2] = tokio::join!(by_command, by_webhook).into();
        let errors: Vec<String> = results.into_iter().filter_map(Result::err).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }

    /// Forgets a notice that was delivered or given up.
    pub fn forget(&self, id: EffectId) {
        self.delivered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|(delivered, _)| *delivered != id);
    }

    fn is_delivered(&self, id: EffectId, channel: NoticeChannel) -> bool {
        self.delivered.lock().unwrap_or_else(PoisonError::into_inner).contains(&(id, channel))
    }

    fn mark_delivered(&self, id: EffectId, channel: NoticeChannel) {
        self.delivered.lock().unwrap_or_else(PoisonError::into_inner).insert((id, channel));
    }
}
