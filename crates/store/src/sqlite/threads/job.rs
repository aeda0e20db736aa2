//! A job for the writer, and the caller waiting for it.

use std::path::Path;

use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::transaction::Transaction;

/// The result of a job, and whether to keep what it wrote.
pub(crate) enum WriteOutcome<T> {
    Keep(T),
    RollBack(T),
}

/// `run` is called inside the transaction, `answer` after it.
pub(crate) trait WriteJob: Send {
    /// Whether to keep what it wrote. May be called again after its transaction was rolled back; the last call
    /// counts.
    fn run(&mut self, tx: &mut Transaction<'_>, path: &Path) -> bool;
    fn error(&self) -> Option<&StoreError>;
    fn answer(self: Box<Self>, failure: Option<&StoreError>);
}

pub(crate) struct PendingWrite<F, T> {
    doing: &'static str,
    work: F,
    result: Result<T, StoreError>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

pub(crate) type ReplyReceiver<T> = oneshot::Receiver<Result<T, StoreError>>;

impl<F, T> PendingWrite<F, T> {
    pub(crate) fn new(doing: &'static str, work: F) -> (Self, ReplyReceiver<T>) {
        let (answer, answered) = oneshot::channel();
        (Self { doing, work, result: Err(StoreError::Closed), answer }, answered)
    }
}

impl<F, T> WriteJob for PendingWrite<F, T>
where
    F: FnMut(&mut Transaction<'_>) -> Result<WriteOutcome<T>, SqliteFault> + Send,
    T: Send,
{
    fn run(&mut self, tx: &mut Transaction<'_>, path: &Path) -> bool {
        let (is_kept, result) = match (self.work)(tx) {
            Ok(WriteOutcome::Keep(value)) => (true, Ok(value)),
            Ok(WriteOutcome::RollBack(value)) => (false, Ok(value)),
            Err(fault) => (false, Err(fault.into_error(path, self.doing))),
        };
        self.result = result;
        is_kept
    }

    fn error(&self) -> Option<&StoreError> {
        self.result.as_ref().err()
    }

    fn answer(self: Box<Self>, failure: Option<&StoreError>) {
        let result = match failure {
            Some(error) => Err(error.clone()),
            None => self.result,
        };
        // The caller may have gone; what was written stays.
        let _ = self.answer.send(result);
    }
}
