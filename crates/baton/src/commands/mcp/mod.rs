//! `baton mcp`: MCP tools on standard input and output, forwarded to the running server or run on the store.

pub(crate) mod remote_tools;

use baton_core::people::toolset::ClientPowers;
use baton_engine::attempt::mailbox::Mailbox;
use baton_engine::base::attempt_secret::{AttemptSecret, BadSecret};
use baton_engine::user_tasks::Site;
use baton_server::client::ServerAddress;
use baton_server::mcp::{Caller, ToolAnswer, ToolProvider, ToolSpec, Toolbox, serve_stdio};
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::cli::McpCaller;
use crate::commands::mcp::remote_tools::RemoteTools;
use crate::context::server_file;
use crate::context::{self, CliContext};
use crate::error::{CliError, FAILED};
use crate::options::GlobalOptions;

/// For whom the tools are served.
pub(crate) struct McpClient {
    /// An attempt's; without one the client is the person's own.
    token: Option<String>,
    /// What the person lets it decide.
    powers: ClientPowers,
}

impl McpClient {
    pub(crate) fn new(
        token: Option<String>,
        caller: Option<McpCaller>,
        powers: ClientPowers,
    ) -> Result<Self, CliError> {
        // The claim alone is not enough: a process of an attempt is recognised whatever it sends.
        let token = token.filter(|_| caller != Some(McpCaller::Person));
        if token.is_some() && powers != ClientPowers::default() {
            return Err(CliError::usage(
                "--allow is for your own client, and a token of an attempt is set",
                "unset BATON_TOKEN, or add --as person",
            ));
        }
        Ok(Self { token, powers })
    }
}

/// Forwards calls to the server at `url`, with or without `/mcp` at its end.
pub(crate) async fn proxy(url: &str, client: McpClient) -> Result<String, CliError> {
    let base = url.trim_end_matches('/').trim_end_matches("/mcp");
    let address = ServerAddress::new(base, client.token)
        .map_err(|error| CliError::usage(error.to_string(), "use a URL such as http://127.0.0.1:5678"))?;
    serve(RemoteTools::new(address.allowing(client.powers))).await
}

pub(crate) async fn run(options: &GlobalOptions, client: McpClient) -> Result<String, CliError> {
    let place = context::find(options)?.0;
    if let Some(address) = server_file::running(&place, client.token.clone()).await {
        return serve(RemoteTools::new(address.allowing(client.powers))).await;
    }
    let secret = client.token.as_deref().map(secret_of).transpose()?;
    let context = match &secret {
        Some(secret) => CliContext::open_for_attempt(place, options.json, secret).await?,
        None => CliContext::open_at(place, options.json).await?,
    };
    let served = Box::pin(serve_store(&context, client.powers, secret)).await;
    context.close().await?;
    served
}

async fn serve_store(
    context: &CliContext,
    powers: ClientPowers,
    secret: Option<AttemptSecret>,
) -> Result<String, CliError> {
    let settings = context.settings()?;
    let workspace = context.workspace(settings);
    let toolbox = Toolbox {
        tasks: context.tasks.clone(),
        gateway: workspace.agents.gateway(),
        mailbox: Mailbox::default(),
        user_tasks: workspace.agents.user_tasks,
        projects: workspace.projects,
        landing: workspace.landing,
        site: Site::of_person(&context.place.root),
        person: context.person().to_owned(),
        node: workspace.node,
    };
    let caller = match secret {
        Some(secret) => caller_of(&toolbox, secret).await?,
        None => toolbox.person_with(powers),
    };
    // On the heap: a session holds every tool's state.
    Box::pin(serve(LocalTools { toolbox, caller })).await
}

fn secret_of(token: &str) -> Result<AttemptSecret, CliError> {
    token.parse().map_err(|error: BadSecret| {
        CliError::usage(error.to_string(), "take it from BATON_TOKEN in the agent's environment")
    })
}

async fn caller_of(toolbox: &Toolbox, secret: AttemptSecret) -> Result<Caller, CliError> {
    toolbox.find_caller(secret).await?.ok_or_else(|| {
        CliError::refused(
            "the attempt of this token has ended",
            "unset BATON_TOKEN to use the tools as yourself",
        )
    })
}

async fn serve(tools: impl ToolProvider) -> Result<String, CliError> {
    serve_stdio(tools).await.map(|()| String::new()).map_err(|message| CliError {
        message,
        hint: "an MCP client starts this command and sends the first message".to_owned(),
        code: FAILED,
        reason: None,
    })
}

/// Tools on the store, always for the same caller.
#[derive(Clone)]
struct LocalTools {
    toolbox: Toolbox,
    caller: Caller,
}

impl ToolProvider for LocalTools {
    async fn list(&self, _: Option<Caller>) -> Vec<ToolSpec> {
        self.toolbox.list_tools(&self.caller)
    }

    async fn call(&self, _: Option<Caller>, name: &str, arguments: Option<Map<String, Value>>) -> ToolAnswer {
        self.toolbox.call_tool(&self.caller, name, arguments).await
    }

    fn changes(&self, _: Option<Caller>) -> watch::Receiver<u64> {
        self.toolbox.changes(Some(self.caller.clone()))
    }
}
