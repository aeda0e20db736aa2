//! What every handler works with.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use baton_engine::desk::Desk;
use baton_engine::workshop::Workshop;
use tokio::sync::watch;

use crate::guard::Guard;
use crate::guide::Guiding;
use crate::limits::RateLimit;
use crate::mcp::Toolbox;
use crate::metrics::Metrics;

/// Shared by all requests; cheap to clone.
pub struct App(Arc<Inner>);

pub struct Inner {
    pub shop: Workshop,
    /// Who the owner is: whoever started the server. People with a token of their own are named by it.
    pub person: String,
    pub guard: Guard,
    pub rate_limit: RateLimit,
    pub metrics: Metrics,
    /// How many sockets are open; whoever ends the server waits for them.
    pub sockets: watch::Sender<u64>,
    /// Turns true when streams should deliver what is left and end.
    pub ending: watch::Receiver<bool>,
    /// Who shows a newcomer around; nobody, but for the demo.
    pub guiding: OnceLock<Guiding>,
}

impl App {
    pub fn new(shop: Workshop, person: String, guard: Guard, ending: watch::Receiver<bool>) -> Self {
        let (rate_limit, metrics) = (RateLimit::default(), Metrics::default());
        metrics.work.start_after(*shop.desk.changes().borrow());
        let (sockets, guiding) = (watch::Sender::new(0), OnceLock::new());
        Self(Arc::new(Inner { shop, person, guard, rate_limit, metrics, sockets, ending, guiding }))
    }

    /// Puts a guide's words over every page. The first one stays.
    pub fn guided_by(self, guiding: Guiding) -> Self {
        let _ = self.0.guiding.set(guiding);
        self
    }

    pub fn desk(&self) -> &Desk {
        &self.0.shop.desk
    }

    /// The tools, as this server has them.
    pub fn toolbox(&self) -> Toolbox {
        Toolbox::of(&self.0.shop, &self.0.person)
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
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
