//! `baton`: one binary for people and scripts.

mod agents_door;
mod api;
mod browser;
mod cli;
mod commands;
mod completing;
mod editor;
mod explain;
mod fault;
#[cfg(test)]
#[path = "../../core/tests/it/kept_page.rs"]
mod kept_page;
mod landing;
mod office;
mod output;
mod plan_text;
#[cfg(test)]
mod reference;
mod remote;
mod server_file;
mod signals;
mod task_text;
mod telemetry;
mod terminal;
mod typed;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;

fn main() -> ExitCode {
    // Commands of a Taskfile that call `task` find this program by that name.
    let mut words = std::env::args_os();
    let name = words.next().map(PathBuf::from);
    if name.as_deref().and_then(Path::file_name).is_some_and(|name| name == "task") {
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        return output::exit(baton_engine::task_cli::main(&words));
    }
    // The shell asks what to offer behind Tab; this answers and ends there, or finds that it was not asked.
    CompleteEnv::with_factory(cli::Arguments::command).var(commands::shell::ASKED_BY).bin("baton").complete();
    let arguments = cli::Arguments::parse();
    // An agent that Baton starts, not a command of Baton's: its streams and its exit code are its own.
    if let cli::Command::ScriptedAgent { script } = &arguments.command {
        return baton_engine::scripted::program(script);
    }
    if matches!(arguments.command, cli::Command::AgentWatchdog) {
        return baton_engine::watchdog::program();
    }
    // Started with the first agent, if there ever is one.
    if let Ok(program) = std::env::current_exe() {
        baton_engine::watchdog::enable(program, ["agent-watchdog"]);
    }
    // A user task of a person's: its streams and its exit code are its own too.
    if let cli::Command::Do { name, timeout, args } = &arguments.command {
        return match commands::user_task::run(&arguments.common, name, *timeout, args) {
            Ok(code) => output::exit(code),
            Err(fault) => output::fault(&fault),
        };
    }
    match commands::run(arguments) {
        Ok(printed) => output::data(&printed),
        Err(fault) => output::fault(&fault),
    }
}
