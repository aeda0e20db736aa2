//! Runs the command line, from arguments to exit code.

use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ast::{SchemaVersion, TaskfileWarning};
use crate::context::{
    ProjectPaths, RunOptions, TaskCall, TaskEnvironment, TaskRunError, TaskRunErrorKind, TaskfileContext,
};
use crate::listing::{self, JsonLayout};
use crate::load::{LoadError, ProjectTree, find_taskfile, load};
use crate::output::{Console, ProcessConsole, Stream};
use crate::run::TaskRunner;
use crate::shell::{CancelReason, CancelScope, CancelToken, TaskShim, reveal};
use crate::template::System;

use super::flags::TaskFlags;
use super::init::init;
use super::signals::cancel_on_signal;
use super::usage::USAGE;

/// Exit codes for an invalid command line, and for errors without a code of their own.
const BAD_USAGE: i32 = 2;
const FAILED: i32 = 1;

/// Acts as go-task's `task` with these arguments (without the program name) and returns the exit code.
pub fn main(words: &[String]) -> i32 {
    main_with(words, &TaskCliOptions::default())
}

/// What a caller of the command line adds to its arguments.
#[derive(Debug, Clone, Default)]
pub struct TaskCliOptions {
    /// The time limit, after which everything it started is killed.
    pub limit: Option<Duration>,
    /// The checkout that the Taskfile belongs to; its tasks run in the directory given by `-d`. Otherwise go-task's
    /// rules for directories apply.
    pub definitions: Option<PathBuf>,
    /// Environment variables of every command, by which the caller finds its processes.
    pub marks: Vec<(String, String)>,
}

/// Like [`main`], for a caller with more to say.
pub fn main_with(words: &[String], caller: &TaskCliOptions) -> i32 {
    let console = ProcessConsole;
    let flags = match TaskFlags::parse(words) {
        Ok(flags) => flags,
        Err(message) => {
            console.write(Stream::Err, format!("{USAGE}\n{message}\n").as_bytes());
            return BAD_USAGE;
        }
    };
    let fail = |message: &str| {
        console.write(Stream::Err, format!("{message}\n").as_bytes());
        FAILED
    };
    if flags.version {
        console.write(Stream::Out, format!("{}\n", SchemaVersion::CURRENT).as_bytes());
        return 0;
    }
    if flags.help {
        console.write(Stream::Err, USAGE.as_bytes());
        return 0;
    }
    if flags.experiments || flags.completion.is_some() {
        return fail("task: experiments and shell completion are not supported");
    }
    if let Err(words) = flags.validate() {
        return fail(words);
    }
    let current = match std::env::current_dir() {
        Ok(current) => current,
        Err(error) => return fail(&format!("task: cannot determine the current directory: {error}")),
    };
    if flags.init {
        return match init(&current) {
            Ok(words) => {
                console.write(Stream::Out, words.as_bytes());
                0
            }
            Err(words) => fail(&words),
        };
    }
    match with_taskfile(&flags, &current, &console, caller) {
        Ok(code) => code,
        Err(error) => report(&error, &flags, &console),
    }
}

fn report(error: &TaskRunError, flags: &TaskFlags, console: &dyn Console) -> i32 {
    let mut text = format!("{}\n", reveal(&error.to_string()));
    if std::io::stderr().is_terminal()
        && let Some(hint) = error.hint()
    {
        text = format!("{text}{hint}\n");
    }
    console.write(Stream::Err, text.as_bytes());
    if flags.exit_code { error.exit_code() } else { error.code() }
}

