//! A notice by command: the program gets it on standard input as JSON, and the few words of it as variables.

use std::path::Path;
use std::time::Duration;

use baton_agents::driver::run_result::ProcessExit;
use baton_agents::process::environment::AgentEnvironment;
use baton_agents::process::one_shot::{self, OneShot, OneShotEnd};
use baton_core::base::id::{AttemptId, EffectId};
use tokio::sync::watch;

use crate::services::notifier::NoticeText;

/// A program that tells somebody something is quick, or it hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// Of what the program wrote, when it has to be quoted.
const QUOTED_BYTES_MAX: usize = 1_000;

pub async fn run(
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
    let errand = OneShot {
        // Its tree is found by an id of its own; no attempt has this one.
        attempt: AttemptId::from_bits(crate::base::ids::random_bits()),
        command: command.to_vec(),
        folder: folder.to_owned(),
        environment,
        input: body,
        timeout: PATIENCE,
        output_bytes_max: QUOTED_BYTES_MAX,
    };
    // A notice is told to its end.
    let (_stop, mut never) = watch::channel(false);
    let returned = one_shot::run(&errand, &mut never).await;
    let said = returned.output.trim();
    match returned.end {
        OneShotEnd::Exited(ProcessExit::Code(0)) => Ok(()),
        OneShotEnd::Exited(exit) => Err(format!("the notify command {exit}: {said}")),
        OneShotEnd::TimedOut => {
            Err(format!("the notify command did not end within {} s: {said}", PATIENCE.as_secs()))
        }
        OneShotEnd::NotStarted(why) => Err(format!("the notify command: {why}")),
        OneShotEnd::Unseen | OneShotEnd::Stopped => {
            Err("the notify command hangs inside the system".to_owned())
        }
    }
}
