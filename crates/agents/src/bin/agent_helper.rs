//! The programs that stand between Baton and an agent, for this crate's tests: `agent-helper fence|keep WORDS…`.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match words.split_first() {
        Some((word, rest)) if word == "fence" => baton_agents::fence::program(rest),
        Some((word, rest)) if word == "keep" => baton_agents::process::keeper::program(rest),
        _ => ExitCode::from(2),
    }
}
