//! The commands: each takes what was typed and gives back what is to be printed.

mod accept;
mod assumptions;
mod backup;
mod breakdown;
mod chat;
mod config;
mod demo;
mod doctor;
mod export;
mod hold;
mod import;
mod init;
mod loop_command;
mod mcp;
mod project;
mod question;
mod recipe;
pub mod shell;
mod store;
mod task;
mod task_edit;
mod task_shown;
mod token;
mod up;
pub mod user_task;
mod verdict;
mod watch;
mod worker;

use tokio::runtime::{Builder, Runtime};

use crate::api::Api;
use crate::cli::{Arguments, Command, Common};
use crate::explain;
use crate::fault::{FAILED, Fault};
use crate::office::Office;

/// Threads for waiting on agents and git; the work itself is done by other programs.
const WORKERS: usize = 2;

pub fn run(arguments: Arguments) -> Result<String, Fault> {
    let Arguments { common, command } = arguments;
    // Some need neither a server nor a store.
    match &command {
        Command::Explain { what } => return explain::run(what.as_deref(), common.json),
        Command::Config => return config::show(&common),
        Command::Init(asked) => return init::run(&common, asked),
        Command::Completions(asked) => return shell::completions(asked),
        Command::Man(asked) => return shell::man(asked),
        Command::Tasks { trust } => return user_task::list(&common, *trust),
        Command::Store(about) => {
            if let Some(printed) = store::look(&common, about) {
                return printed;
            }
        }
        Command::Recipe(about) => {
            if let Some(printed) = recipe::look(&common, about) {
                return printed;
            }
        }
        _ => {}
    }
    runtime(&command)?.block_on(Box::pin(dispatch(&common, command)))
}

/// Most commands ask one thing and end: for them, threads would only be started and ended again.
fn runtime(command: &Command) -> Result<Runtime, Fault> {
    let is_at_work = matches!(
        command,
        Command::Demo(_) | Command::Up(_) | Command::Loop(_) | Command::Chat(_) | Command::Mcp { .. }
    );
    let mut builder = if is_at_work { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    if is_at_work {
        builder.worker_threads(WORKERS);
    }
    builder.enable_all().build().map_err(|error| Fault {
        message: format!("the program could not set itself up: {error}"),
        hint: "check the limits on threads and files of this session".to_owned(),
        code: FAILED,
    })
}

/// Most commands ask the API, whoever answers it; some are Baton at work themselves and need the store.
async fn dispatch(common: &Common, command: Command) -> Result<String, Fault> {
    match command {
        Command::Demo(asked) => Box::pin(demo::run(asked)).await,
        Command::Doctor => doctor::run(common).await,
        // Told where the server is, it needs no repository around it; an agent's worktree would be the wrong one.
        Command::Mcp { token, url: Some(url) } => mcp::hand_on(&url, token).await,
        Command::Mcp { token, url: None } => mcp::run(common, token).await,
        Command::Watch => watch::run(common).await,
        Command::Store(command) => store::run(common, command).await,
        Command::Backup(asked) => backup::backup(common, &asked).await,
        Command::Restore(asked) => backup::restore(common, &asked).await,
        Command::Questions(asked) if asked.follow => question::follow(common, asked.limit).await,
        Command::Ask { question, options, token } => question::ask(common, &question, &options, &token).await,
        command @ (Command::Up(_) | Command::Worker(_) | Command::Loop(_)) => {
            let office = match &command {
                Command::Worker(_) => Office::open(&worker::placed(common).await?).await?,
                _ => Office::open(common).await?,
            };
            let printed = Box::pin(at_work(&office, command)).await;
            office.close().await?;
            printed
        }
        command => {
            let api = Api::open(common).await?;
            let printed = Box::pin(asked(&api, command)).await;
            api.close().await?;
            printed
        }
    }
}

async fn at_work(office: &Office, command: Command) -> Result<String, Fault> {
    match command {
        // The longest of all commands, and the largest.
        Command::Up(options) => Box::pin(up::run(office, options)).await,
        Command::Worker(options) => Box::pin(worker::run(office, options)).await,
        Command::Loop(asked) => Box::pin(loop_command::run(office, asked)).await,
        _ => Ok(String::new()),
    }
}

async fn asked(api: &Api, command: Command) -> Result<String, Fault> {
    match command {
        Command::Task(command) => task::run(api, command).await,
        Command::Accept(accept) => accept::run(api, accept).await,
        Command::Reject { task, reason } => verdict::reject(api, &task, &reason).await,
        Command::Recycle { task, reason } => verdict::recycle(api, &task, reason).await,
        Command::Breakdown(command) => breakdown::run(api, command).await,
        Command::Questions(asked) => question::list(api, &asked).await,
        Command::Answer(answer) => question::answer(api, answer).await,
        Command::Recipe(command) => recipe::run(api, command).await,
        Command::Hold(command) => hold::run(api, command).await,
        Command::Workers => worker::list(api).await,
        Command::Token(command) => token::run(api, command).await,
        Command::Chat(chat) => Box::pin(chat::run(api, chat)).await,
        Command::Plan(asked) => project::plan(api, asked).await,
        Command::Project(command) => project::run(api, command).await,
        Command::Import(asked) => import::run(api, asked).await,
        Command::Export(asked) => export::run(api, asked).await,
        // Never get here: some need no API, others are their own program from `main` on.
        Command::Explain { .. }
        | Command::Config
        | Command::Init(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Watch
        | Command::Store(_)
        | Command::Backup(_)
        | Command::Restore(_)
        | Command::Demo(_)
        | Command::Doctor
        | Command::Up(_)
        | Command::Worker(_)
        | Command::Loop(_)
        | Command::Ask { .. }
        | Command::Mcp { .. }
        | Command::ScriptedAgent { .. }
        | Command::AgentWatchdog
        | Command::Tasks { .. }
        | Command::Do { .. } => Ok(String::new()),
    }
}
