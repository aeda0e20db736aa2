//! Sends spans to the collector, some at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_server::client::{Address, Client, ClientError};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use crate::telemetry::span::Span;

/// Spans of one delivery.
const BATCH_MAX: usize = 256;
/// How long the first span of a batch waits for others.
const GATHERING: Duration = Duration::from_secs(1);

pub struct Exporter {
    client: Client,
    path: String,
    resource: Value,
    dropped: Arc<AtomicU64>,
    /// The trouble that was told last; the same is not told again.
    told: Option<String>,
}

impl Exporter {
    pub fn new(address: Address, path: String, namespace: &str, dropped: Arc<AtomicU64>) -> Self {
        let attribute = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
        let resource = json!({ "attributes": [
            attribute("service.name", "baton"),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
            attribute("service.namespace", namespace),
        ] });
        Self { client: Client::of_server(address), path, resource, dropped, told: None }
    }

    /// Until `stop` turns true and everything that had come by then is sent.
    pub async fn run(mut self, mut waiting: mpsc::Receiver<Span>, mut stop: watch::Receiver<bool>) {
        loop {
            let mut batch = Vec::new();
            let first = tokio::select! {
                first = waiting.recv_many(&mut batch, 1) => first,
                () = stopped(&mut stop) => 0,
            };
            if first > 0 {
                tokio::select! {
                    () = sleep(GATHERING) => {}
                    () = stopped(&mut stop) => {}
                }
            }
            while batch.len() < BATCH_MAX
                && let Ok(span) = waiting.try_recv()
            {
                batch.push(span);
            }
            if batch.is_empty() {
                return;
            }
            self.deliver(&batch).await;
        }
    }

    /// What cannot be delivered is dropped: traces are worth less than what they tell of.
    async fn deliver(&mut self, batch: &[Span]) {
        let spans: Vec<Value> = batch.iter().map(Span::json).collect();
        let body = json!({ "resourceSpans": [{
            "resource": self.resource,
            "scopeSpans": [{ "scope": { "name": "baton" }, "spans": spans }],
        }] });
        let trouble = match self.client.post::<_, Value>(&self.path, &body).await {
            // A collector may answer with nothing at all; that it took them is what counts.
            Ok(_) | Err(ClientError::Garbled(_)) => None,
            Err(error) => Some(error.to_string()),
        };
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            tracing::warn!(dropped, "traces came faster than the collector took them");
        }
        if trouble.is_some() && trouble != self.told {
            tracing::warn!(trouble, "the collector took no traces");
        }
        self.told = trouble;
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // Whoever could tell is gone: that is the end, too.
    drop(stop.wait_for(|stop| *stop).await);
}