fn with_taskfile(
    flags: &TaskFlags,
    current: &Path,
    console: &ProcessConsole,
    caller: &TaskCliOptions,
) -> Result<i32, TaskRunError> {
    let limit = caller.limit;
    let home = flags.global.then(|| std::env::var("HOME").unwrap_or_default());
    let found = find_taskfile(current, home.as_deref().or(flags.dir.as_deref()), flags.taskfile.as_deref())?;
    let environment = TaskEnvironment::from_process();
    let tree = caller.definitions.clone().map(|definitions| ProjectTree {
        definitions,
        dir: found.dir.clone(),
        copy_of: None,
    });
    let host = System::new(found.dir.clone());
    let loaded = load(&found.taskfile, current, tree.as_ref(), &environment.values(), &host)?;
    // The program exits after this, so freeing would be wasted time.
    let loaded = Box::leak(Box::new(loaded));
    warn(&loaded.warnings, console);
    let place = ProjectPaths { dir: found.dir, taskfile: found.taskfile, user_dir: current.to_owned(), tree };
    let mut options = options(flags);
    // With a time limit, commands need their own group so that killing them does not kill us.
    options.share_group &= limit.is_none();
    options.marks.clone_from(&caller.marks);
    let task_shim = TaskShim::current();
    let mut scope = CancelScope::default();
    if !flags.lists() && !flags.summary && !flags.dry {
        let cancel =
            CancelToken::new().map_err(|source| LoadError::Read { path: PathBuf::from("a pipe"), source })?;
        cancel_on_signal(&cancel);
        scope = scope.with_token(cancel);
    }
    if let Some(limit) = limit {
        scope = scope.with_timeout(limit);
    }
    let until = scope.clone();
    let context = TaskfileContext::new(
        &loaded.taskfile,
        &place,
        &options,
        console,
        &environment,
        task_shim.as_ref(),
        scope,
    )?;
    if flags.lists() {
        return print_list(&context, flags);
    }
    let tasks = if flags.tasks.is_empty() { &["default".to_owned()][..] } else { &flags.tasks };
    let mut calls: Vec<TaskCall> = tasks.iter().map(TaskCall::new).collect();
    run(&context, flags, &mut calls).map_err(|error| match (until.cancel_reason(), limit) {
        (Some(CancelReason::DeadlinePassed), Some(limit)) => {
            TaskRunErrorKind::TimeLimit { task: tasks.join(" "), limit }.into()
        }
        _ => error,
    })?;
    Ok(0)
}

fn print_list(context: &TaskfileContext<'_>, flags: &TaskFlags) -> Result<i32, TaskRunError> {
    let (all, order) = (flags.list_all, flags.order());
    let found = if flags.json {
        listing::print_json(
            context,
            all,
            order,
            JsonLayout { with_status: !flags.no_status, nested: flags.nested },
        )?
    } else if flags.silent {
        listing::print_names(context, all, order);
        true
    } else {
        listing::print_table(context, all, order)?
    };
    Ok(if found { 0 } else { FAILED })
}

fn run(context: &TaskfileContext<'_>, flags: &TaskFlags, calls: &mut [TaskCall]) -> Result<(), TaskRunError> {
    let runner = TaskRunner::new(context);
    if flags.watch {
        let task = calls.first().map(|c| c.task.clone()).unwrap_or_default();
        return Err(TaskRunErrorKind::Watch { task }.into());
    }
    if flags.status {
        return runner.status(calls);
    }
    let missing = calls.iter_mut().find_map(|call| runner.check(call).err());
    if let Some(error) = missing {
        if matches!(*error.kind, TaskRunErrorKind::NotFound { .. }) {
            listing::print_table(context, false, flags.order())?;
        }
        return Err(error);
    }
    if flags.summary {
        return listing::print_summaries(context, calls);
    }
    runner.run(calls)
}

fn options(flags: &TaskFlags) -> RunOptions {
    RunOptions {
        verbose: flags.verbose,
        silent: flags.silent,
        dry: flags.dry || flags.status,
        force: flags.force,
        assume_yes: flags.yes,
        may_ask: stdin().is_terminal() && stdout().is_terminal(),
        parallel: flags.parallel,
        failfast: flags.failfast,
        offline: flags.offline,
        disable_fuzzy: flags.disable_fuzzy,
        stdin: true,
        // In a terminal the whole job is one group: Ctrl-C reaches every command, and commands can read.
        share_group: stdin().is_terminal(),
        output: flags.output.clone(),
        globals: flags.globals.clone(),
        cli_args: flags.cli_args.clone(),
        executable: std::env::args().next(),
        state_dir: flags.temp_dir.clone(),
        marks: Vec::new(),
    }
}

/// Prints warnings on a terminal only, so that redirected output stays go-task's.
fn warn(warnings: &[(PathBuf, TaskfileWarning)], console: &dyn Console) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    for (file, warning) in warnings {
        let at = warning.position;
        console.write(
            Stream::Err,
            format!("task: warning: {}:{}:{}: {}\n", file.display(), at.line, at.column, warning.message)
                .as_bytes(),
        );
    }
}
