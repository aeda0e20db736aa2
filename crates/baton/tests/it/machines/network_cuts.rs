//! A hundred tasks on three workers and two servers, each in its own network and most with a clock that is five minutes
//! off. Each worker is killed once and disconnected once for longer than its lease, PostgreSQL crashes and a server is
//! killed: every task is done once, all work is merged, no question is lost or repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::fleet::{Fleet, Machine};
use super::network::{self, HOSTS, HUB, Network};
use crate::engine::store_choice::report_skipped;
use crate::engine::test_repo::BatonProcess;
use crate::postgres::{self, Server};
use crate::wait;

/// Tasks of the plan.
const PLANNED: usize = 100;
/// One more task for each kill and each cut of a worker, so that the worker is busy at that moment.
const HITS: usize = 6;
const TASKS: usize = PLANNED + HITS;
/// Tasks in one row; each depends on one or two of the row before.
const ROW: usize = 20;
/// Every tenth task asks first.
const ASKING_EVERY: usize = 10;
const LEASE_SECONDS: u32 = 3;
/// Clock offsets for libfaketime: only one machine agrees with the store.
const CLOCKS: [&str; 5] = ["+300s", "-300s", "+0s", "-300s", "+300s"];
/// The title of the task that a worker runs when it is killed or cut off.
const STAYING: &str = "Stay at work";
const SERVERS: [u8; 2] = [3, 4];
/// How often each server accepts what is finished: seldom enough to leave the processors to the work.
const ACCEPT_EVERY: Duration = Duration::from_millis(250);
/// A busy machine may need three times as long as an idle one.
const PATIENCE: Duration = Duration::from_mins(5);

/// Asks first where the title says so, then works. Or reports that it is at work and hangs until its machine is hit.
const AGENT: &str = r#"
case "$prompt" in
    *"Ask first"*) if [ -z "${BATON_RESUME:-}" ]; then
        echo '{"baton":"ask","question":"Which colour?","options":["red","blue"]}'; exit 0; fi ;;
    *"Stay at work"*) if [ "$BATON_ATTEMPT_NUMBER" = 1 ]; then
        touch "${PWD%%/.agent/state/*}/at-work-on-$BATON_TASK_ID"; hang; fi ;;
esac
turns 1; work
"#;

#[test]
fn a_hundred_tasks_survive_cuts_kills_and_wrong_clocks() {
    if let Some(reason) = network::missing().or_else(postgres::missing) {
        report_skipped(&reason);
        return;
    }
    let cluster = Cluster::start();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for server in SERVERS {
            let (cluster, is_over) = (&cluster, &is_over);
            scope.spawn(move || cluster.accept_until(server, is_over));
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cluster.disturb()));
        is_over.store(true, Ordering::Relaxed);
        if let Err(why) = result {
            std::panic::resume_unwind(why);
        }
    });
    cluster.check();
}

struct Cluster {
    // Dropped in this order: processes before what they use.
    _daemon: Running,
    server: Server,
    network: Network,
    fleet: Fleet,
    machines: Vec<Machine>,
    project: String,
}

