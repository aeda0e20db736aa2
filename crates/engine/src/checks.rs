//! Checks: commands of the user's, run over finished work. Their exit codes are evidence.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use baton_core::attempt::Check;
use baton_core::redact::redact;
use baton_core::text::NonBlank;
use tokio::process::Command;
use tokio::time::timeout;

/// A check that takes longer has failed.
const CHECK_TIMEOUT: Duration = Duration::from_mins(15);
/// The end of what a check printed; enough to see what is wrong.
const TAIL_CHARS: usize = 4_000;
/// What the exit code of a check is when there is none: it could not be started, or did not end.
const NO_EXIT_CODE: i32 = -1;

/// Runs all of them, in order of their names, in the worktree.
pub async fn run_all(checks: &BTreeMap<String, Vec<String>>, worktree: &Path) -> Vec<Check> {
    let mut results = Vec::new();
    for (name, command) in checks {
        let Ok(name) = NonBlank::new(name.clone()) else { continue };
        let (exit_code, output_tail) = run(command, worktree).await;
        results.push(Check { name, exit_code, output_tail });
    }
    results
}

async fn run(command: &[String], worktree: &Path) -> (i32, String) {
    let Some((program, arguments)) = command.split_first() else {
        return (NO_EXIT_CODE, "the check has no command".to_owned());
    };
    let mut process = Command::new(program);
    process.args(arguments).current_dir(worktree).stdin(Stdio::null()).kill_on_drop(true);
    match timeout(CHECK_TIMEOUT, process.output()).await {
        Err(_) => (NO_EXIT_CODE, format!("it did not end within {} minutes", CHECK_TIMEOUT.as_secs() / 60)),
        Ok(Err(error)) => (NO_EXIT_CODE, format!("{program} could not be started: {error}")),
        Ok(Ok(output)) => {
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            (output.status.code().unwrap_or(NO_EXIT_CODE), tail(&redact(&text)))
        }
    }
}

fn tail(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(TAIL_CHARS);
    text.chars().skip(skipped).collect()
}
