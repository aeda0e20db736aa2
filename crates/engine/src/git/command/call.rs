//! One call of git: its arguments, its limits, and its answer.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use baton_core::base::git_name::CommitId;
use baton_store::crash_point::CrashPoint;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tracing::field::Empty;
use tracing::{Instrument, debug, debug_span};

use crate::git::command::conversation::GitConversation;
use crate::git::command::progress::{DELAY_SECONDS, Watcher};
use crate::git::error::GitError;

/// Refs and trees take moments; this allows for a slow disk under load.
const TIMEOUT: Duration = Duration::from_mins(2);
/// Writing or reading every file of a large repository.
pub(crate) const TIMEOUT_FILES: Duration = Duration::from_mins(20);
/// Lists of every path of a very large repository fit; anything longer is a mistake.
const STDOUT_BYTES_MAX: usize = 256 << 20;
/// Enough of git's error message for a person.
const STDERR_BYTES_MAX: usize = 16 << 10;

pub(crate) struct Call {
    program: String,
    tried: &'static str,
    command: Command,
    input: Option<Vec<u8>>,
    timeout: Duration,
    bytes_max: usize,
    may_cut: bool,
    watcher: Option<Watcher>,
    /// Whether it writes many files and somebody watches.
    is_watched: bool,
}

/// What git answered, whatever its exit code.
#[derive(Debug)]
pub(crate) struct GitAnswer {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// The answer was longer than wanted; this is its beginning.
    pub cut: bool,
}

impl Call {
    pub(crate) fn new(program: String, tried: &'static str, command: Command) -> Self {
        Self {
            program,
            tried,
            command,
            input: None,
            timeout: TIMEOUT,
            bytes_max: STDOUT_BYTES_MAX,
            may_cut: false,
            watcher: None,
            is_watched: false,
        }
    }

    pub(crate) fn watched_by(mut self, watcher: Option<Watcher>) -> Self {
        self.watcher = watcher;
        self
    }

    /// Makes the files of a folder, and its index, what a commit says; reports progress to the watcher.
    pub(crate) fn write_files(mut self, commit: &CommitId) -> Self {
        self.is_watched = self.watcher.is_some();
        let call = self.args(["read-tree", "--reset", "-u"]).timeout(TIMEOUT_FILES);
        let call =
            if call.is_watched { call.arg("-v").env("GIT_PROGRESS_DELAY", DELAY_SECONDS) } else { call };
        call.arg(commit.as_str())
    }

    /// Lets git read objects from one more folder.
    pub(crate) fn with_objects(self, objects: Option<&Path>) -> Self {
        match objects {
            Some(objects) => self.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quote_objects_path(objects)),
            None => self,
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.command.stdin(Stdio::piped());
        self.input = Some(bytes.into());
        self
    }

    /// Reads standard input from a file.
    pub(crate) fn input_file(mut self, file: File) -> Self {
        self.command.stdin(Stdio::from(file));
        self
    }

    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Takes at most this much of the answer and cuts the rest off.
    pub(crate) fn cut_at(mut self, bytes_max: usize) -> Self {
        self.bytes_max = bytes_max;
        self.may_cut = true;
        self
    }

    /// The answer, whatever its exit code.
    pub(crate) async fn ask(self) -> Result<GitAnswer, GitError> {
        let span = debug_span!("git", tried = self.tried, code = Empty);
        let started = Instant::now();
        let point = CrashPoint::named(&format!("git: {}", self.tried));
        point.before();
        let answer = self.exchange().instrument(span.clone()).await;
        point.after();
        let code = answer.as_ref().ok().and_then(|answer| answer.code);
        span.record("code", code);
        span.in_scope(|| debug!(took_ms = started.elapsed().as_secs_f64() * 1e3, "git ended"));
        answer
    }

