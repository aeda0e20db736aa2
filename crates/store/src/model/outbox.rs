//! The outbox: effects committed together with the change that caused them, not yet carried out.

use baton_core::effect::Effect;
use baton_core::id::EffectId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingEffect {
    /// Grows with the commits, so effects come out in the order they were caused.
    pub id: EffectId,
    pub effect: Effect,
}
