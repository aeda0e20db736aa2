//! Sends a notice to a command: as JSON on standard input, with its ids as environment variables.

use std::path::Path;
use std::time::Duration;

use baton_agents::driver::run_result::ProcessExit;
use baton_agents::process::environment::AgentEnvironment;
use baton_agents::process::one_shot::{self, OneShot, OneShotEnd};
use baton_core::base::id::{AttemptId, EffectId};
use tokio::sync::watch;

use crate::services::notifier::NoticeText;

/// A notify command is fast, or it hangs.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How much of the command's output an error quotes.
const QUOTED_BYTES_MAX: usize = 1_000;

pub(super) async fn run(
    command: &[String],
    folder: &Path,
    program: &Path,
    id: EffectId,
    notice: &NoticeText,
    body: String,
) -> Result<(), String> {
    let mut environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
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
    let command = OneShot {
        // Identifies its process tree; no attempt has this id.
        attempt: AttemptId::from_bits(crate::base::ids::random_bits()),
        command: command.to_vec(),
        folder: folder.to_owned(),
        environment,
        fence: None,
        input: body,
        timeout: TIMEOUT,
        memory_bytes_max: None,
        output_bytes_max: QUOTED_BYTES_MAX,
    };
    // Never stopped.
    let (_stop, mut never) = watch::channel(false);
    let result = one_shot::run(&command, &mut never).await;
    let output = result.output.trim();
    match result.end {
        OneShotEnd::Exited(ProcessExit::Code(0)) => Ok(()),
        OneShotEnd::Exited(exit) => Err(format!("the notify command {exit}: {output}")),
        OneShotEnd::TimedOut => {
            Err(format!("the notify command did not end within {} s: {output}", TIMEOUT.as_secs()))
        }
        OneShotEnd::OutOfMemory(excess) => Err(format!("the notify command {excess}")),
        OneShotEnd::NotStarted(why) => Err(format!("the notify command: {why}")),
        OneShotEnd::Unseen | OneShotEnd::Stopped => Err("the notify command could not be ended".to_owned()),
    }
}
