//! What a driver is given once, for all its launches.

use std::sync::Arc;

use crate::asking::asker::{Asker, NoAsker};
use crate::asking::permission::{PermissionDecision, PermissionPolicy};
use crate::driver::message_feed::no_messages;
use crate::driver::{MessageFeed, Pauses, RunClock};
use crate::presets::preset::Preset;

#[derive(Clone)]
pub struct AgentSetup {
    pub clock: RunClock,
    pub preset: Preset,
    pub permissions: Arc<dyn PermissionPolicy>,
    pub asker: Arc<dyn Asker>,
    pub messages: MessageFeed,
    pub pauses: Pauses,
}

impl AgentSetup {
    /// The safe default: every permission needs a human, and no human is available.
    pub fn new(clock: RunClock, preset: Preset) -> Self {
        Self {
            clock,
            preset,
            permissions: Arc::new(PermissionDecision::AskHuman),
            asker: Arc::new(NoAsker),
            messages: no_messages(),
            pauses: Pauses::never(),
        }
    }

    pub fn permissions(mut self, permissions: Arc<dyn PermissionPolicy>) -> Self {
        self.permissions = permissions;
        self
    }

    pub fn asker(mut self, asker: Arc<dyn Asker>) -> Self {
        self.asker = asker;
        self
    }

    pub fn pauses(mut self, pauses: Pauses) -> Self {
        self.pauses = pauses;
        self
    }

    pub fn messages(mut self, messages: MessageFeed) -> Self {
        self.messages = messages;
        self
    }
}
