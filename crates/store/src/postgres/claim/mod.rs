//! Handing out ready work: the candidates a claim sees, the limits on whose work runs, and the task that claims.

pub(crate) mod candidates;
pub(crate) mod claimer;
pub(crate) mod shares;
