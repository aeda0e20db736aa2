//! An errand: one command of the user's, run to its end beside the agents and behind the same walls.
//!
//! It gets a process group of its own, only the variables and the input it was given, and a limit on its time and on
//! what is kept of its output. However it ends, nothing of its tree is left. It carries the attempt's id like the agent
//! itself, so a Baton that comes back after a crash finds and ends it too.

use std::path::PathBuf;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::ended::Exit;
use crate::environment::Environment;
use crate::excerpt::Excerpt;
use crate::lines::{Line, Lines};
use crate::pipe::{DRAIN_PATIENCE, Pipe};
use crate::process::{Pipes, Process, Start, feed};
use crate::waiting::cancelled;

/// Between TERM and KILL. What a check leaves running has nothing to say goodbye to.
const GRACE: Duration = Duration::from_secs(2);

/// What to run, and within which limits.
#[derive(Debug, Clone)]
pub struct Errand {
    pub attempt: AttemptId,
    /// The program and its arguments. Never seen by a shell.
    pub command: Vec<String>,
    pub folder: PathBuf,
    pub environment: Environment,
    /// What it finds on standard input, before the end of it.
    pub input: String,
    pub timeout: Duration,
    /// Of both streams together: the beginning and the end are kept, and how much lay between.
    pub output_bytes_max: usize,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned {
    pub how: ErrandEnd,
    /// What it wrote on either stream, line by line as it came.
    pub output: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrandEnd {
    Exited(Exit),
    /// Its status was never learned: it hangs inside the system.
    Unseen,
    TimedOut,
    /// Somebody asked for a stop.
    Stopped,
    /// The sentence says why.
    NotStarted(String),
}

impl<'a> From<&'a Errand> for Start<'a> {
    fn from(errand: &'a Errand) -> Self {
        Self {
            attempt: errand.attempt,
            command: &errand.command,
            folder: &errand.folder,
            environment: &errand.environment,
        }
    }
}

/// Runs it to its end. `stop` turning true ends it early; dropping the future kills its tree at once.
pub async fn run(errand: &Errand, stop: &mut watch::Receiver<bool>) -> Returned {
    let (mut process, Pipes { stdin, stdout, stderr }) = match Process::start(errand) {
        Ok(started) => started,
        Err(error) => {
            return Returned { how: ErrandEnd::NotStarted(error.to_string()), output: String::new() };
        }
    };
    let mut streams = Streams::new(stdout, stderr, errand.output_bytes_max);
    let cut_short = tokio::select! {
        () = cancelled(stop) => Some(ErrandEnd::Stopped),
        () = sleep(errand.timeout) => Some(ErrandEnd::TimedOut),
        // However it went: the status is asked for again at the end.
        _ = process.wait() => None,
        _ = async { tokio::join!(feed(stdin, errand.input.clone()), streams.hear_on()) } => None,
    };
    let ended = tokio::select! {
        ended = process.end(GRACE) => ended,
        () = streams.hear_on() => (None, Ok(())),
    };
    // Whoever still holds a pipe is a process that cannot be found, and what it writes is not the errand's word.
    let _ = timeout(DRAIN_PATIENCE, streams.hear_out()).await;
    let mut output = streams.into_text();
    if let Err(leftover) = ended.1 {
        output.push_str(&leftover.to_string());
    }
    let exited = ended.0.map_or(ErrandEnd::Unseen, |status| ErrandEnd::Exited(Exit::from(status)));
    Returned { how: cut_short.unwrap_or(exited), output }
}

/// Both streams of an errand, and what is kept of them.
struct Streams {
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
    from_stdout: Lines,
    from_stderr: Lines,
    kept: Excerpt,
}

impl Streams {
    fn new(stdout: ChildStdout, stderr: ChildStderr, bytes_max: usize) -> Self {
        Self {
            stdout: Pipe::new(stdout),
            stderr: Pipe::new(stderr),
            from_stdout: Lines::default(),
            from_stderr: Lines::default(),
            kept: Excerpt::new(bytes_max),
        }
    }

    /// Hears until both streams have ended.
    async fn hear_out(&mut self) {
        let Self { stdout, stderr, from_stdout, from_stderr, kept } = self;
        while stdout.is_open() || stderr.is_open() {
            tokio::select! {
                chunk = stdout.next() => from_stdout.push(chunk, |line| keep(kept, &line)),
                chunk = stderr.next() => from_stderr.push(chunk, |line| keep(kept, &line)),
            }
        }
    }

    /// Hears for as long as somebody else decides; never returns by itself.
    async fn hear_on(&mut self) {
        self.hear_out().await;
        std::future::pending::<()>().await;
    }

    fn into_text(mut self) -> String {
        let kept = &mut self.kept;
        self.from_stdout.finish(|line| keep(kept, &line));
        self.from_stderr.finish(|line| keep(kept, &line));
        self.kept.into_text()
    }
}

fn keep(kept: &mut Excerpt, line: &Line) {
    kept.push(&line.text);
    if !line.is_piece {
        kept.push("\n");
    }
}
