//! Claiming ready work: the candidates, the limits per project and person, and the task that claims.

pub(crate) mod candidates;
pub(crate) mod claimer;
pub(crate) mod passed;
pub(crate) mod shares;
