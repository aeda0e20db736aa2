//! `baton mcp`: the tools on standard input and output, handed on to the running server or on the store alone.

use baton_engine::asking::{BadSecret, Door, Secret};
use baton_engine::error::EngineError;
use baton_engine::mailbox::Mailbox;
use baton_engine::settings::Settings;
use baton_engine::user_tasks::{Site, UserTasks};
use baton_server::client::ServerAddress;
use baton_server::mcp::{Caller, ToolAnswer, ToolProvider, ToolSpec, Toolbox, serve_stdio};
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::cli::Common;
use crate::fault::{FAILED, Fault, REFUSED};
use crate::office::{self, Office};
use crate::remote::Remote;
use crate::server_file;

/// To the server at `url`, which may be the address of its `/mcp`.
pub async fn hand_on(url: &str, token: Option<String>) -> Result<String, Fault> {
    let base = url.trim_end_matches('/').trim_end_matches("/mcp");
    let address = ServerAddress::new(base, token)
        .map_err(|error| Fault::usage(error.to_string(), "it looks like http://127.0.0.1:5678"))?;
    serve(Remote::new(address)).await
}

pub async fn run(common: &Common, token: Option<String>) -> Result<String, Fault> {
    let place = office::find(common)?.0;
    if let Some(address) = server_file::running(&place, token.clone()).await {
        return serve(Remote::new(address)).await;
    }
    let office = Office::at(place, common.json).await?;
    let served = Box::pin(alone(&office, token)).await;
    office.close().await?;
    served
}

async fn alone(office: &Office, token: Option<String>) -> Result<String, Fault> {
    let settings = Settings::load(&office.place.settings_path()).map_err(EngineError::from)?;
    let toolbox = Toolbox {
        desk: office.desk.clone(),
        door: Door::new(office.desk.clone(), settings.asking.expires_after()),
        mailbox: Mailbox::default(),
        user_tasks: UserTasks::new(&office.place.state_dir, settings.user_tasks),
        site: Site::of_person(&office.place.root),
        person: office.person().to_owned(),
        patience: settings.asking.patience(),
    };
    let caller = match token {
        Some(token) => known(&toolbox, &token).await?,
        None => toolbox.person(),
    };
    serve(Alone { toolbox, caller }).await
}

async fn known(toolbox: &Toolbox, token: &str) -> Result<Caller, Fault> {
    let secret: Secret = token
        .parse()
        .map_err(|error: BadSecret| Fault::usage(error.to_string(), "it is in the agent's environment"))?;
    toolbox.find_caller(secret).await?.ok_or_else(|| Fault {
        message: "the attempt this token belongs to is over".to_owned(),
        hint: "leave BATON_TOKEN unset to use the tools as yourself".to_owned(),
        code: REFUSED,
    })
}

async fn serve(tools: impl ToolProvider) -> Result<String, Fault> {
    serve_stdio(tools).await.map(|()| String::new()).map_err(|message| Fault {
        message,
        hint: "this command is for an MCP client, which starts it and speaks first".to_owned(),
        code: FAILED,
    })
}

/// On the store alone, always for the same caller.
#[derive(Clone)]
struct Alone {
    toolbox: Toolbox,
    caller: Caller,
}

impl ToolProvider for Alone {
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
