//! A piece of work for the writer, with whoever waits for it.

use std::path::Path;

use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::sqlite::fault::Fault;
use crate::sqlite::transaction::Batch;

/// What came of a piece of work, and whether its writes stay.
pub(crate) enum Done<T> {
    Keep(T),
    Undo(T),
}

/// `run` happens inside the transaction, `answer` after it.
pub(crate) trait Job: Send {
    /// Whether to keep what it wrote. A second run, after the transaction of the first was undone, decides anew.
    fn run(&mut self, batch: &mut Batch<'_>, path: &Path) -> bool;
    fn error(&self) -> Option<&StoreError>;
    fn answer(self: Box<Self>, failure: Option<&StoreError>);
}

pub(crate) struct Pending<F, T> {
    doing: &'static str,
    work: F,
    result: Result<T, StoreError>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

pub(crate) type Answered<T> = oneshot::Receiver<Result<T, StoreError>>;

impl<F, T> Pending<F, T> {
    pub(crate) fn new(doing: &'static str, work: F) -> (Self, Answered<T>) {
        let (answer, answered) = oneshot::channel();
        (Self { doing, work, result: Err(StoreError::Closed), answer }, answered)
    }
}

impl<F, T> Job for Pending<F, T>
where
    F: FnMut(&mut Batch<'_>) -> Result<Done<T>, Fault> + Send,
    T: Send,
{
    fn run(&mut self, batch: &mut Batch<'_>, path: &Path) -> bool {
        let (is_kept, result) = match (self.work)(batch) {
            Ok(Done::Keep(value)) => (true, Ok(value)),
            Ok(Done::Undo(value)) => (false, Ok(value)),
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
        // Nobody waits for it any more when the caller has gone; what was written stays written.
        let _ = self.answer.send(result);
    }
}
