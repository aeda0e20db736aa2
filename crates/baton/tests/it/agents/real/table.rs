//! Keeps what came of each case, one line for each, where `scripts/real-agents --table` wants it.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Real;

/// The file that the lines are added to: agent, case, what came of it, and why.
const FILE: &str = "BATON_REAL_AGENTS_RESULTS";
/// As much of a reason as a row shows.
const WHY_CHARS_MAX: usize = 120;

pub(super) fn recorded(real: &Real, case: &str, run: impl FnOnce(&Real)) {
    let Some(file) = std::env::var_os(FILE) else { return run(real) };
    if real.installed_program().is_none() {
        return;
    }
    let result = catch_unwind(AssertUnwindSafe(|| run(real)));
    let why = match &result {
        Ok(()) => String::new(),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
            // What follows is a whole document.
            let first = text.split(['\n', '{']).next().unwrap_or_default().trim_end_matches([' ', ':']);
            first.chars().take(WHY_CHARS_MAX).collect::<String>().replace('|', "/")
        }
    };
    let verdict = if result.is_ok() { "yes" } else { "no" };
    let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
    writeln!(file, "{}|{case}|{verdict}|{why}", real.preset).unwrap();
    if let Err(panic) = result {
        resume_unwind(panic);
    }
}
