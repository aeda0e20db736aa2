//! How much waits for people, as the pages last counted it.

use std::fmt::{self, Display, Formatter};

use baton_core::base::time::Timestamp;

/// How many things wait, as every page shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WaitingCount {
    pub total: u64,
    /// There are more than are counted.
    pub is_more: bool,
}

impl Display for WaitingCount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.total, if self.is_more { "+" } else { "" })
    }
}

/// A count that is kept until something happens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedWaiting {
    pub seq: u64,
    pub at: Timestamp,
    pub count: WaitingCount,
}
