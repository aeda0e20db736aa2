//! Executes the steps of a script.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use crate::scripted::ScriptStage;
use crate::scripted::script::{Crash, CrashSignal, ScriptStep, SpawnChildren, TextFile};

/// Long enough to outlive every test.
const GRANDCHILD_SLEEP_S: &str = "3600";
/// Placeholder for the answer that was read.
const ANSWER: &str = "{{answer}}";
/// Placeholder for the task id.
const TASK: &str = "{{task}}";
/// One line of a flood, including its line end.
const FLOOD_LINE: &[u8; 80] =
    b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
const FLOOD_LINES_AT_ONCE: usize = 1000;

pub(super) struct ScriptPlayer<'a> {
    stage: ScriptStage<'a>,
    prompt: String,
    answer: Option<String>,
}

impl<'a> ScriptPlayer<'a> {
    pub(super) fn new(stage: ScriptStage<'a>, prompt: &str) -> Self {
        Self { stage, prompt: prompt.to_owned(), answer: None }
    }

    pub(super) fn complain(&mut self, text: &str) {
        let _ = writeln!(self.stage.err, "scripted agent: {text}");
    }

    /// Executes one step; returns an exit code if it ends the script.
    pub(super) fn play(
        &mut self,
        step: &ScriptStep,
        place: (Option<usize>, usize),
    ) -> io::Result<Option<u8>> {
        match step {
            ScriptStep::Write(TextFile { path, text }) => self.write(path, text)?,
            ScriptStep::Append(TextFile { path, text }) => self.append(path, text)?,
            ScriptStep::Delete(path) => fs::remove_file(self.stage.worktree.join(path))?,
            ScriptStep::Commit(message) => self.commit(message)?,
            ScriptStep::Say(text) => self.say(&self.fill_in(text))?,
            ScriptStep::Log(text) => {
                let text = self.fill_in(text);
                writeln!(self.stage.err, "{text}")?;
            }
            ScriptStep::Turns(count) => (0..*count).try_for_each(|_| self.say(r#"{"baton":"turn"}"#))?,
            ScriptStep::Usage(_)
            | ScriptStep::Ask(_)
            | ScriptStep::Result(_)
            | ScriptStep::Outcome(_)
            | ScriptStep::Plan(_) => {
                self.report(step)?;
            }
            ScriptStep::SleepMs(ms) => std::thread::sleep(Duration::from_millis(*ms)),
            ScriptStep::Hang => hang(),
            ScriptStep::Crash(crash) => return crash_with(*crash).map(Some),
            ScriptStep::Flood(bytes) => self.flood(*bytes)?,
            ScriptStep::Spawn(spawn) => self.spawn(*spawn)?,
            ScriptStep::IgnoreTerm => ignore_term()?,
            ScriptStep::ReadAnswer(mark) => self.read_answer(mark)?,
            ScriptStep::FailOnce(crash) => {
                if self.is_first_time(place)? {
                    return crash_with(*crash).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn fill_in(&self, text: &str) -> String {
        text.replace(ANSWER, self.answer.as_deref().unwrap_or_default()).replace(TASK, &self.stage.task)
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.stage.out, "{text}")?;
        self.stage.out.flush()
    }

    fn report(&mut self, step: &ScriptStep) -> io::Result<()> {
        match step.report_line() {
            // Placeholders are inside JSON strings, so their values must be escaped.
            Some(line) => {
                let answer = self.answer.as_deref().unwrap_or_default();
                let line =
                    line.replace(ANSWER, &json_inside(answer)).replace(TASK, &json_inside(&self.stage.task));
                self.say(&line)
            }
            None => Ok(()),
        }
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        fs::write(self.file(path)?, self.fill_in(text))
    }

    fn append(&self, path: &str, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(self.file(path)?)?;
        file.write_all(self.fill_in(text).as_bytes())
    }

    fn file(&self, path: &str) -> io::Result<PathBuf> {
        let path = self.stage.worktree.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(path)
    }

    /// Nothing to commit is not an error: a repeated attempt finds its work done.
    fn commit(&mut self, message: &str) -> io::Result<()> {
        self.git(&["add", "--all"])?;
        if self.git(&["status", "--porcelain"])?.is_empty() {
            return self.say("nothing to commit");
        }
        let message = format!("--message={}", self.fill_in(message));
        self.git(&["commit", "--quiet", &message]).map(drop)
    }

    fn git(&self, arguments: &[&str]) -> io::Result<String> {
        let output = Command::new("git")
            // No signing key and no background maintenance.
            .args(["-c", "commit.gpgsign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"])
            .args(arguments)
            .current_dir(&self.stage.worktree)
            .env("GIT_AUTHOR_NAME", "Scripted Agent")
            .env("GIT_AUTHOR_EMAIL", "scripted@baton.invalid")
            .env("GIT_COMMITTER_NAME", "Scripted Agent")
            .env("GIT_COMMITTER_EMAIL", "scripted@baton.invalid")
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(format!("git {}: {}", arguments.join(" "), said.trim())))
    }

    fn flood(&mut self, bytes: u64) -> io::Result<()> {
        let block = FLOOD_LINE.repeat(FLOOD_LINES_AT_ONCE);
        let mut left = bytes;
        while left > 0 {
            let size = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.stage.out.write_all(&block[block.len() - size..])?;
            left -= size as u64;
        }
        self.stage.out.flush()
    }

    /// The children inherit the streams and hold them open.
    fn spawn(&self, spawn: SpawnChildren) -> io::Result<()> {
        let sleep = format!("exec sleep {GRANDCHILD_SLEEP_S}");
        let line = if spawn.ignore_term { format!("trap '' TERM; {sleep}") } else { sleep };
        for _ in 0..spawn.count {
            let program: &[&str] = if spawn.detached { &["setsid", "--fork", "sh"] } else { &["sh"] };
            let mut child = Command::new(program[0])
                .args(&program[1..])
                .args(["-c", &line])
                .current_dir(&self.stage.worktree)
                .stdin(Stdio::null())
                .spawn()?;
            if spawn.detached {
                // `setsid --fork` exits at once.
                child.wait()?;
            }
        }
        Ok(())
    }

    fn read_answer(&mut self, mark: &str) -> io::Result<()> {
        let behind = self.prompt.rfind(mark).map(|at| &self.prompt[at + mark.len()..]);
        match behind.and_then(find_answer) {
            Some(answer) => self.answer = Some(answer),
            None => return Err(io::Error::other(format!("the prompt has no answer after \"{mark}\""))),
        }
        Ok(())
    }

    fn is_first_time(&self, (scene, step): (Option<usize>, usize)) -> io::Result<bool> {
        let folder = if let Some(memory) = &self.stage.memory {
            memory.clone()
        } else {
            let git = self.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
            PathBuf::from(git).join("baton-scripted")
        };
        fs::create_dir_all(&folder)?;
        let task: String = self.stage.task.chars().filter(char::is_ascii_alphanumeric).collect();
        let scene = scene.map_or("otherwise".to_owned(), |scene| scene.to_string());
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(folder.join(format!("{task}.{scene}.{step}")))
        {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The answer is the rest of the line, or, after a colon, the fenced block or the next non-empty line below.
fn find_answer(behind: &str) -> Option<String> {
    let (line, below) = behind.split_once('\n').unwrap_or((behind, ""));
    let line = line.trim();
    if !line.is_empty() && !line.ends_with(':') {
        return Some(line.to_owned());
    }
    let mut lines = below.lines().skip_while(|line| line.trim().is_empty());
    let first = lines.next()?.trim();
    let fence: String = first.chars().take_while(|&c| c == '`').collect();
    if fence.len() < 3 {
        return Some(first.to_owned());
    }
    let inside: Vec<&str> = lines.take_while(|line| line.trim() != fence).collect();
    Some(inside.join("\n"))
}

/// `text` escaped for use inside a JSON string.
fn json_inside(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

fn crash_with(crash: Crash) -> io::Result<u8> {
    let signal = match crash {
        Crash::Exit(code) => return Ok(code),
        Crash::Signal(CrashSignal::Abrt) => Signal::ABORT,
        Crash::Signal(CrashSignal::Hup) => Signal::HUP,
        Crash::Signal(CrashSignal::Int) => Signal::INT,
        Crash::Signal(CrashSignal::Kill) => Signal::KILL,
        Crash::Signal(CrashSignal::Term) => Signal::TERM,
    };
    kill_process(getpid(), signal)?;
    hang()
}

/// Installs a handler that does nothing.
fn ignore_term() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _inside = runtime.enter();
    signal(SignalKind::terminate()).map(drop)
}
