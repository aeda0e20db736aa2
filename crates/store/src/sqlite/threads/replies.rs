//! Telling callers what came of their work, once it is on the disk.

use std::sync::mpsc::{self, SendError, Sender};
use std::thread::{self, JoinHandle};

use crate::error::StoreError;
use crate::sqlite::threads::job::WriteJob;

/// So many the writer answers itself: handing them on would take as long.
const BY_HAND_MAX: usize = 4;

/// The jobs of a transaction that has ended, and what it failed with.
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

/// Waking a crowd of callers, and letting go of what they brought, is left to a second thread, so that the writer
/// is free for whoever asks again first. Most programs never see a crowd, so it begins with the first one.
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
            // No thread to be had: slower, but answered.
            None => ended.answer(),
        }
    }

    /// Returns once everybody is answered.
    pub(crate) fn close(self) {
        if let Some(ResponderThread { sender, thread }) = self.0 {
            drop(sender);
            // Only a panic would be an error here, and it has been shown already.
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
