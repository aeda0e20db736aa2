//! User tasks in a fence: Baton's own program runs the Taskfile inside, so that also what no command does (a redirection, a
//! glob, a built-in) happens there.
//!
//! The definitions are bound to be read as they are in the person's checkout, which the fence hides otherwise. The order goes
//! in by standard input; the output comes back in lines of JSON, both streams apart, and the exit code is the program's own.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use baton_agents::driver::run_result::ProcessExit;
use baton_agents::fence::FenceRequest;
use baton_agents::process::environment::AgentEnvironment;
use baton_agents::process::piped_run::{PipedEnd, PipedRun};
use baton_taskfile::{Console, OutputTarget, ProjectTree, Stream, TaskEnvironment, TaskInvocation, Taskfile};
use serde::{Deserialize, Serialize};

use crate::base::ids::Ids;
use crate::base::run_fence::RunFence;
use crate::user_tasks::output::{fault_of, out_of_memory};
use crate::user_tasks::{Site, TASKFILE, UserTaskError};

/// Bytes of output in one line, so that a line stays short however they are escaped.
const FRAME_BYTES_MAX: usize = 16 * 1024;
/// How much longer than the task its program may take, to end what it has started.
const ENDING_PATIENCE: Duration = Duration::from_secs(20);
/// Where a task keeps what it remembers between runs.
const MEMORY: &str = "TASK_TEMP_DIR";

static RUNNER: OnceLock<(PathBuf, OsString)> = OnceLock::new();

/// From now on user tasks in a fence are run by `program word`, which must call [`program`].
pub fn enable(program: PathBuf, word: impl Into<OsString>) {
    RUNNER.get_or_init(|| (program, word.into()));
}

/// What is to be run, as the program inside reads it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TaskOrder {
    root: PathBuf,
    copy_of: Option<PathBuf>,
    folder: PathBuf,
    name: String,
    args: Vec<String>,
    timeout_ms: Option<u64>,
    /// Both streams in one, as they come.
    is_combined: bool,
}

/// One line of the program's output. Bytes are written as the characters of the same numbers, so that none is lost.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutputFrame {
    Out(String),
    Err(String),
    /// The run is over; what went wrong, if it was not a command's own exit code.
    End(Option<String>),
}

/// How a run ended; its output went to the console.
pub(super) struct FencedEnd {
    pub(super) exit_code: i32,
    pub(super) fault: Option<String>,
}

/// Runs the task inside. Dropping the future ends it, with everything it started.
pub(super) async fn run(
    site: &Site,
    request: &FenceRequest,
    taskfile: &Taskfile,
    call: &TaskInvocation,
    console: &dyn Console,
) -> Result<FencedEnd, UserTaskError> {
    let Some((program, word)) = RUNNER.get() else {
        return Err(UserTaskError::NotFenced("this program cannot run user tasks in a fence".to_owned()));
    };
    let fence = RunFence::for_commands(with_definitions(site, request, taskfile)?)
        .map_err(|error| UserTaskError::NotFenced(error.to_string()))?;
    let order = TaskOrder {
        root: site.root.clone(),
        copy_of: site.copy_of.clone(),
        folder: site.folder.clone(),
        name: call.name.clone(),
        args: call.args.clone(),
        timeout_ms: call.timeout.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
        is_combined: console.is_combined(),
    };
    let piped = PipedRun {
        id: Ids::random().attempt(),
        command: vec![text(program.as_os_str()), text(word)],
        folder: site.folder.clone(),
        environment: environment(site, &call.marks),
        fence: Some(fence.fence.clone()),
        input: serde_json::to_string(&order).map_err(|error| UserTaskError::Lost(error.to_string()))?,
        timeout: call.timeout.unwrap_or(Duration::MAX).saturating_add(ENDING_PATIENCE),
        memory_bytes_max: site.memory_bytes_max,
    };
    let mut ended = None;
    let result = piped.run(|line| match serde_json::from_str(line) {
        Ok(OutputFrame::Out(text)) => console.write(Stream::Out, &bytes_of(&text)),
        Ok(OutputFrame::Err(text)) => console.write(Stream::Err, &bytes_of(&text)),
        Ok(OutputFrame::End(fault)) => ended = Some(fault),
        Err(error) => tracing::debug!(%error, "a user task's program printed something else"),
    });
    let result = result.await;
    let refusals = fence.refusals_to_commands();
    if !refusals.is_empty() {
        console.write(Stream::Err, refusals.as_bytes());
    }
    match (result.end, ended) {
        // Without its last line it did not end by itself, whatever its code is.
        (PipedEnd::Exited(ProcessExit::Code(exit_code)), Some(fault)) => Ok(FencedEnd { exit_code, fault }),
        (PipedEnd::OutOfMemory(excess), _) => {
            Ok(FencedEnd { exit_code: -1, fault: Some(out_of_memory(&excess)) })
        }
        (PipedEnd::NotStarted(why), _) => Err(UserTaskError::NotFenced(why)),
        (PipedEnd::TimedOut, _) => Err(UserTaskError::Lost("it did not end when its time was up".to_owned())),
        (PipedEnd::Exited(_) | PipedEnd::Unseen, _) => Err(UserTaskError::Lost(result.errors)),
    }
}

