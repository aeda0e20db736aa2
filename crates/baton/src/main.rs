//! `baton`: one binary for people and scripts.

mod cli;
mod explain;
mod output;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match arguments.command {
        cli::Command::Explain { topic } => output::data(&explain::text(topic)),
    }
}
