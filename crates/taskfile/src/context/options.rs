//! The options of a run: go-task's flags.

use crate::ast::{OutputStyle, Vars};

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RunOptions {
    pub verbose: bool,
    pub silent: bool,
    /// Print commands without running them.
    pub dry: bool,
    /// Run tasks that are up to date too.
    pub force: bool,
    /// Answer prompts with yes.
    pub assume_yes: bool,
    /// Prompts may be shown on the terminal.
    pub may_ask: bool,
    /// Run the named tasks concurrently.
    pub parallel: bool,
    /// The first failure cancels concurrent tasks.
    pub failfast: bool,
    pub offline: bool,
    pub disable_fuzzy: bool,
    /// Commands inherit standard input.
    pub stdin: bool,
    /// Commands share the process group, for terminal job control; otherwise each leads its own.
    pub share_group: bool,
    pub output: OutputStyle,
    /// Variables of the command line, which override the Taskfile's.
    pub globals: Vars,
    /// The arguments after `--`.
    pub cli_args: Vec<String>,
    /// Environment variables of every command, by which its processes can be found.
    pub marks: Vec<(String, String)>,
    /// The value of `TASK_EXE`; defaults to `task`, which commands find on their `PATH`.
    pub executable: Option<String>,
    /// Where task state is stored, instead of `.task`.
    pub state_dir: Option<String>,
}
