//! `baton`: one binary for people and scripts.

mod cli;
mod commands;
mod editor;
mod explain;
mod fault;
mod office;
mod output;
mod plan_text;
mod server_file;
mod yaml;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    // An agent that Baton starts, not a command of Baton's: its streams and its exit code are its own.
    if let cli::Command::ScriptedAgent { script } = &arguments.command {
        return baton_engine::scripted::program(script);
    }
    match commands::run(arguments) {
        Ok(printed) => output::data(&printed),
        Err(fault) => output::fault(&fault),
    }
}
