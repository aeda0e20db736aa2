//! The tools of a running server, over its small API. One request a call; the server is on this machine.

use std::time::Duration;

use baton_server::client::{ApiClient, ClientError, ServerAddress};
use baton_server::mcp::{Caller, ToolAnswer, ToolProvider, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::sleep;

/// How often it is looked whether other tools are on offer.
const LOOK_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub struct Remote {
    client: ApiClient,
}

#[derive(Deserialize)]
struct Offered {
    tools: Vec<ToolSpec>,
}

impl Remote {
    /// A tool may take as long as the command it runs, or the person it asks.
    pub fn new(address: ServerAddress) -> Self {
        Self { client: ApiClient::for_server(address.without_timeout()) }
    }

    async fn offered(&self) -> Result<Vec<ToolSpec>, ClientError> {
        Ok(self.client.get::<Offered>("/api/tools").await?.tools)
    }
}

impl ToolProvider for Remote {
    /// A server that is gone offers nothing; a call says why.
    async fn list(&self, _: Option<Caller>) -> Vec<ToolSpec> {
        self.offered().await.unwrap_or_default()
    }

    async fn call(&self, _: Option<Caller>, name: &str, arguments: Option<Map<String, Value>>) -> ToolAnswer {
        // Names of ours are plain; any other is not there.
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            return ToolAnswer::error(format!("there is no tool {name:?}"));
        }
        let arguments = arguments.unwrap_or_default();
        match self.client.post(&format!("/api/tools/{name}"), &arguments).await {
            Ok(answer) => answer,
            Err(ClientError::Refused(refusal)) => {
                ToolAnswer::error(format!("{}\n{}", refusal.message, refusal.hint))
            }
            Err(error) => ToolAnswer::error(error.to_string()),
        }
    }

    fn changes(&self, _: Option<Caller>) -> watch::Receiver<u64> {
        let (sender, receiver) = watch::channel(0);
        let remote = self.clone();
        tokio::spawn(async move {
            let mut before = None;
            loop {
                // A server that cannot be reached just now has not changed its tools.
                if let Ok(now) = remote.offered().await {
                    let is_first = before.is_none();
                    if before.as_ref() != Some(&now) {
                        before = Some(now);
                        if !is_first {
                            sender.send_modify(|count| *count += 1);
                        }
                    }
                }
                tokio::select! {
                    () = sender.closed() => return,
                    () = sleep(LOOK_EVERY) => {}
                }
            }
        });
        receiver
    }
}
