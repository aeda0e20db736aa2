//! What all handlers share, and who makes a request.

pub(crate) mod call_turns;
mod event_cache;
pub mod guide;
pub(crate) mod principal;
pub(crate) mod waiting_count;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

use baton_core::base::id::AttemptId;
use baton_engine::services::workspace::Workspace;
use baton_engine::tasks::service::TaskService;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::http::error::{ApiError, Code};
use crate::http::guard::HttpGuard;
use crate::http::limits::{RateLimit, STREAMS_MAX};
use crate::observe::metrics::Metrics;
use crate::state::call_turns::CallTurns;
use crate::state::event_cache::EventCache;
use crate::state::guide::GuideFn;
use crate::state::waiting_count::CountedWaiting;

/// The application state. Cheap to clone.
pub struct App(Arc<AppState>);

pub struct AppState {
    pub workspace: Workspace,
    /// The owner's name. Other people are named by their access token.
    pub person: String,
    pub guard: HttpGuard,
    pub rate_limit: RateLimit,
    pub guess_limit: RateLimit,
    /// Calls with a key that are being carried out.
    pub(crate) calls: CallTurns,
    /// What was refused to agents and recorded already.
    pub refused: Mutex<BTreeSet<(AttemptId, String)>>,
    pub metrics: Metrics,
    /// The newest events, for all streams.
    pub events: EventCache,
    /// Places for event streams and sockets.
    pub streams: Arc<Semaphore>,
    /// Open sockets; shutdown waits for them.
    pub sockets: watch::Sender<u64>,
    /// True once streams should deliver the remaining events and end.
    pub ending: watch::Receiver<bool>,
    /// What waits for people, as it was last counted.
    pub(crate) waiting: Mutex<Option<CountedWaiting>>,
    /// Set only in the demo.
    pub guide_fn: OnceLock<GuideFn>,
}

impl App {
    pub fn new(
        workspace: Workspace,
        person: String,
        guard: HttpGuard,
        ending: watch::Receiver<bool>,
    ) -> Self {
        let (rate_limit, metrics) = (RateLimit::of_requests(), Metrics::default());
        metrics.work.start_after(*workspace.tasks.changes().borrow());
        let (sockets, guide_fn) = (watch::Sender::new(0), OnceLock::new());
        Self(Arc::new(AppState {
            workspace,
            person,
            guard,
            rate_limit,
            guess_limit: RateLimit::of_guesses(),
            calls: CallTurns::default(),
            refused: Mutex::default(),
            metrics,
            events: EventCache::default(),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            sockets,
            ending,
            waiting: Mutex::default(),
            guide_fn,
        }))
    }

    /// Shows a guide above every page.
    pub fn with_guide(self, guide_fn: GuideFn) -> Self {
        let _ = self.0.guide_fn.set(guide_fn);
        self
    }

    /// A place for a stream, until it is dropped.
    pub(crate) fn stream_place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        Arc::clone(&self.0.streams).try_acquire_owned().map_err(|_| {
            ApiError::new(
                Code::Unavailable,
                "too many event streams and sockets are open",
                "close some (each open page holds one), or try again later",
            )
        })
    }

    pub fn tasks(&self) -> &TaskService {
        &self.0.workspace.tasks
    }

    pub fn namespace(&self) -> &str {
        &self.0.workspace.place.namespace
    }
}

impl Clone for App {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}
