//! Whoever waits for what takes long in a store: told what it is and how far it has come, and asked nothing.

use std::fmt;
use std::sync::Arc;

/// What takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStage {
    /// The server does not answer, and is tried again.
    Reaching,
    /// Every page is read, after a stop that nobody saw the end of, or of a copy that is put back.
    Checking,
    /// The tables are brought from an earlier form to this program's.
    Upgrading { from: i64, to: i64 },
    /// Pages of so many; of none while nobody knows how many there are.
    Copying { pages: u64, total: u64 },
}

/// Nobody, unless somebody says otherwise.
#[derive(Clone, Default)]
pub struct ProgressListener(Option<Arc<dyn Fn(ProgressStage) + Send + Sync>>);

impl ProgressListener {
    pub fn new(tell: impl Fn(ProgressStage) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn report(&self, stage: ProgressStage) {
        if let Some(tell) = &self.0 {
            tell(stage);
        }
    }
}

impl fmt::Debug for ProgressListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "ProgressListener" } else { "nobody" })
    }
}
