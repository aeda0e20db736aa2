//! A notice by command: the program gets it on standard input as JSON, and the few words of it as variables.

use std::path::Path;
use std::time::Duration;

use baton_agents::driver::{Launch, Limits, SessionSetup};
use baton_agents::environment::Environment;
use baton_agents::excerpt::excerpt;
use baton_agents::process::{Pipes, Process, feed};
use baton_core::id::{AttemptId, EffectId};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::NoticeText;

/// A program that tells somebody something is quick, or it hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between TERM and KILL.
const GRACE: Duration = Duration::from_secs(1);
/// Of what the program wrote, when it has to be quoted.
const QUOTED_BYTES_MAX: usize = 500;
/// Read of each stream; the rest is let go.
const HEARD_BYTES_MAX: u64 = 64 * 1024;

pub async fn run(
    command: &[String],
    folder: &Path,
    program: &Path,
    id: EffectId,
    notice: &NoticeText,
    body: String,
) -> Result<(), String> {
    let mut environment = Environment::allowed(std::env::vars_os(), &[]);
    environment.set("BATON_BIN", program.as_os_str());
    environment.set("BATON_NOTICE_ID", id.to_string());
    environment.set("BATON_NOTICE_KIND", notice.kind);
    for (name, value) in [
        ("BATON_SESSION_ID", &notice.session_id),
        ("BATON_TASK_ID", &notice.task_id),
        ("BATON_QUESTION_ID", &notice.question_id),
        ("BATON_RUN_ID", &notice.run_id),
    ] {
        if let Some(value) = value {
            environment.set(name, value.as_str());
        }
    }
    let launch = Launch {
        // Its tree is found by an id of its own; no attempt has this one.
        attempt: AttemptId::from_bits(crate::ids::random_bits()),
        command: command.to_vec(),
        worktree: folder.to_owned(),
        prompt: String::new(),
        environment,
        limits: Limits::default(),
        session: SessionSetup::default(),
        log_path: folder.to_owned(),
    };
    let (mut process, Pipes { stdin, stdout, stderr }) =
        Process::start(&launch).map_err(|error| format!("the notify command: {error}"))?;
    let talk = async { tokio::join!(feed(stdin, body), tail(stdout), tail(stderr)) };
    let worked = timeout(PATIENCE, async { tokio::join!(process.wait(), talk) }).await;
    // Whatever it started is ended with it.
    let (status, leftover) = process.end(GRACE).await;
    let Ok((_, ((), said, complained))) = worked else {
        return Err(format!("the notify command did not end within {} s", PATIENCE.as_secs()));
    };
    leftover.map_err(|leftover| format!("the notify command: {leftover}"))?;
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("the notify command ended with {status}: {complained}{said}")),
        None => Err("the notify command hangs inside the system".to_owned()),
    }
}

/// The beginning of what a stream says; the rest is read and let go, so that its writer is not held up.
async fn tail(mut stream: impl AsyncRead + Unpin) -> String {
    let mut heard = Vec::new();
    let _ = (&mut stream).take(HEARD_BYTES_MAX).read_to_end(&mut heard).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    excerpt(String::from_utf8_lossy(&heard).trim(), QUOTED_BYTES_MAX)
}
