//! The outbox: effects committed together with the change that caused them, not yet carried out.

use baton_core::base::id::EffectId;
use baton_core::records::effect::Effect;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingEffect {
    /// Grows with the commits, so effects come out in the order they were caused.
    pub id: EffectId,
    pub effect: Effect,
}
