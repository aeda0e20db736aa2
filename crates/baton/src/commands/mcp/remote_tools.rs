//! The tools of a running server, called over its HTTP API.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_server::client::{ApiClient, ClientError, ServerAddress};
use baton_server::mcp::{Caller, ToolAnswer, ToolProvider, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::sleep;

/// How often to check whether the list of tools has changed.
const POLL_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct RemoteTools {
    client: ApiClient,
    /// What the client knows: the list it got last, or was told to fetch again.
    known: Arc<Mutex<Option<Vec<ToolSpec>>>>,
}

#[derive(Deserialize)]
struct ToolListResponse {
    tools: Vec<ToolSpec>,
}

impl RemoteTools {
    /// Without a timeout: a tool may take as long as the command it runs or the person it asks.
    pub(crate) fn new(address: ServerAddress) -> Self {
        Self { client: ApiClient::for_server(address.without_timeout()), known: Arc::default() }
    }

    async fn fetch_list(&self) -> Result<Vec<ToolSpec>, ClientError> {
        Ok(self.client.get::<ToolListResponse>("/api/tools").await?.tools)
    }

    /// Returns whether the client knew another list.
    fn replace_known(&self, tools: &[ToolSpec]) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.replace(tools.to_vec()).is_some_and(|before| before != tools)
    }
}

impl ToolProvider for RemoteTools {
    /// Empty if the server is unreachable; a call says why.
    async fn list(&self, _: Option<Caller>) -> Vec<ToolSpec> {
        let tools = self.fetch_list().await.unwrap_or_default();
        self.replace_known(&tools);
        tools
    }

    async fn call(&self, _: Option<Caller>, name: &str, arguments: Option<Map<String, Value>>) -> ToolAnswer {
        // Keeps other characters out of the URL.
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            return ToolAnswer::error(format!("unknown tool {name:?}"));
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
            loop {
                // An unreachable server has not changed its tools.
                if let Ok(tools) = remote.fetch_list().await
                    && remote.replace_known(&tools)
                {
                    sender.send_modify(|count| *count += 1);
                }
                tokio::select! {
                    () = sender.closed() => return,
                    () = sleep(POLL_EVERY) => {}
                }
            }
        });
        receiver
    }
}
