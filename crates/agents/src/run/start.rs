//! Starts an agent: its log, its output reader and its process.

use tokio::sync::{mpsc, watch};

use crate::driver::run_result::{EndReason, RunResult};
use crate::driver::{AgentEvent, Launch, RunClock};
use crate::output::log::AttemptLogWriter;
use crate::process::spawn::{Process, ProcessPipes};
use crate::run::event_queue::EventQueue;
use crate::run::output_reader::OutputReader;
use crate::run::summary;
use crate::run::transcript::Transcript;

/// A running agent and its output reader.
pub(crate) struct StartedAgent {
    pub process: Process,
    pub pipes: ProcessPipes,
    pub output: OutputReader,
}

/// Starts the agent. The error is the result of a run that was cancelled before or could not start.
pub(crate) async fn start(
    launch: &Launch,
    clock: RunClock,
    events: mpsc::Sender<AgentEvent>,
    cancel: &watch::Receiver<bool>,
) -> Result<StartedAgent, Box<RunResult>> {
    let log = match AttemptLogWriter::create(&launch.log_path, launch.limits.log_bytes_max) {
        Ok(log) => log.counted_in(launch.printed.clone()),
        Err(error) => {
            let path = launch.log_path.display();
            return Err(Box::new(RunResult::failed_to_start(format!(
                "cannot create the log {path}: {error}"
            ))));
        }
    };
    let mut output =
        OutputReader::new(Transcript::new(launch.limits.turns_max), EventQueue::new(events), log, clock);
    if *cancel.borrow() {
        output.log_note("cancelled before it started");
        let now = output.now();
        return Err(Box::new(summary::from_reports(output.finish().await, EndReason::Cancelled, None, now)));
    }
    match Process::start(launch) {
        Ok((process, pipes)) => {
            let pid = process.identity().pid;
            output.log_note(&format!("started {} as process {pid}", launch.command.join(" ")));
            output.events.push(AgentEvent::Started(process.identity().clone()));
            Ok(StartedAgent { process, pipes, output })
        }
        Err(error) => {
            output.log_note(&error.to_string());
            output.finish().await;
            Err(Box::new(RunResult::failed_to_start(error.to_string())))
        }
    }
}
