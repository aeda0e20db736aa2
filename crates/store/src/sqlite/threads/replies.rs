//! Replying to callers after the commit.

use std::sync::mpsc::{self, SendError, Sender};
use std::thread::{self, JoinHandle};

use crate::error::StoreError;
use crate::sqlite::threads::job::WriteJob;

/// Up to this many replies the writer sends itself; a hand-over would take as long.
const BY_HAND_MAX: usize = 4;

/// The jobs of a finished transaction, and its error if it failed.
pub(crate) struct FinishedBatch {
    pub(crate) jobs: Vec<Box<dyn WriteJob>>,
    pub(crate) failure: Option<StoreError>,
}

impl FinishedBatch {
    fn answer(self) {
        for job in self.jobs {
            job.answer(self.failure.as_ref());
        }
    }
}

/// Wakes large numbers of callers, and drops their jobs, on a second thread, so that the writer can start the next
/// batch. Most programs never need it, so the thread starts with the first large batch.
#[derive(Default)]
pub(crate) struct Responder(Option<ResponderThread>);

struct ResponderThread {
    sender: Sender<FinishedBatch>,
    thread: JoinHandle<()>,
}

impl Responder {
    pub(crate) fn answer(&mut self, ended: FinishedBatch) {
        if ended.jobs.len() <= BY_HAND_MAX {
            return ended.answer();
        }
        if self.0.is_none() {
            self.0 = ResponderThread::start();
        }
        match &self.0 {
            Some(helper) => helper.answer(ended),
            // No thread available: slower, but correct.
            None => ended.answer(),
        }
    }

    /// Returns once every caller has its reply.
    pub(crate) fn close(self) {
        if let Some(ResponderThread { sender, thread }) = self.0 {
            drop(sender);
            // Fails only after a panic, which has been reported already.
            let _ = thread.join();
        }
    }
}

impl ResponderThread {
    fn start() -> Option<Self> {
        let (sender, receiver) = mpsc::channel::<FinishedBatch>();
        let serve = move || receiver.into_iter().for_each(FinishedBatch::answer);
        let thread = thread::Builder::new().name("store-answers".to_owned()).spawn(serve).ok()?;
        Some(Self { sender, thread })
    }

    fn answer(&self, ended: FinishedBatch) {
        if let Err(SendError(ended)) = self.sender.send(ended) {
            ended.answer();
        }
    }
}
