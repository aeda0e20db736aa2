//! `baton`, the command line.

mod cli;
mod commands;
mod context;
mod documents;
mod error;
mod explain;
#[cfg(test)]
#[path = "../../core/tests/it/kept_page.rs"]
mod kept_page;
mod options;
mod output;
#[cfg(test)]
mod reference;
mod telemetry;
mod terminal;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use baton_engine::user_tasks::fenced_run;
use clap::{CommandFactory, FromArgMatches};
use clap_complete::CompleteEnv;

/// The modes in which Baton starts this program around an agent.
const AGENT_FENCE: &str = "agent-fence";
const AGENT_KEEPER: &str = "agent-keeper";
/// The mode in which it runs a user task inside a fence.
const AGENT_TASK: &str = "agent-task";

fn main() -> ExitCode {
    // Taskfile commands that call `task` get this binary under that name.
    let mut words = std::env::args_os();
    let name = words.next().map(PathBuf::from);
    if name.as_deref().and_then(Path::file_name).is_some_and(|name| name == "task") {
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        return output::exit(baton_engine::task_cli::main(&words));
    }
    // Between Baton and an agent: no options, no settings, and nothing of the agent's words is read.
    let words: Vec<OsString> = words.collect();
    match words.split_first() {
        Some((first, rest)) if first == AGENT_FENCE => return baton_engine::fence::program(rest),
        Some((first, rest)) if first == AGENT_KEEPER => return baton_engine::keeper::program(rest),
        Some((first, [])) if first == AGENT_TASK => return fenced_run::program(),
        _ => {}
    }
    // Exits here if the shell asked for completions.
    CompleteEnv::with_factory(cli::Cli::command)
        .var(commands::shell::COMPLETE_VARIABLE)
        .bin("baton")
        .complete();
    let given = cli::with_groups(cli::Cli::command()).try_get_matches();
    let arguments = match given.and_then(|given| cli::Cli::from_arg_matches(&given)) {
        Ok(arguments) => arguments,
        Err(error) => return output::usage_error(&error),
    };
    // Starts nothing before the first agent does.
    if let Ok(program) = std::env::current_exe() {
        baton_engine::keeper::enable(program.clone(), [AGENT_KEEPER]);
        baton_engine::cgroup::enable();
        baton_engine::fence::enable(program.clone(), [AGENT_FENCE]);
        fenced_run::enable(program.clone(), AGENT_TASK);
        baton_engine::watchdog::enable(program, ["agent-watchdog"]);
    }
    let is_json = arguments.options.json;
    match commands::run(arguments) {
        Ok(code) => code,
        Err(error) => output::error(&error, is_json),
    }
}
