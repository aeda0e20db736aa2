//! What every handler works with.

pub mod guide;
pub(crate) mod principal;

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use baton_engine::desk::Desk;
use baton_engine::workshop::Workshop;
use tokio::sync::watch;

use crate::http::guard::HttpGuard;
use crate::http::limits::RateLimit;
use crate::observe::metrics::Metrics;
use crate::state::guide::GuideFn;

/// Shared by all requests; cheap to clone.
pub struct App(Arc<AppState>);

pub struct AppState {
    pub shop: Workshop,
    /// Who the owner is: whoever started the server. People with a token of their own are named by it.
    pub person: String,
    pub guard: HttpGuard,
    pub rate_limit: RateLimit,
    pub metrics: Metrics,
    /// How many sockets are open; whoever ends the server waits for them.
    pub sockets: watch::Sender<u64>,
    /// Turns true when streams should deliver what is left and end.
    pub ending: watch::Receiver<bool>,
    /// Who shows a newcomer around; nobody, but for the demo.
    pub guide_fn: OnceLock<GuideFn>,
}

impl App {
    pub fn new(shop: Workshop, person: String, guard: HttpGuard, ending: watch::Receiver<bool>) -> Self {
        let (rate_limit, metrics) = (RateLimit::default(), Metrics::default());
        let (sockets, guide_fn) = (watch::Sender::new(0), OnceLock::new());
        Self(Arc::new(AppState { shop, person, guard, rate_limit, metrics, sockets, ending, guide_fn }))
    }

    /// Puts a guide's words over every page. The first one stays.
    pub fn with_guide(self, guide_fn: GuideFn) -> Self {
        let _ = self.0.guide_fn.set(guide_fn);
        self
    }

    pub fn desk(&self) -> &Desk {
        &self.0.shop.desk
    }

    pub fn namespace(&self) -> &str {
        &self.0.shop.place.namespace
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