/// The fence with what a run needs of the person's checkout to be read, and of the state folder to be written.
fn with_definitions(
    site: &Site,
    request: &FenceRequest,
    taskfile: &Taskfile,
) -> Result<FenceRequest, UserTaskError> {
    let mut request = request.clone();
    request.agent_read.extend(taskfile.files().map(Path::to_owned));
    let variables = site.environment.iter().flatten();
    let memory = variables.filter(|(name, _)| name == MEMORY).map(|(_, folder)| PathBuf::from(folder));
    for folder in memory {
        std::fs::create_dir_all(&folder).map_err(|error| UserTaskError::Folder {
            path: folder.display().to_string(),
            detail: error.to_string(),
        })?;
        request.agent_write.push(folder);
    }
    Ok(request)
}

fn environment(site: &Site, marks: &[(String, String)]) -> AgentEnvironment {
    let mut environment = AgentEnvironment::allowed([], &[]);
    for (name, value) in site.environment.iter().flatten().chain(marks) {
        environment.set(name, value);
    }
    environment
}

fn text(word: &std::ffi::OsStr) -> String {
    word.to_string_lossy().into_owned()
}

/// The whole program inside the fence.
pub fn program() -> ExitCode {
    let mut text = String::new();
    let order = io::stdin().read_to_string(&mut text).ok().and_then(|_| serde_json::from_str(&text).ok());
    let Some(order) = order else {
        let _ = writeln!(io::stderr(), "baton: this command is started by Baton inside a fence");
        return ExitCode::from(2);
    };
    let (exit_code, fault) = run_inside(&order);
    print(&OutputFrame::End(fault));
    ExitCode::from(u8::try_from(exit_code).unwrap_or(1))
}

fn run_inside(order: &TaskOrder) -> (i32, Option<String>) {
    let (definitions, dir, copy_of) = (order.root.clone(), order.folder.clone(), order.copy_of.clone());
    let tree = ProjectTree { definitions, dir, copy_of };
    let environment = TaskEnvironment::from_process();
    let taskfile = match Taskfile::open_in(&tree, &order.root.join(TASKFILE), environment) {
        Ok(taskfile) => taskfile,
        Err(error) => return (1, Some(error.to_string())),
    };
    let call = TaskInvocation {
        args: order.args.clone(),
        timeout: order.timeout_ms.map(Duration::from_millis),
        ..TaskInvocation::new(&order.name)
    };
    let console = Arc::new(FrameConsole { is_combined: order.is_combined });
    let outcome = taskfile.run(&call, &OutputTarget::Streamed(console), None);
    (outcome.exit_code, fault_of(&outcome))
}

/// Prints what commands print as frames.
struct FrameConsole {
    is_combined: bool,
}

fn print(frame: &OutputFrame) {
    // Neither can fail for a text; if nobody reads it, nobody wants it.
    let line = serde_json::to_string(frame).unwrap_or_default();
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

impl Console for FrameConsole {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        for piece in bytes.chunks(FRAME_BYTES_MAX) {
            let text = piece.iter().copied().map(char::from).collect();
            print(&match stream {
                Stream::Out => OutputFrame::Out(text),
                Stream::Err => OutputFrame::Err(text),
            });
        }
    }

    fn is_combined(&self) -> bool {
        self.is_combined
    }
}

fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_through_a_frame() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let text = all.iter().copied().map(char::from).collect();
        let line = serde_json::to_string(&OutputFrame::Out(text)).unwrap();
        assert!(!line.contains('\n'), "a frame is one line: {line}");
        let OutputFrame::Out(text) = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
        assert_eq!(bytes_of(&text), all);
    }
}
