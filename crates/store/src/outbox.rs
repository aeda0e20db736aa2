//! The outbox: effects committed with the change that caused them, waiting to be carried out.

use baton_core::base::id::EffectId;
use baton_core::records::effect::Effect;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingEffect {
    /// Counts up with the commits, so effects come out in the order they were caused.
    pub id: EffectId,
    pub effect: Effect,
}
