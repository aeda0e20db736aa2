//! `baton worker`: agents at work on a store that many machines share; and `baton workers`: who does that.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::worker::{Duty, Health};
use baton_engine::error::EngineError;
use baton_engine::post::Post;
use baton_engine::settings::Settings;
use baton_engine::worker_view::WorkerView;
use baton_server::guard::Guard;
use baton_server::serve::Server;
use baton_server::state::App;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use super::up::{announce, only_one};
use crate::api::{self, Api};
use crate::cli::Common;
use crate::cli::workers::Worker;
use crate::fault::{FAILED, Fault, UNREACHABLE};
use crate::office::{Office, find};
use crate::output;
use crate::server_file::{self, ServerFile};
use crate::signals::Signals;
use crate::telemetry::{Telemetry, show_logs};

/// What is left to do once the last agent has ended. A store that cannot be reached must not keep the process alive; its
/// leases run out by themselves.
const LAST_WORDS: Duration = Duration::from_secs(20);

/// Where a worker works. Its folder says nothing about the namespace, so one that is not named has to be the only one.
pub async fn placed(common: &Common) -> Result<Common, Fault> {
    let (place, _) = find(common)?;
    if !place.store.is_shared() {
        return Err(Fault::usage(
            "a worker needs a store that machines share",
            "name one: baton worker --store postgres://USER@HOST/DATABASE; on one machine alone, use baton up",
        ));
    }
    if common.namespace.is_some() {
        return Ok(common.clone());
    }
    match place.store.namespaces().await?.as_slice() {
        [only] => Ok(Common { namespace: Some(only.clone()), ..common.clone() }),
        [] => Err(Fault::usage(
            "nobody has used this store yet",
            "start a server on it first: baton up --store … --namespace NAME",
        )),
        several => Err(Fault::usage(
            format!("this store has several namespaces: {}", several.join(", ")),
            "say which one to work for: --namespace NAME",
        )),
    }
}

pub async fn run(office: &Office, options: Worker) -> Result<String, Fault> {
    let settings = Settings::load(&office.place.settings_path()).map_err(EngineError::from)?;
    let telemetry = Telemetry::start(settings.telemetry.otlp.as_deref(), &office.place.namespace)?;
    show_logs(options.logs.log_format, telemetry.as_ref())?;
    let worked = Box::pin(work(office, options)).await;
    if let Some(telemetry) = telemetry {
        telemetry.end().await;
    }
    worked
}

async fn work(office: &Office, options: Worker) -> Result<String, Fault> {
    let _alone = only_one(office)?;
    let grace = Duration::from_secs(options.grace.into());
    let labels: BTreeSet<_> = options.labels.into_iter().collect();
    let patient = office.patient();
    let mut engine = patient
        .engine_with(|settings| {
            settings.max_agents = options.agents.unwrap_or(settings.max_agents);
            settings.only_roles = options.roles;
        })
        .await?;
    engine.shop.post = Post { duty: Duty::Worker, labels, grace };
    // Its agents reach their tools here; nobody else can.
    let server = Server::bind(([127, 0, 0, 1], 0).into()).await.map_err(|error| Fault {
        message: format!("the agents' tools cannot be offered on this machine: {error}"),
        hint: "see whether the loopback interface is up".to_owned(),
        code: FAILED,
    })?;
    engine.shop.mcp_url = Some(format!("{}/mcp", server_file::url(server.address())));
    // And by the command line: on a shared store they have no other way in.
    let _file = ServerFile::write(&office.place, server.address(), None)?;
    announce(&engine.shop.settings);
    // Heard before it is said that we are there: whoever reads that may end us at once.
    let mut signals = Signals::hear()?;
    output::talk(&format!("{} works for {}", engine.shop.worker, office.place.namespace));

    let (stop, stopping) = watch::channel(false);
    let (hurry, hurrying) = watch::channel(false);
    let (end, ending) = watch::channel(false);
    let guard = Guard::new(server.address(), None);
    let app = App::new(Office::for_people(&engine.shop), office.person().to_owned(), guard, ending);
    let working = async {
        let worked = Box::pin(engine.run_until(stopping.clone(), hurrying)).await;
        // Nobody listens when all is over.
        let _ = end.send(true);
        worked
    };
    let serving = server.run(app, end.subscribe());
    let mut worked = Box::pin(async { tokio::join!(working, serving).0 });
    tokio::select! {
        worked = &mut worked => { worked?; return Ok(String::new()) }
        () = signals.heard() => {}
    }
    output::talk(&format!(
        "Draining: nothing new is taken; agents at work have {} s to finish. Once more ends them now.",
        grace.as_secs()
    ));
    let _ = stop.send(true);
    tokio::select! {
        worked = &mut worked => { worked?; return Ok(String::new()) }
        () = signals.heard() => {}
        () = sleep(grace) => {}
    }
    let _ = hurry.send(true);
    tokio::select! {
        worked = &mut worked => worked?,
        () = sleep(LAST_WORDS) => return Err(Fault {
            message: "the store did not hear that this worker ends".to_owned(),
            hint: "nothing is lost: its leases run out, and its tasks go back to the queue".to_owned(),
            code: UNREACHABLE,
        }),
    }
    Ok(String::new())
}

pub async fn list(api: &Api) -> Result<String, Fault> {
    let mut answer: Value = api.get("/api/workers").await?;
    let workers: Vec<WorkerView> = api::read(answer["workers"].take())?;
    if api.is_json {
        return output::json(&json!({ "workers": workers }));
    }
    if workers.is_empty() {
        return Ok(
            "Nobody runs agents on this store. Start: baton up, or baton worker --store URL\n".to_owned()
        );
    }
    let rows: Vec<[String; 6]> = workers.iter().map(row).collect();
    Ok(output::table(["WORKER", "STATE", "LOAD", "HAS", "HEARTBEAT", "RUNS"], &rows))
}

fn row(worker: &WorkerView) -> [String; 6] {
    let state = match worker.state {
        Health::Live => "live",
        Health::Draining => "draining",
        Health::Lost => "lost",
    };
    let agents = worker.agents.iter().map(ToString::to_string);
    let has: Vec<String> = agents.chain(worker.labels.iter().map(ToString::to_string)).collect();
    let runs: Vec<String> = worker.running.iter().map(|one| one.task_id.to_string()).collect();
    [
        worker.name.clone(),
        state.to_owned(),
        format!("{}/{}", worker.running.len(), worker.capacity),
        has.join(","),
        worker.last_heartbeat.to_string(),
        runs.join(" "),
    ]
}
