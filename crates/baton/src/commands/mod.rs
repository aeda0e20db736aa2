//! The commands: each takes what was typed and gives back what is to be printed.

mod accept;
mod breakdown;
mod demo;
mod doctor;
mod hold;
mod loop_command;
mod mcp;
mod question;
mod recipe;
mod task;
mod up;
pub mod user_task;
mod verdict;

use crate::cli::{Arguments, Command};
use crate::explain;
use crate::fault::{FAILED, Fault};
use crate::office::Office;

/// Threads for waiting on agents and git; the work itself is done by other programs.
const WORKERS: usize = 2;

pub fn run(arguments: Arguments) -> Result<String, Fault> {
    let Arguments { common, command } = arguments;
    if let Command::Explain { topic } = command {
        return Ok(explain::text(topic));
    }
    if let Command::Tasks { trust } = command {
        return user_task::list(&common, trust);
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().map_err(
            |error| Fault {
                message: format!("the program could not set itself up: {error}"),
                hint: "check the limits on threads and files of this session".to_owned(),
                code: FAILED,
            },
        )?;
    if let Command::Doctor = command {
        return runtime.block_on(doctor::run(&common));
    }
    if let Command::Demo { headless, folder } = command {
        return runtime.block_on(demo::run(headless, folder));
    }
    let command = match command {
        // Told where the server is, it needs no repository around it; an agent's worktree would be the wrong one.
        Command::Mcp { token, url: Some(url) } => {
            return runtime.block_on(mcp::hand_on(&url, token));
        }
        command => command,
    };
    runtime.block_on(async {
        let office = Office::open(&common).await?;
        let printed = Box::pin(dispatch(&office, command)).await;
        office.close().await?;
        printed
    })
}

async fn dispatch(office: &Office, command: Command) -> Result<String, Fault> {
    match command {
        Command::Task(command) => task::run(office, command).await,
        Command::Accept(accept) => accept::run(office, accept).await,
        // The longest of all commands, and the largest.
        Command::Up(options) => Box::pin(up::run(office, options)).await,
        Command::Reject { task, reason } => verdict::reject(office, &task, &reason).await,
        Command::Recycle { task, reason } => verdict::recycle(office, &task, reason).await,
        Command::Breakdown(command) => breakdown::run(office, command).await,
        Command::Questions(asked) => question::list(office, &asked).await,
        Command::Answer(answer) => question::answer(office, answer).await,
        Command::Loop(asked) => Box::pin(loop_command::run(office, asked)).await,
        Command::Ask { question, options, token } => question::ask(office, &question, &options, &token).await,
        Command::Recipe(command) => recipe::run(office, command).await,
        Command::Hold(command) => hold::run(office, command).await,
        Command::Explain { topic } => Ok(explain::text(topic)),
        Command::Mcp { token, .. } => Box::pin(mcp::run(office, token)).await,
        // Never get here: some need no store, others are their own program from `main` on.
        Command::Demo { .. }
        | Command::Doctor
        | Command::ScriptedAgent { .. }
        | Command::Tasks { .. }
        | Command::Do { .. } => Ok(String::new()),
    }
}
