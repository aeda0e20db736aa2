//! Requests that carry a key: their receipt is written with the change they are for, in the same transaction. So a repeat
//! changes nothing, whatever happened to the answer of the first.

use std::sync::{Mutex, PoisonError};

use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::receipt::{CreatedRecord, Receipt};

tokio::task_local! {
    /// The receipt of the request at hand, until it is written.
    static RECEIPT: Mutex<Option<Receipt>>;
}

/// Runs a request. Says whether its receipt was written: whether it has changed anything.
pub async fn with_receipt<T>(receipt: Receipt, request: impl Future<Output = T>) -> (T, bool) {
    let slot = Mutex::new(Some(receipt));
    RECEIPT
        .scope(slot, async {
            let answer = request.await;
            let is_written = RECEIPT.with(|slot| lock(slot).is_none());
            (answer, is_written)
        })
        .await
}

/// Runs what has to happen before the request can do what it is for: that has not happened when this has.
pub async fn without_receipt<T>(preparation: impl Future<Output = T>) -> T {
    RECEIPT.scope(Mutex::new(None), preparation).await
}

/// The change, with the receipt of the request if that is not written yet.
pub(crate) fn with_pending_receipt(change: Change) -> Change {
    match RECEIPT.try_with(|slot| lock(slot).clone()) {
        Ok(Some(mut receipt)) => {
            if let Some(answer) = &mut receipt.answer {
                answer.created = created_by(&change);
            }
            change.put(Record::Receipt(receipt), WriteGuard::New)
        }
        Ok(None) | Err(_) => change,
    }
}

fn created_by(change: &Change) -> Vec<CreatedRecord> {
    let new = change.puts.iter().filter(|put| put.guard == WriteGuard::New);
    new.filter_map(|put| match &put.record {
        Record::Task(task) => Some(CreatedRecord::Task(task.id())),
        Record::Project(project) => Some(CreatedRecord::Project(project.id)),
        Record::Routine(routine) => Some(CreatedRecord::Routine(routine.id)),
        Record::Run(run) => Some(CreatedRecord::Run(run.id())),
        Record::Message(message) => {
            Some(CreatedRecord::Message { session_id: message.session_id.clone(), number: message.number })
        }
        Record::Session(_)
        | Record::Attempt(_)
        | Record::Question(_)
        | Record::Plan(_)
        | Record::Loop(_)
        | Record::Receipt(_)
        | Record::Hold(_)
        | Record::Spending(_)
        | Record::AccessToken(_)
        | Record::Verdict(_)
        | Record::Attachment(_) => None,
    })
    .collect()
}

/// Whether the request at hand has a receipt that is not written yet.
pub(crate) fn has_pending_receipt() -> bool {
    RECEIPT.try_with(|slot| lock(slot).is_some()).unwrap_or(false)
}

/// A change was written.
pub(crate) fn note_written() {
    // Outside of a request there is none.
    let _ = RECEIPT.try_with(|slot| lock(slot).take());
}

fn lock(slot: &Mutex<Option<Receipt>>) -> std::sync::MutexGuard<'_, Option<Receipt>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