/// Ended when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Cluster {
    fn start() -> Self {
        let network = Network::new(5);
        let server = Server::within("cut", &network.hub(), HOSTS).unwrap();
        let store = format!("postgres://baton@{HUB}/postgres");
        let fleet = Fleet::new(store, "cut", AGENT);
        let daemon = daemon(&network, &fleet.home);
        let settings =
            format!("lease_seconds = {LEASE_SECONDS}\nmax_unaccepted = 200\n[worktree]\nspares = 0");
        let machines: Vec<Machine> = (0..5)
            .map(|number| {
                let mut machine = fleet.machine(&format!("machine-{number}"), &settings);
                machine.prefix = Network::inside(&network.machine(number));
                if let Some(library) = faketime() {
                    machine.variables.extend([
                        ("LD_PRELOAD".to_owned(), library),
                        ("FAKETIME".to_owned(), CLOCKS[usize::from(number)].to_owned()),
                        ("FAKETIME_DONT_FAKE_MONOTONIC".to_owned(), "1".to_owned()),
                    ]);
                }
                machine
            })
            .collect();
        let project = String::new();
        let mut cluster = Self { _daemon: daemon, server, network, fleet, machines, project };
        cluster.project = cluster.project();
        cluster
    }

    /// Creates the project and imports its tasks.
    fn project(&self) -> String {
        let machine = &self.machines[usize::from(SERVERS[0])];
        let remote = format!("git://{HUB}/app.git");
        let made = machine.json(&["project", "create", "App", "--remote", &remote]);
        let project = made["project_id"].as_str().unwrap().to_owned();
        let tasks: Vec<Value> = (0..PLANNED).map(planned).collect();
        let file = self.fleet.home.join("tasks.json");
        std::fs::write(&file, json!({ "tasks": tasks }).to_string()).unwrap();
        machine.stdout(&["import", "task-master", file.to_str().unwrap(), "--project", &project]);
        project
    }

    /// Kills and cuts the machines while the tasks are done.
    fn disturb(&self) {
        let mut workers: Vec<Option<BatonProcess>> = (0..3).map(|number| Some(self.worker(number))).collect();
        let mut servers: Vec<Option<BatonProcess>> =
            SERVERS.iter().map(|number| Some(self.machine(*number).up(&["--agents", "0"]))).collect();
        let mut restart = |number: u8| {
            let place = &mut workers[usize::from(number)];
            if let Some(worker) = place.take() {
                worker.kill();
            }
            *place = Some(self.worker(number));
        };
        self.until_done(8);
        self.put_to_work(0);
        restart(0);
        self.until_done(18);
        self.cut_until_lost(1);
        self.until_done(30);
        self.put_to_work(1);
        restart(1);
        self.until_done(42);
        self.server.kill_and_restart();
        self.until_done(52);
        self.cut_until_lost(2);
        self.until_done(62);
        self.put_to_work(2);
        restart(2);
        self.until_done(72);
        // The server that has been up longer is most likely the leader.
        if let Some(server) = servers[0].take() {
            server.kill();
        }
        self.until_done(82);
        self.cut_until_lost(0);
        self.until_done(TASKS);
        for worker in workers.into_iter().flatten() {
            worker.end();
        }
        for server in servers.into_iter().flatten() {
            server.end();
        }
    }

    fn worker(&self, number: u8) -> BatonProcess {
        self.machine(number).worker(&["--agents", "4", "--grace", "20", "--label", &label(number)])
    }

    fn machine(&self, number: u8) -> &Machine {
        &self.machines[usize::from(number)]
    }

    /// Gives the machine a task that no other may take, and returns the task once it is at work on it.
    fn put_to_work(&self, number: u8) -> String {
        let urgent = ["--needs", &label(number), "--priority", "P0"];
        let office = self.machine(SERVERS[1]);
        let task = office.add(&self.project, STAYING, &urgent);
        let begun = self.machine(number).folder.join(format!("at-work-on-{task}"));
        office.until(&format!("machine {number} is at work on {task}"), || begun.exists());
        task
    }

    /// Cuts the machine off while it is at work, for as long as it takes the others to give its work away.
    fn cut_until_lost(&self, number: u8) {
        let task = self.put_to_work(number);
        self.network.cut(number);
        let office = self.machine(SERVERS[1]);
        office.until(&format!("the lease on {task} has expired"), || {
            office.task(&task)["attempts"][0]["closing"]["closing"] == "lost"
        });
        self.network.reconnect(number);
    }

    /// Accepts finished work and answers questions at one server, while another thread does the same at the other.
    fn accept_until(&self, server: u8, is_over: &AtomicBool) {
        let machine = self.machine(server);
        wait::repeat_every(ACCEPT_EVERY, || {
            // Failures are expected: the other server was faster, PostgreSQL is down, or this server was killed.
            let _ = machine.try_run(&["accept", "--all"]);
            let (worked, printed) = machine.try_stdout(&["--json", "questions"]);
            let asked: Value =
                if worked { serde_json::from_str(&printed).unwrap_or_default() } else { Value::Null };
            for question in asked["questions"].as_array().into_iter().flatten() {
                if let Some(id) = question["id"].as_str() {
                    let _ = machine.try_run(&["answer", id, "red"]);
                }
            }
            is_over.load(Ordering::Relaxed)
        });
    }

    fn until_done(&self, wanted: usize) {
        let progress = || {
            let words = ["--json", "project", "show", &self.project];
            let (worked, printed) = self.machine(SERVERS[1]).try_stdout(&words);
            if !worked {
                return Value::Null;
            }
            let mut report: Value = serde_json::from_str(&printed).unwrap();
            report["progress"].take()
        };
        let is_done = || progress()["done"].as_u64().unwrap_or(0) >= wanted as u64;
        wait::until(PATIENCE, is_done, || format!("{wanted} done: {}", progress()));
    }

    /// Checks the result.
    fn check(&self) {
        let machine = self.machine(SERVERS[1]);
        let lines = machine.stdout(&["export", "--events", "--project", &self.project]);
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| lines.iter().filter(move |line| line["kind"] == kind).collect::<Vec<_>>();
        let tasks: BTreeSet<String> = of("task").iter().map(|task| text(task, "task_id")).collect();
        assert_eq!(tasks.len(), TASKS);

        let mut done: BTreeMap<String, usize> = BTreeMap::new();
        for event in of("event").into_iter().filter(|event| event["event"] == "task_done") {
            *done.entry(text(event, "task")).or_default() += 1;
        }
        assert_eq!(done.len(), TASKS);
        assert!(done.values().all(|times| *times == 1), "done more than once: {done:?}");

        let merged: BTreeSet<String> = self.fleet.files("main").into_iter().collect();
        let subjects = self.fleet.git(&["log", "--format=%s", "main"]);
        for task in &tasks {
            assert!(merged.contains(&format!("{task}.txt")), "{task} is not merged");
            assert!(subjects.lines().any(|line| line == format!("Work on {task}")), "{task} has no commit");
        }

        // The `kind` of a question replaces that of the line.
        let questions: Vec<&Value> = lines.iter().filter(|line| line.get("asked_at").is_some()).collect();
        let asking: BTreeSet<String> = questions.iter().map(|question| text(question, "task_id")).collect();
        assert_eq!(
            (questions.len(), asking.len()),
            (PLANNED / ASKING_EVERY, PLANNED / ASKING_EVERY),
            "{questions:#?}"
        );
        for question in &questions {
            assert!(question.to_string().contains("\"answer\":\"red\""), "{question}");
        }

        // No worker runs anything any more.
        let health = machine.json(&["workers"]);
        let running = |worker: &Value| worker["running"].as_array().map_or(0, Vec::len);
        assert!(
            health["workers"].as_array().unwrap().iter().all(|worker| running(worker) == 0),
            "{health:#}"
        );
        let claimed = of("task").into_iter().filter(|task| task["status"] == "RUNNING").count();
        assert_eq!(claimed, 0);
        let hits: Vec<&Value> = of("task").into_iter().filter(|task| task["title"] == STAYING).collect();
        assert_eq!(hits.len(), HITS);
        for task in hits {
            assert_eq!(task["attempts"][0]["closing"]["closing"], "lost", "{task:#}");
        }
    }
}

