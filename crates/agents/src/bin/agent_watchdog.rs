//! The watchdog as a program of its own: reads the trees to watch on standard input.

use std::process::ExitCode;

fn main() -> ExitCode {
    baton_agents::process::watchdog::program()
}
