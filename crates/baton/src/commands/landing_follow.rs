//! `baton landing --follow`: the output of the checks as it comes, and what lands or is sent back.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_engine::landing::history::LandingEntry;
use baton_engine::landing::live_runs::CheckRunView;
use baton_engine::landing::views::LandingView;
use serde_json::json;
use tokio::time::sleep;

use crate::commands::lanes::{end_sentence, short_commit};
use crate::context::api::Api;
use crate::error::{CliError, UNREACHABLE};
use crate::options::GlobalOptions;
use crate::output;

/// Between two looks at the server.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Until the server ends. Then it continues with the next one, if that runs by then.
pub(crate) async fn follow(options: &GlobalOptions) -> Result<String, CliError> {
    let mut follower: Option<LandingFollower> = None;
    loop {
        let api = Api::open(options).await?;
        if !api.is_served() {
            api.close().await?;
            return match follower {
                None => Err(CliError::failed("no server is running, so no checks run", "baton up")),
                Some(_) => Ok("The server has ended.\n".to_owned()),
            };
        }
        let ended = read(&api, &mut follower).await;
        api.close().await?;
        match ended {
            Ok(()) => {}
            Err(fault) if fault.code == UNREACHABLE => {}
            Err(fault) => return Err(fault),
        }
    }
}

async fn read(api: &Api, follower: &mut Option<LandingFollower>) -> Result<(), CliError> {
    loop {
        let landing: LandingView = api.get("/api/landing").await?;
        follower.get_or_insert_with(|| LandingFollower::new(&landing)).print(api, &landing)?;
        sleep(LOOK_EVERY).await;
    }
}

/// What was printed already.
struct LandingFollower {
    /// Bytes printed of each run.
    runs: BTreeMap<u64, u64>,
    ends: Vec<(Timestamp, TaskId)>,
}

impl LandingFollower {
    /// What ended before is not news.
    fn new(landing: &LandingView) -> Self {
        let ended = landing.runs.iter().filter(|run| !run.is_running);
        Self {
            runs: ended.map(|run| (run.run, run.output_bytes_before + run.output.len() as u64)).collect(),
            ends: landing.recent.iter().map(key).collect(),
        }
    }

    fn print(&mut self, api: &Api, landing: &LandingView) -> Result<(), CliError> {
        for run in &landing.runs {
            if !self.runs.contains_key(&run.run) {
                print_start(api, run)?;
            }
            let printed = self.runs.entry(run.run).or_default();
            print_new(api, run, *printed)?;
            *printed = run.output_bytes_before + run.output.len() as u64;
        }
        for entry in landing.recent.iter().rev() {
            if !self.ends.contains(&key(entry)) {
                print_end(api, entry)?;
            }
        }
        // What the server no longer reports does not come again.
        self.ends = landing.recent.iter().map(key).collect();
        self.runs.retain(|number, _| landing.runs.iter().any(|run| run.run == *number));
        Ok(())
    }
}

fn key(entry: &LandingEntry) -> (Timestamp, TaskId) {
    (entry.at, entry.task_id)
}

fn print_start(api: &Api, run: &CheckRunView) -> Result<(), CliError> {
    if api.is_json {
        let CheckRunView { run, branch, task_ids, commit, base, without_work, .. } = run;
        let start = json!({ "event": "checking", "run": run, "branch": branch, "task_ids": task_ids, "commit": commit, "base": base, "without_work": without_work });
        output::line(output::json_line(&start)?.trim_end());
    } else {
        let tasks: Vec<String> = run.task_ids.iter().map(ToString::to_string).collect();
        let (tasks, commit) = (tasks.join(", "), short_commit(&run.commit));
        output::line(&if let Some(what) = &run.without_work {
            format!("{}  checking {what} without {tasks} ({commit})", run.branch)
        } else {
            format!("{}  checking {tasks} ({commit} on {})", run.branch, short_commit(&run.base))
        });
    }
    Ok(())
}

/// What came after this many bytes.
fn print_new(api: &Api, run: &CheckRunView, printed: u64) -> Result<(), CliError> {
    let skipped = run.output_bytes_before.saturating_sub(printed);
    let from = usize::try_from(printed.saturating_sub(run.output_bytes_before)).unwrap_or(usize::MAX);
    let text = run.output.get(from..).unwrap_or_default();
    if text.is_empty() {
        return Ok(());
    }
    if api.is_json {
        let news = json!({ "event": "output", "run": run.run, "left_out_bytes": skipped, "text": text });
        output::line(output::json_line(&news)?.trim_end());
        return Ok(());
    }
    if skipped > 0 {
        output::line(&format!("… {skipped} bytes left out …"));
    }
    output::line(text.trim_end_matches('\n'));
    Ok(())
}

fn print_end(api: &Api, entry: &LandingEntry) -> Result<(), CliError> {
    if api.is_json {
        output::line(output::json_line(&json!({ "event": "left", "task": entry }))?.trim_end());
    } else {
        output::line(&format!("{}  {}  {}", entry.task_id, end_sentence(&entry.end), entry.title));
    }
    Ok(())
}
