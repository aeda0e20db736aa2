//! How a run is to go: go-task's flags.

use crate::ast::{OutputStyle, Vars};

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct RunOptions {
    pub verbose: bool,
    pub silent: bool,
    /// Show commands, run none.
    pub dry: bool,
    /// Run tasks that are up to date too.
    pub force: bool,
    /// Questions are answered with yes.
    pub assume_yes: bool,
    /// Questions may be asked on the terminal.
    pub may_ask: bool,
    /// Tasks of one command line run at once.
    pub parallel: bool,
    /// The first failure of tasks that run at once ends the others.
    pub failfast: bool,
    pub offline: bool,
    pub disable_fuzzy: bool,
    /// Commands read the process's standard input.
    pub stdin: bool,
    /// Commands stay in the process's group, for a terminal's job control; else each leads its own.
    pub share_group: bool,
    pub output: OutputStyle,
    /// Variables of the command line, over those of the Taskfile.
    pub globals: Vars,
    /// The words after `--`.
    pub cli_args: Vec<String>,
    /// What templates see as `TASK_EXE`; without it `task`, which commands find on their path.
    pub executable: Option<String>,
    /// Where the state of tasks is kept, instead of `.task`.
    pub state_dir: Option<String>,
}