/// The label of this machine.
fn label(number: u8) -> String {
    format!("machine-{number}")
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// A task of the plan, which depends on tasks of the row before.
fn planned(number: usize) -> Value {
    let above = |step: usize| number.checked_sub(ROW).map(|up| up / ROW * ROW + (up + step) % ROW + 1);
    let waits_on: BTreeSet<usize> = [above(0), above(7)].into_iter().flatten().collect();
    let title = if number % ASKING_EVERY == 3 { "Ask first" } else { "Work" };
    json!({ "id": number + 1, "title": format!("{title} {}", number + 1), "status": "pending",
            "dependencies": waits_on.into_iter().collect::<Vec<_>>() })
}

/// The git server of the network. Started as `git-daemon`, because `git daemon` would be two processes.
fn daemon(network: &Network, home: &Path) -> Running {
    let programs = Command::new("git").arg("--exec-path").output().unwrap().stdout;
    let programs = String::from_utf8(programs).unwrap();
    let inside = Network::inside(&network.hub());
    let child = Command::new(&inside[0])
        .args(&inside[1..])
        .arg(Path::new(programs.trim()).join("git-daemon"))
        .args(["--export-all", "--enable=receive-pack", "--reuseaddr"])
        .arg(format!("--listen={HUB}"))
        .arg(format!("--base-path={}", home.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Running(child)
}

/// The library that changes a program's clock. Without it the clocks agree, which is reported.
pub(crate) fn faketime() -> Option<String> {
    let found = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64"]
        .map(|folder| format!("{folder}/faketime/libfaketime.so.1"))
        .into_iter()
        .find(|path| Path::new(path).is_file());
    if found.is_none() {
        report_skipped("the clocks agree: libfaketime is not installed (apt-get install libfaketime)");
    }
    found
}
