//! The scripted agent: a program that follows a script instead of a model, for demos and tests.
//!
//! It is a command agent like any other: prompt on standard input, text and reports on standard output, files and commits
//! in its working directory. `docs/scripted-agent.md` describes scripts, which can misbehave like real agents. It always
//! runs as its own process.

mod player;
mod script;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use player::ScriptPlayer;
pub use script::{Script, ScriptCue, ScriptError};

/// The number of the attempt, counted from 1.
pub const ATTEMPT_NUMBER: &str = "BATON_ATTEMPT_NUMBER";

/// Exit code for an invalid script: a usage error.
const BAD_SCRIPT: u8 = 2;
/// Exit code for a failed step.
const STEP_FAILED: u8 = 1;

/// Where and when a script runs.
pub struct ScriptStage<'a> {
    pub worktree: PathBuf,
    /// Where it notes what it did once for a task; without one, in the repository's git folder. Each attempt may have a
    /// repository of its own.
    pub memory: Option<PathBuf>,
    pub task: String,
    pub cue: ScriptCue,
    pub out: &'a mut dyn Write,
    pub err: &'a mut dyn Write,
}

/// Runs `script` for `prompt` and returns the exit code.
pub fn run(script: &str, prompt: &str, stage: ScriptStage<'_>) -> u8 {
    let script = match Script::parse(script) {
        Ok(script) => script,
        Err(error) => {
            let _ = writeln!(stage.err, "scripted agent: {error}");
            return BAD_SCRIPT;
        }
    };
    let (scene, steps) = script.choose(prompt, &stage.cue);
    let mut player = ScriptPlayer::new(stage, prompt);
    for (number, step) in steps.iter().enumerate() {
        match player.play(step, (scene, number)) {
            Ok(None) => {}
            Ok(Some(exit)) => return exit,
            Err(error) => {
                player.complain(&format!("{}: {error}", script::place(scene, number)));
                return STEP_FAILED;
            }
        }
    }
    0
}

/// The whole program: the script from a file, the prompt from standard input, the rest from the environment.
pub fn program(script: &Path) -> ExitCode {
    let mut err = io::stderr();
    let text = match std::fs::read_to_string(script) {
        Ok(text) => text,
        Err(error) => {
            let _ = writeln!(err, "scripted agent: cannot read {}: {error}", script.display());
            return BAD_SCRIPT.into();
        }
    };
    let mut prompt = Vec::new();
    // A truncated prompt is used as far as it goes.
    let _ = io::stdin().read_to_end(&mut prompt);
    let variable = |name| std::env::var(name).unwrap_or_default();
    let stage = ScriptStage {
        worktree: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        memory: std::env::var_os("BATON_STATE_DIR").map(|state| PathBuf::from(state).join("scripted")),
        task: variable("BATON_TASK_ID"),
        cue: ScriptCue {
            attempt: variable(ATTEMPT_NUMBER).parse().unwrap_or(1),
            resumed: variable("BATON_RESUME") == "1",
            step: variable("BATON_STEP"),
            visit: variable("BATON_STEP_VISIT").parse().unwrap_or(1),
        },
        out: &mut io::stdout(),
        err: &mut err,
    };
    run(&text, &String::from_utf8_lossy(&prompt), stage).into()
}
