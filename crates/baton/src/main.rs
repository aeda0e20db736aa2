//! `baton`: one binary for people and scripts.

mod cli;
mod commands;
mod explain;
mod fault;
mod office;
mod output;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match commands::run(arguments) {
        Ok(printed) => output::data(&printed),
        Err(fault) => output::fault(&fault),
    }
}
