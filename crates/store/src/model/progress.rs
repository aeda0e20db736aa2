//! Progress of slow store operations, for programs that show it to a person.

use std::fmt;
use std::sync::Arc;

/// A slow operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStage {
    /// The server does not answer; connecting again.
    Reaching,
    /// Checking every page, after an unclean shutdown or of a backup being restored.
    Checking,
    /// Migrating the schema.
    Upgrading { from: i64, to: i64 },
    /// Copying pages; `total` is 0 while it is unknown.
    Copying { pages: u64, total: u64 },
}

/// A callback for progress; by default there is none.
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
