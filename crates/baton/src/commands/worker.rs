//! `baton worker`: runs agents for a shared store. `baton workers`: lists the machines that do.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::schedule::worker::{WorkerDuty, WorkerHealth};
use baton_engine::cluster::node::Node;
use baton_engine::reports::workers::WorkerView;
use baton_server::http::guard::HttpGuard;
use baton_server::serve::Server;
use baton_server::state::App;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::cli::workers::WorkerArgs;
use crate::commands::up::{announce, lock_engine};
use crate::context::api::{self, Api};
use crate::context::server_file::{self, ServerFile};
use crate::context::{CliContext, find};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;
use crate::telemetry::{Telemetry, show_logs};
use crate::terminal::signals::Signals;

/// Time to write the end of the last attempts. An unreachable store must not keep the process alive: leases expire by
/// themselves.
const FINAL_WRITES_MAX: Duration = Duration::from_secs(20);

/// Adds the namespace. A worker's directory says nothing about it, so without --namespace the store must have only one.
pub(crate) async fn with_namespace(options: &GlobalOptions) -> Result<GlobalOptions, CliError> {
    let (place, _) = find(options)?;
    if !place.store.is_shared() {
        return Err(CliError::usage(
            "a worker needs a shared store",
            "name one: baton worker --store postgres://USER@HOST/DATABASE; on a single machine, use baton up",
        ));
    }
    if options.namespace.is_some() {
        return Ok(options.clone());
    }
    match place.store.namespaces().await?.as_slice() {
        [only] => Ok(GlobalOptions { namespace: Some(only.clone()), ..options.clone() }),
        [] => Err(CliError::usage(
            "this store has no namespace yet",
            "start a server first: baton up --store … --namespace NAME",
        )),
        several => Err(CliError::usage(
            format!("this store has several namespaces: {}", several.join(", ")),
            "choose one: --namespace NAME",
        )),
    }
}

pub(crate) async fn run(context: &CliContext, options: WorkerArgs) -> Result<String, CliError> {
    let otlp = context.settings()?.telemetry.otlp;
    let telemetry = Telemetry::start(otlp.as_deref(), &context.place.namespace)?;
    show_logs(options.logs.log_format, telemetry.as_ref())?;
    let worked = Box::pin(work(context, options)).await;
    if let Some(telemetry) = telemetry {
        telemetry.end().await;
    }
    worked
}

async fn work(context: &CliContext, options: WorkerArgs) -> Result<String, CliError> {
    let _lock = lock_engine(context).await?;
    let grace = Duration::from_secs(options.grace.into());
    let labels: BTreeSet<_> = options.labels.into_iter().collect();
    let waiting = context.waiting_for_store();
    let mut engine = waiting
        .engine_with(|settings| {
            settings.max_agents = options.agents.unwrap_or(settings.max_agents);
            settings.only_roles = options.roles;
        })
        .await?;
    let node = engine.workspace.node.clone();
    engine.workspace.set_node(Node { duty: WorkerDuty::Worker, labels, grace, ..node });
    // For the tools of this worker's agents only.
    let server = Server::bind(([127, 0, 0, 1], 0).into()).await.map_err(|error| {
        CliError::failed(
            format!("cannot serve the agents' tools: {error}"),
            "check that the loopback interface is up",
        )
    })?;
    engine.workspace.agents.mcp_url = Some(format!("{}/mcp", server_file::url(server.address())));
    // Agents that call the command line find the server by this file; they cannot log in to the store.
    let _file = ServerFile::write(&context.place, server.address(), None)?;
    announce(&engine.workspace.settings);
    // Before the announcement: its reader may send a signal at once.
    let mut signals = Signals::install()?;
    output::talk(&format!(
        "Worker {} is running for {}",
        engine.workspace.node.name, context.place.namespace
    ));

    let (stop, stopping) = watch::channel(false);
    let (hurry, hurrying) = watch::channel(false);
    let (end, ending) = watch::channel(false);
    let guard = HttpGuard::new(server.address(), None);
    let app = App::new(CliContext::fail_fast(&engine.workspace), context.person().to_owned(), guard, ending);
    let working = async {
        let worked = Box::pin(engine.run_until(stopping.clone(), hurrying)).await;
        let _ = end.send(true);
        worked
    };
    let serving = server.run(app, end.subscribe());
    let mut worked = Box::pin(async { tokio::join!(working, serving).0 });
    tokio::select! {
        worked = &mut worked => { worked?; return Ok(String::new()) }
        () = signals.next() => {}
    }
    output::talk(&format!(
        "Draining: no new tasks; running agents have {} s to finish. Press Ctrl-C again to stop them now.",
        grace.as_secs()
    ));
    let _ = stop.send(true);
    tokio::select! {
        worked = &mut worked => { worked?; return Ok(String::new()) }
        () = signals.next() => {}
        () = sleep(grace) => {}
    }
    let _ = hurry.send(true);
    tokio::select! {
        worked = &mut worked => worked?,
        () = sleep(FINAL_WRITES_MAX) => return Err(CliError::unreachable("cannot reach the store to end this worker", "no work is lost: its leases expire, and its tasks return to the queue")),
    }
    Ok(String::new())
}

pub(crate) async fn list(api: &Api) -> Result<String, CliError> {
    let mut answer: Value = api.get("/api/workers").await?;
    let workers: Vec<WorkerView> = api::read(answer["workers"].take())?;
    if api.is_json {
        return output::json(&json!({ "workers": workers }));
    }
    if workers.is_empty() {
        return Ok("No workers. Start one: baton up, or baton worker --store URL\n".to_owned());
    }
    let rows: Vec<[String; 6]> = workers.iter().map(row).collect();
    Ok(output::table(["WORKER", "STATE", "LOAD", "HAS", "HEARTBEAT", "RUNS"], &rows))
}

fn row(worker: &WorkerView) -> [String; 6] {
    let state = match worker.state {
        WorkerHealth::Live => "live",
        WorkerHealth::Draining => "draining",
        WorkerHealth::Lost => "lost",
    };
    let agents = worker.agents.iter().map(ToString::to_string);
    let has: Vec<String> = agents.chain(worker.labels.iter().map(ToString::to_string)).collect();
    let runs: Vec<String> = worker.running.iter().map(|one| one.task_id.to_string()).collect();
    [
        worker.name.clone(),
        state.to_owned(),
        format!("{}/{}", worker.running.len(), worker.capacity),
        has.join(","),
        output::time(worker.last_heartbeat),
        runs.join(" "),
    ]
}
