//! The one decision loop: read rows, let core decide, commit; when a row changed in between, read and decide again.

use std::fmt::Display;
use std::time::Duration;

use baton_core::records::change::Change;
use baton_store::Store;
use baton_store::model::commit::{Commit, Conflict};
use baton_store::model::record_kind::RecordKind;
use tokio::time::sleep;
use tracing::warn;

use crate::base::error::Result;
use crate::base::ids::random_bits;
use crate::base::once::{has_pending_receipt, note_written, with_pending_receipt};
use crate::tasks::error::TaskError;
use crate::tasks::reopening::NewWork;

/// How often a decision is made again when its rows keep changing. Far more than real use needs.
const TRIES_MAX: u32 = 50;
/// The first tries follow each other at once; after these, writers that meet step aside for a moment.
const TRIES_AT_ONCE: u32 = 3;
/// The longest pause between two tries.
const PAUSE_MAX_MS: u64 = 40;

/// A decision on rows that others may change at the same time.
///
/// ```ignore
/// let mut decision = self.decision(task);
/// loop {
///     let change = decide(self.task(task).await?)?;
///     if decision.commit(change).await? {
///         return Ok(());
///     }
/// }
/// ```
pub(crate) struct Decision<'a> {
    store: &'a Store,
    /// What is decided on, for the message when it never settles.
    what: String,
    tries: u32,
}

impl<'a> Decision<'a> {
    pub(crate) fn new(store: &'a Store, what: impl Display) -> Self {
        Self { store, what: what.to_string(), tries: 0 }
    }

    /// True when the change was written; false when a row changed meanwhile: read again and decide again.
    pub(crate) async fn commit(&mut self, change: Change) -> Result<bool> {
        if self.try_commit(change).await?.is_none() {
            return Ok(true);
        }
        self.again().await?;
        Ok(false)
    }

    /// The same without a pause: the row that changed, if one did.
    pub(crate) async fn try_commit(&self, change: Change) -> Result<Option<Conflict>> {
        let new_work = NewWork::of(&change);
        let reopening = Box::pin(new_work.reopened_projects(self.store)).await?;
        match self.store.commit(with_pending_receipt(change.and(reopening))).await? {
            Commit::Written { .. } => {
                note_written();
                // What was asked for is done: a failure here must not make anybody ask for it again.
                if let Err(error) = Box::pin(new_work.reopen_completed_meanwhile(self.store)).await {
                    warn!(what = %self.what, %error, "a project that was completed meanwhile could not be opened again");
                }
                Ok(None)
            }
            // The same request, at the same time: deciding again cannot change that.
            Commit::Conflict(repeated @ Conflict::Moved { kind: RecordKind::Receipt, .. })
                if has_pending_receipt() =>
            {
                Err(repeated.into())
            }
            Commit::Conflict(moved @ Conflict::Moved { .. }) => Ok(Some(moved)),
            Commit::Conflict(conflict) => Err(conflict.into()),
        }
    }

    /// Counts a try, and steps aside after the first few.
    pub(crate) async fn again(&mut self) -> Result<()> {
        self.tries += 1;
        if self.tries >= TRIES_MAX {
            return Err(TaskError::Contended { what: self.what.clone() }.into());
        }
        if self.tries > TRIES_AT_ONCE {
            let longest = PAUSE_MAX_MS.min(u64::from(self.tries) * 2);
            sleep(Duration::from_millis(random_bits() % (longest + 1))).await;
        }
        Ok(())
    }
}
