//! How long it takes from "a task is ready" to "its agent's process runs", and what a bare process start takes here.
//!
//! `cargo bench -p baton-engine` prints both and their ratio. The engine is the real one, on a repository with a
//! thousand files; the agent is a shell that writes down the moment it was started.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that cannot be taken says so")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use baton_core::base::git_name::BranchName;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::task::TaskSpec;
use baton_core::task::state::QueueName;
use baton_engine::base::ids::Ids;
use baton_engine::git::{CheckoutBase as Stand, CheckoutSpec, Git, Repository, Setup, Worktrees};
use baton_engine::services::engine::Engine;
use baton_engine::settings::Settings;
use baton_engine::settings::location::{LocationOptions, StateLocation};
use baton_engine::tasks::service::TaskService;
use tokio::sync::watch;

const ROUNDS: usize = 40;
const FILES: usize = 1_000;
/// The promise, on an idle machine.
const WANTED_MS: f64 = 20.0;

#[tokio::main(worker_threads = 2)]
async fn main() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap().join("repository");
    let stamp = scratch.path().join("stamp");
    let script = format!("date +%s%N > {0}; echo Looked.", stamp.display());
    repository(&root);
    clone_times(&root, scratch.path()).await;
    let bare = sorted((0..ROUNDS).map(|_| bare_start(&script, &stamp)).collect());

    let place = StateLocation::find(&root, &LocationOptions::default()).unwrap();
    let tasks = TaskService::new(place.open_store().await.unwrap(), Ids::random());
    let state = place.state_dir.clone();
    let settings = format!(
        "default_agent = \"stamp\"\nmax_unaccepted = 1000\n[agents.stamp]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"
    );
    let settings = Settings::parse(&settings, Path::new("the bench's settings")).unwrap();
    let engine = Engine::new(
        tasks.clone(),
        settings,
        place,
        "baton".into(),
        Arc::new(|line: &str| println!("{line}")),
    );
    let engine = engine.await.unwrap();
    let (stop, shutdown) = watch::channel(false);
    let measuring = async {
        let mut taken = Vec::new();
        for round in 0..ROUNDS {
            taken.push(dispatch(&tasks, &state, &stamp, round).await);
        }
        stop.send(true).unwrap();
        sorted(taken)
    };
    let (worked, taken) = tokio::join!(engine.run(shutdown), measuring);
    worked.unwrap();
    tasks.close().await.unwrap();
    report("a bare process start", &bare);
    report("ready to agent started", &taken);
    let median = at(&taken, 50);
    println!(
        "ratio of the medians: {:.1}; wanted: under {WANTED_MS} ms, found: {median:.1} ms",
        median / at(&bare, 50)
    );
}

fn repository(root: &Path) {
    fs::create_dir_all(root).unwrap();
    for number in 0..FILES {
        let folder = root.join(format!("src/part{}", number % 50));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("file{number}.rs")), format!("// {number}\n").repeat(100)).unwrap();
    }
    let identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "Begin"]] {
        assert!(
            Command::new("git").args(identity).args(arguments).current_dir(root).status().unwrap().success()
        );
    }
}

/// What a clone costs without a spare, and how long commits take to come over.
async fn clone_times(root: &Path, scratch: &Path) {
    let repository = Repository::open(&Git::on_path(), root).await.unwrap();
    let worktrees = Worktrees::new(repository, &scratch.join("clones")).unwrap();
    let (mut made, mut brought) = (Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        let bits = u32::try_from(number).unwrap() + 1;
        let branch = BranchName::for_task(TaskId::from_bits(bits));
        let place = Stand::Task { branch, from: "main".parse().unwrap(), ahead: None };
        let attempt = AttemptId::from_bits(bits.into());
        let spec = CheckoutSpec { attempt, place, resumes: None, setup: Setup::default() };
        let before = now_ns();
        let checkout = worktrees.create(&spec).await.unwrap();
        made.push(ms(now_ns() - before));
        fs::write(checkout.folder.join("new"), "x").unwrap();
        for arguments in [&["add", "new"][..], &["commit", "-q", "-m", "New"]] {
            let git = Command::new("git").args(arguments).current_dir(&checkout.folder).status();
            assert!(git.unwrap().success());
        }
        let before = now_ns();
        worktrees.bring(&checkout).await.unwrap();
        brought.push(ms(now_ns() - before));
        worktrees.retire(attempt).await.unwrap();
    }
    report("a clone without a spare", &sorted(made));
    report("one commit brought over", &sorted(brought));
}

/// The moment the script wrote down, once it has.
fn stamped(stamp: &Path) -> Option<u128> {
    let text = fs::read_to_string(stamp).ok()?;
    fs::remove_file(stamp).unwrap();
    text.trim().parse().ok()
}

fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}

fn bare_start(script: &str, stamp: &Path) -> f64 {
    let before = now_ns();
    assert!(Command::new("sh").args(["-c", script]).output().unwrap().status.success());
    ms(stamped(stamp).unwrap() - before)
}

async fn dispatch(tasks: &TaskService, state: &Path, stamp: &Path, round: usize) -> f64 {
    let mut changes = tasks.changes();
    let before = now_ns();
    let task = tasks.add_task(&[], Actor::human("bench"), |id, created_at| {
        TaskSpec::new(
            id,
            "bench".parse().unwrap(),
            TaskType::ReadInfo,
            NonBlank::new(format!("Task {round}")).unwrap(),
            created_at,
        )
    });
    let id = task.await.unwrap().id();
    loop {
        changes.mark_unchanged();
        if tasks.task(id).await.unwrap().value.state().queue() == QueueName::Done {
            break;
        }
        let _ = tokio::time::timeout(Duration::from_millis(200), changes.changed()).await;
    }
    // What is done after an attempt is not what is measured; the next task finds the machine idle.
    while !is_stocked(state) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    ms(stamped(stamp).unwrap() - before)
}

/// Whether the last worktree is gone and the next one stands ready.
fn is_stocked(state: &Path) -> bool {
    let names = |folder| fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let is_ready = |record: &PathBuf| record.join("spare").exists();
    names(state.join("worktrees")).count() == 1
        && names(state.join("checkouts")).filter(is_ready).count() == 1
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds for a person")]
fn ms(ns: u128) -> f64 {
    ns as f64 / 1e6
}

fn sorted(mut taken: Vec<f64>) -> Vec<f64> {
    taken.sort_by(f64::total_cmp);
    taken
}

fn at(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100]
}

fn report(what: &str, taken: &[f64]) {
    println!("{what}: median {:.1} ms, p95 {:.1} ms, least {:.1} ms", at(taken, 50), at(taken, 95), taken[0]);
}
