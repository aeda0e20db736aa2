//! Sends the notices of the outbox concurrently, with retries.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use baton_core::base::id::EffectId;
use baton_core::records::effect::{Effect, Notification};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::services::notifier::{NoticeText, Notifier};
use crate::services::outbox::{TRIES_MAX, give_up};
use crate::services::queues::{QueuedNotice, Queues};
use crate::services::workspace::Workspace;

/// Notices sent at once, which limits the effect of a receiver that hangs.
const NOTICES_MAX: usize = 8;
/// How long shutdown waits for notices being sent. An interrupted one is sent again after the next start.
const LAST_NOTICES: Duration = Duration::from_secs(5);

type Sent = (EffectId, Result<(), ServiceError>);

pub(super) struct NoticeService {
    workspace: Workspace,
    leadership: Leadership,
    queues: Queues,
    notifier: Notifier,
    items: Items,
    /// The notices being sent.
    under_way: BTreeMap<EffectId, Notification>,
    sending: JoinSet<()>,
    sent: (UnboundedSender<Sent>, UnboundedReceiver<Sent>),
}

impl NoticeService {
    pub(super) fn new(
        workspace: Workspace,
        leadership: Leadership,
        queues: Queues,
        notifier: Notifier,
    ) -> Self {
        let items = workspace.items(ServiceName::Notifier);
        Self {
            workspace,
            leadership,
            queues,
            notifier,
            items,
            under_way: BTreeMap::new(),
            sending: JoinSet::new(),
            sent: unbounded_channel(),
        }
    }

    async fn settle(&mut self) -> Result<(), ServiceError> {
        while let Ok((id, sent)) = self.sent.1.try_recv() {
            self.settle_one(id, sent).await?;
        }
        while self.sending.try_join_next().is_some() {}
        Ok(())
    }

    /// Removes a sent notice, schedules a retry, or gives up with an event.
    async fn settle_one(&mut self, id: EffectId, sent: Result<(), ServiceError>) -> Result<(), ServiceError> {
        let Some(about) = self.under_way.remove(&id) else { return Ok(()) };
        let item = item(id, &about);
        match sent {
            Ok(()) => self.items.succeeded(&item),
            Err(error) => {
                let tries = self.items.failed(&item, &error).await?;
                if tries < TRIES_MAX {
                    return Ok(());
                }
                give_up(&self.workspace, &Effect::Notify { about }, tries, &error).await?;
                self.items.forget(&item);
            }
        }
        self.workspace.tasks.store.finish_effects(&[id]).await?;
        self.notifier.forget(id);
        self.queues.notices.lock().remove(&id);
        Ok(())
    }

    fn send(&mut self, id: EffectId, about: Notification) {
        let item = item(id, &about);
        self.under_way.insert(id, about.clone());
        let (tasks, notifier) = (self.workspace.tasks.clone(), self.notifier.clone());
        let (sender, queue) = (self.sent.0.clone(), self.queues.notices.clone());
        self.sending.spawn(async move {
            let sent = Items::isolate(&item, async {
                match NoticeText::of(&tasks, &about).await? {
                    Some(text) => notifier.send(id, &text).await.map_err(|error| ServiceError::new(&error)),
                    // Its subject no longer exists.
                    None => Ok(()),
                }
            });
            // The receiver is gone after a restart; then the notice is sent again.
            let _ = sender.send((id, sent.await));
            queue.wake();
        });
    }
}

fn item(id: EffectId, about: &Notification) -> Item {
    let item = Item::new(ItemKind::Notice, &id);
    match about {
        Notification::Failed(task) => item.for_task(*task),
        Notification::Question(_) | Notification::RunExited(_) => item,
    }
}

impl Service for NoticeService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        self.settle().await?;
        let now = Instant::now();
        let queued: Vec<(EffectId, QueuedNotice)> =
            self.queues.notices.lock().iter().map(|(id, notice)| (*id, notice.clone())).collect();
        let ids: BTreeSet<EffectId> = queued.iter().map(|(id, _)| *id).collect();
        self.under_way.retain(|id, _| ids.contains(id));
        let mut next = None;
        for (id, notice) in queued {
            // Checked for those being sent too, so that they count as seen.
            let is_due = self.items.is_due(&item(id, &notice.about));
            if !self.leadership.is_held() || !is_due || self.under_way.contains_key(&id) {
                continue;
            }
            if notice.not_before > now {
                next = [next, Some(notice.not_before)].into_iter().flatten().min();
            } else if self.under_way.len() < NOTICES_MAX {
                self.send(id, notice.about);
            }
        }
        Ok(self.items.end_round().again_at(next))
    }

    /// Waits for the notices being sent.
    async fn close(&mut self) -> Result<(), ServiceError> {
        let until = Instant::now() + LAST_NOTICES;
        while !self.under_way.is_empty() {
            let Ok(Some((id, sent))) = timeout_at(until, self.sent.1.recv()).await else { break };
            self.settle_one(id, sent).await?;
        }
        Ok(())
    }
}
