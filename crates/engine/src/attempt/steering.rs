//! Takes messages of people to an agent while it works, and records which of them it got.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_agents::driver::MessageFeed;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::people::actor::Actor;
use baton_core::records::session::Message;
use baton_core::transition::command::Command;
use tokio::sync::watch;

use crate::attempt::prompt::message_text;
use crate::base::error::{EngineError, Result};
use crate::cluster::running::Running;
use crate::tasks::service::TaskService;

pub(crate) struct Steering<'a> {
    tasks: &'a TaskService,
    running: &'a Running,
    task: TaskId,
    attempt: AttemptId,
    /// The last message in the agent's prompt; 0 if there is none.
    in_prompt: u32,
    feed: watch::Sender<Vec<String>>,
    state: Mutex<SteeringState>,
}

#[derive(Default)]
struct SteeringState {
    /// What is in the feed.
    fed: Vec<Message>,
    /// The last message that is recorded as delivered.
    noted: u32,
    failed: Option<EngineError>,
}

impl<'a> Steering<'a> {
    pub(crate) fn new(
        tasks: &'a TaskService,
        running: &'a Running,
        task: TaskId,
        attempt: AttemptId,
        in_prompt: &[Message],
    ) -> Self {
        let in_prompt = in_prompt.last().map_or(0, |message| message.number);
        let (feed, state) = (watch::Sender::new(Vec::new()), Mutex::default());
        Self { tasks, running, task, attempt, in_prompt, feed, state }
    }

    pub(crate) fn messages(&self) -> MessageFeed {
        self.feed.subscribe()
    }

    /// Feeds what is said from now on. Never comes back; an error is kept for [`Steering::end`].
    pub(crate) async fn feed(&self) -> Infallible {
        if let Err(error) = self.keep_feeding().await {
            self.state().failed.get_or_insert(error);
        }
        std::future::pending().await
    }

    async fn keep_feeding(&self) -> Result<()> {
        let mut wakes = self.running.message_wakes(self.attempt);
        loop {
            wakes.borrow_and_update();
            let task = self.tasks.task(self.task).await?.value;
            let mut new = self.tasks.queued_messages(&task).await?;
            let known = self.state().fed.last().map_or(self.in_prompt, |message| message.number);
            new.retain(|message| message.number > known);
            if !new.is_empty() {
                let texts: Vec<String> = new.iter().map(message_text).collect();
                self.state().fed.extend(new);
                self.feed.send_modify(|all| all.extend(texts));
            }
            if wakes.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    /// The agent has begun with its prompt.
    pub(crate) async fn note_prompt(&self) {
        self.note(self.in_prompt).await;
    }

    /// The agent got this many messages of the feed.
    pub(crate) async fn note_delivered(&self, count: usize) {
        let last = self.delivered(count).last().map_or(0, |message| message.number);
        self.note(last).await;
    }

    pub(crate) fn delivered(&self, count: usize) -> Vec<Message> {
        self.state().fed.iter().take(count).cloned().collect()
    }

    async fn note(&self, number: u32) {
        if number <= self.state().noted {
            return;
        }
        let note = Command::NoteDelivery { attempt: self.attempt, number };
        match self.tasks.apply(self.task, note, Actor::Baton).await {
            Ok(_) => self.state().noted = number,
            // The task moved on without this attempt; its next agent gets the message.
            Err(error) if error.is_stale() => {}
            Err(error) => drop(self.state().failed.get_or_insert(error)),
        }
    }

    /// What went wrong while messages were delivered.
    pub(crate) fn end(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(()), Err)
    }

    /// A lock that was held by a thread that died still guards sound data: each change is one assignment.
    fn state(&self) -> MutexGuard<'_, SteeringState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