    async fn exchange(mut self) -> Result<GitAnswer, GitError> {
        let mut child = self.spawn()?;
        let tried = self.tried;
        match tokio::time::timeout(self.timeout, self.communicate(&mut child)).await {
            Ok(Ok(answer)) if answer.cut && !self.may_cut => {
                Err(GitError::TooLong { tried, bytes_max: self.bytes_max })
            }
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(source)) => Err(GitError::File { tried, path: "git's pipes".into(), source }),
            Err(_) => Err(GitError::TimedOut { tried, after: self.timeout }),
        }
    }

    /// The answer, if git succeeded.
    pub(crate) async fn run(self) -> Result<Vec<u8>, GitError> {
        let tried = self.tried;
        let answer = self.ask().await?;
        // A git whose answer was cut off ended by the closed pipe.
        if answer.code == Some(0) || answer.cut { Ok(answer.stdout) } else { Err(answer.failed(tried)) }
    }

    /// The answer, or `None` when git refused: what was asked for does not exist, or is damaged. A git that was killed is an
    /// error.
    pub(crate) async fn find(self) -> Result<Option<Vec<u8>>, GitError> {
        let tried = self.tried;
        let answer = self.ask().await?;
        match answer.code {
            Some(0) => Ok(Some(answer.stdout)),
            Some(1 | 128) => Ok(None),
            Some(_) | None => Err(answer.failed(tried)),
        }
    }

    /// A commit, or `None` when there is none.
    pub(crate) async fn find_commit(self) -> Result<Option<CommitId>, GitError> {
        let tried = self.tried;
        let Some(out) = self.find().await? else { return Ok(None) };
        let text = String::from_utf8_lossy(&out).trim().to_owned();
        text.parse().map(Some).map_err(|_| GitError::Garbled { tried, answer: text })
    }

    /// An answer of one line.
    pub(crate) async fn line(self) -> Result<String, GitError> {
        let mut out = self.run().await?;
        trim_newline(&mut out);
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// An answer that is one path, which may itself have line ends.
    pub(crate) async fn path(self) -> Result<PathBuf, GitError> {
        let mut out = self.run().await?;
        trim_newline(&mut out);
        Ok(PathBuf::from(OsString::from_vec(out)))
    }

    pub(crate) async fn commit(self) -> Result<CommitId, GitError> {
        let tried = self.tried;
        let line = self.line().await?;
        line.parse().map_err(|_| GitError::Garbled { tried, answer: line })
    }

    /// Starts a git that answers one request after another.
    pub(crate) fn converse(mut self) -> Result<GitConversation, GitError> {
        // Nobody reads its standard error, which must not fill a pipe.
        self.command.stdin(Stdio::piped()).stderr(Stdio::null());
        let child = self.spawn()?;
        GitConversation::new(self.tried, child)
    }

    fn spawn(&mut self) -> Result<Child, GitError> {
        self.command.spawn().map_err(|source| {
            let folder = self.command.as_std().get_current_dir();
            match folder.filter(|folder| !folder.is_dir()) {
                // The system reports a missing folder just like a missing program.
                Some(folder) => GitError::File { tried: "enter", path: folder.to_owned(), source },
                None => GitError::Missing { program: self.program.clone(), source },
            }
        })
    }

    async fn communicate(&mut self, child: &mut Child) -> io::Result<GitAnswer> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = self.input.take();
        let write = async {
            if let (Some(mut pipe), Some(bytes)) = (stdin, input) {
                // A git that gives up early closes the pipe; its exit code says why.
                let _ = pipe.write_all(&bytes).await;
            }
        };
        let watcher = self.watcher.as_ref().filter(|_| self.is_watched);
        let errors = async {
            match watcher {
                Some(watcher) => watcher.read(stderr, STDERR_BYTES_MAX).await,
                None => head_of(stderr, STDERR_BYTES_MAX, true).await.map(|(head, _)| head),
            }
        };
        let ((), stdout, stderr) = tokio::join!(write, head_of(stdout, self.bytes_max, false), errors);
        let ((stdout, cut), stderr) = (stdout?, stderr?);
        let code = child.wait().await?.code();
        Ok(GitAnswer { code, stdout, stderr: String::from_utf8_lossy(&stderr).trim().to_owned(), cut })
    }
}

impl GitAnswer {
    pub(crate) fn failed(self, tried: &'static str) -> GitError {
        let stderr = if self.stderr.is_empty() { format!("exit code {:?}", self.code) } else { self.stderr };
        GitError::Failed { tried, code: self.code, stderr }
    }
}

/// The first bytes of a pipe, and whether there were more. `drain` reads the rest too and forgets it, so
/// that the writer is not stopped.
async fn head_of(
    pipe: Option<impl AsyncRead + Unpin>,
    bytes_max: usize,
    drain: bool,
) -> io::Result<(Vec<u8>, bool)> {
    let mut head = Vec::new();
    let Some(mut pipe) = pipe else { return Ok((head, false)) };
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    (&mut pipe).take(limit).read_to_end(&mut head).await?;
    let cut = head.len() > bytes_max;
    head.truncate(bytes_max);
    if cut && drain {
        tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    }
    Ok((head, cut))
}

/// A path in the list of object folders, which colons separate; a quoted one may have any byte.
pub(crate) fn quote_objects_path(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b':' | b'"' | b'\\' | b'\n')) {
        return path.as_os_str().to_owned();
    }
    let mut quoted = vec![b'"'];
    for byte in bytes {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b'\n' => quoted.extend(b"\\n"),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

fn trim_newline(out: &mut Vec<u8>) {
    if out.last() == Some(&b'\n') {
        out.pop();
    }
}
