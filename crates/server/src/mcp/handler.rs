//! The MCP protocol handler. It knows callers and texts, not what a tool does.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Extensions, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool, ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::mcp::{Caller, SideEffects, ToolAnswer, ToolSpec};

/// The tools behind the protocol: the toolbox itself, or a server that has one.
///
/// The caller is none if the connection has a fixed caller, as on stdio.
pub trait ToolProvider: Clone + Send + Sync + 'static {
    fn list(&self, caller: Option<Caller>) -> impl Future<Output = Vec<ToolSpec>> + Send;
    fn call(
        &self,
        caller: Option<Caller>,
        name: &str,
        arguments: Option<Map<String, Value>>,
    ) -> impl Future<Output = ToolAnswer> + Send;
    /// Changes whenever the tool list changes.
    fn changes(&self, caller: Option<Caller>) -> watch::Receiver<u64>;
}

/// How often progress is reported to a waiting client, which also detects that it is gone.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// One client connection.
#[derive(Clone)]
pub struct McpHandler<T> {
    tools: T,
}

const INSTRUCTIONS: &str = "Baton gives you a queue of tasks, a way to ask the human, and the project's own commands. \
Ask with ask_user only what you cannot find out yourself; end your step with report_outcome.";

impl<T: ToolProvider> McpHandler<T> {
    pub fn new(tools: T) -> Self {
        Self { tools }
    }
}

impl<T: ToolProvider> ServerHandler for McpHandler<T> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("baton", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.list(caller(&context.extensions)).await.into_iter().map(tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let called = self.tools.call(caller(&context.extensions), &request.name, request.arguments);
        let mut called = pin!(called);
        let mut ticks = 0_u32;
        loop {
            tokio::select! {
                answer = &mut called => return Ok(result(answer).into()),
                // The client gave up; changes already committed stay.
                () = context.ct.cancelled() => {
                    return Ok(result(ToolAnswer::error("call cancelled")).into());
                }
                () = sleep(SIGN_OF_LIFE) => {
                    ticks += 1;
                    send_progress(&context, ticks).await;
                }
            }
        }
    }

    /// Older protocol revisions: notifies about tool list changes while the client is connected.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.tools.changes(caller(&context.extensions));
        tokio::spawn(async move {
            while !context.peer.is_transport_closed() {
                tokio::select! {
                    told = changes.changed() => {
                        if told.is_err() || context.peer.notify_tool_list_changed().await.is_err() {
                            return;
                        }
                    }
                    () = sleep(SIGN_OF_LIFE) => {}
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    /// Newer protocol revisions: the client subscribes.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.tools.changes(caller(&context.request_context().extensions));
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                told = changes.changed() => {
                    if told.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// The authenticated caller of an HTTP request.
fn caller(extensions: &Extensions) -> Option<Caller> {
    extensions.get::<Parts>()?.extensions.get::<Caller>().cloned()
}

async fn send_progress(context: &RequestContext<RoleServer>, ticks: u32) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let sign = ProgressNotificationParam::new(token, f64::from(ticks));
    // A lost client is noticed by the call itself.
    let _ = context.peer.notify_progress(sign).await;
}

fn tool(spec: ToolSpec) -> Tool {
    let schema = spec.input_schema.as_object().cloned().unwrap_or_default();
    let runs_anything = spec.touches == SideEffects::Anything;
    let hints = ToolAnnotations::new()
        .read_only(spec.touches == SideEffects::Nothing)
        .destructive(runs_anything)
        .open_world(runs_anything);
    Tool::new(spec.name, spec.description, Arc::new(schema)).annotate(hints)
}

fn result(answer: ToolAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    if answer.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }
}

/// Serves MCP on stdio until the client disconnects.
pub async fn serve_stdio<T: ToolProvider>(tools: T) -> Result<(), String> {
    let running = McpHandler::new(tools).serve(rmcp::transport::stdio()).await;
    let running = running.map_err(|error| format!("the client did not initialize: {error}"))?;
    running.waiting().await.map(drop).map_err(|error| format!("the connection broke: {error}"))
}
