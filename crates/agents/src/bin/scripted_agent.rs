//! The scripted agent as a program of its own: `scripted-agent SCRIPT.json`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(script) = std::env::args_os().nth(1) else {
        let _ = writeln!(std::io::stderr(), "usage: scripted-agent SCRIPT.json < PROMPT");
        return ExitCode::from(2);
    };
    baton_agents::scripted::program(Path::new(&script))
}
