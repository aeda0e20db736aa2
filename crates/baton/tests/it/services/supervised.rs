//! Every service fails in turn: the others continue, health, doctor, pages and `baton up` report it, and it recovers.

use baton_engine::base::supervisor::ServiceName;
use serde_json::json;

use super::faulty_server::FaultyServer;
use crate::engine::store_choice::{address, namespace, report_skipped};
use crate::engine::test_repo::TestRepo;
use crate::postgres;
use crate::server::client::get;

/// Where a service runs. A new service does not compile until it is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Everywhere,
    /// Only where machines share a store.
    OnSharedStore,
}

const fn runs(service: ServiceName) -> Runs {
    match service {
        ServiceName::AutoResponder
        | ServiceName::Changes
        | ServiceName::Dispatcher
        | ServiceName::Follower
        | ServiceName::Landing
        | ServiceName::Leases
        | ServiceName::Loops
        | ServiceName::Notifier
        | ServiceName::Outbox
        | ServiceName::Pruner
        | ServiceName::Push
        | ServiceName::Recycler
        | ServiceName::Room
        | ServiceName::Routines
        | ServiceName::Runs
        | ServiceName::Timers
        | ServiceName::WorktreePool
        | ServiceName::WorktreeRemover => Runs::Everywhere,
        ServiceName::Heartbeat | ServiceName::Leader | ServiceName::LogRelay => Runs::OnSharedStore,
    }
}

fn repo() -> TestRepo {
    let script = json!({ "scripts": [], "otherwise": [
        { "write": { "path": "out/{{task}}.txt", "text": "done\n" } },
        { "commit": "Work on {{task}}" },
        { "result": { "status": "COMPLETE", "output": "Done." } },
    ]});
    TestRepo::scripted(&script, "lease_seconds = 1\nmax_unaccepted = 1000")
}

/// Makes the service fail by an error or a panic, checks that all others continue, and removes the cause.
fn fails_alone(server: &FaultyServer, service: ServiceName, how: &str) {
    server.fail(&format!("service:{service}:{how}"));
    server.until_state(service.as_str(), "failing");
    let health = server.health();
    assert_eq!(health["status"], "degraded", "{health:#}");
    let problem = format!("service {service} is failing: ");
    let is_said = |printed: &serde_json::Value| printed.as_str().unwrap().starts_with(&problem);
    assert!(health["problems"].as_array().unwrap().iter().any(is_said), "{health:#}");
    for other in health["services"].as_array().unwrap() {
        if other["name"] != service.as_str() {
            assert_eq!(other["state"], "running", "while {service} fails: {health:#}");
        }
    }
    server.up.wait_for_line(&format!("Service {service} is failing: "));
    // Without the dispatcher nothing is claimed; any other service is not needed for a task.
    if service != ServiceName::Dispatcher {
        let task = server.repo.add(&format!("Work while {service} fails"), &[]);
        server.repo.until_queue(&task, "provisional");
    }
    assert_eq!(server.service(service.as_str())["state"], "failing", "it still fails");
    server.fail("");
    server.until_state(service.as_str(), "running");
    server.up.wait_for_line(&format!("Service {service} works again."));
}

fn each_fails_alone(server: &FaultyServer, wanted: &[Runs]) {
    let mut names: Vec<ServiceName> =
        ServiceName::ALL.iter().copied().filter(|service| wanted.contains(&runs(*service))).collect();
    // The pruner fails from the beginning.
    names.sort_by_key(|service| *service != ServiceName::Pruner);
    for (service, how) in names.into_iter().zip(["error", "panic"].into_iter().cycle()) {
        fails_alone(server, service, how);
    }
    server.until("health is ok again", || server.health()["status"] == "ok");
}

#[test]
fn i23_every_service_fails_alone_and_recovers() {
    // The pruner runs at once and then only every hour.
    let server = FaultyServer::start(repo(), "service:pruner:error");
    each_fails_alone(&server, &[Runs::Everywhere]);
    let task = server.repo.add("Work afterwards", &[]);
    server.repo.until_queue(&task, "provisional");
    server.up.end();
}

#[test]
fn i23_every_service_of_a_shared_store_fails_alone_and_recovers() {
    if let Some(reason) = postgres::missing() {
        report_skipped(&reason);
        return;
    }
    let mut repo = repo();
    repo.variables =
        vec![("BATON_STORE".to_owned(), address()), ("BATON_NAMESPACE".to_owned(), namespace("services"))];
    let server = FaultyServer::start(repo, "");
    each_fails_alone(&server, &[Runs::OnSharedStore]);
    server.up.end();
}

#[test]
fn i23_doctor_and_every_page_show_a_failing_service() {
    let server = FaultyServer::start(repo(), "service:outbox");
    server.until_state("outbox", "failing");
    let doctor = server.repo.output(&["doctor"]);
    let printed = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(!doctor.status.success());
    assert!(
        printed.contains("✗ services    outbox is failing: failure injected into service outbox"),
        "{printed}"
    );
    for page in ["/", "/board", "/health"] {
        let page = get(&server.address, page).body;
        assert!(page.contains("id=\"degraded\"") && page.contains("service outbox is failing"), "{page}");
    }
    server.fail("");
    server.until_state("outbox", "running");
    assert!(!get(&server.address, "/board").body.contains("id=\"degraded\""));
    let printed = server.repo.stdout(&["doctor"]);
    assert!(printed.contains("✓ services"), "{printed}");
    server.up.end();
}
