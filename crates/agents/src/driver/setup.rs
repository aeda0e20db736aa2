//! What a driver is given once, whatever it launches: the clock, the agent's habits, and who is asked.

use std::sync::Arc;

use crate::asking::asker::{Asker, Nobody};
use crate::asking::permission::{Decision, Permissions};
use crate::driver::Clock;
use crate::presets::preset::Preset;

#[derive(Clone)]
pub struct Setup {
    pub clock: Clock,
    pub preset: Preset,
    pub permissions: Arc<dyn Permissions>,
    pub asker: Arc<dyn Asker>,
}

impl Setup {
    /// Asks a human about everything, and nobody is there: the safe beginning.
    pub fn new(clock: Clock, preset: Preset) -> Self {
        Self { clock, preset, permissions: Arc::new(Decision::AskHuman), asker: Arc::new(Nobody) }
    }

    pub fn permissions(mut self, permissions: Arc<dyn Permissions>) -> Self {
        self.permissions = permissions;
        self
    }

    pub fn asker(mut self, asker: Arc<dyn Asker>) -> Self {
        self.asker = asker;
        self
    }
}
