//! The beginning of every agent, however it is driven: its log, whoever hears it, its process.

use tokio::sync::{mpsc, watch};

use crate::driver::run_result::{Ended, How};
use crate::driver::{Clock, Event, Launch};
use crate::output::log::AttemptLog;
use crate::process::spawn::{Pipes, Process};
use crate::run::event_queue::Outbox;
use crate::run::output_reader::Hearing;
use crate::run::summary;
use crate::run::transcript::Heard;

/// An agent that runs, and is heard.
pub struct Started {
    pub process: Process,
    pub pipes: Pipes,
    pub hearing: Hearing,
}

/// Starts it, or says how that ended: it was cancelled before, or it cannot be started.
pub async fn start(
    launch: &Launch,
    clock: Clock,
    events: mpsc::Sender<Event>,
    cancel: &watch::Receiver<bool>,
) -> Result<Started, Box<Ended>> {
    let log = match AttemptLog::create(&launch.log_path, launch.limits.log_bytes_max) {
        Ok(log) => log,
        Err(error) => {
            let path = launch.log_path.display();
            return Err(Box::new(Ended::failed_to_start(format!("cannot make the log {path}: {error}"))));
        }
    };
    let mut hearing = Hearing::new(Heard::new(launch.limits.turns_max), Outbox::new(events), log, clock);
    if *cancel.borrow() {
        hearing.note("cancelled before it started");
        return Err(Box::new(summary::of_reports(hearing.finish().await, How::Cancelled, None)));
    }
    match Process::start(launch) {
        Ok((process, pipes)) => {
            let pid = process.identity().pid;
            hearing.note(&format!("started {} as process {pid}", launch.command.join(" ")));
            hearing.outbox.push(Event::Started(process.identity().clone()));
            Ok(Started { process, pipes, hearing })
        }
        Err(error) => {
            hearing.note(&error.to_string());
            hearing.finish().await;
            Err(Box::new(Ended::failed_to_start(error.to_string())))
        }
    }
}
