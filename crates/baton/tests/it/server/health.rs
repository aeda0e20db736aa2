//! Health, workers, metrics and request ids.

use super::client::send;
use super::test_server::TestServer;

#[test]
fn health_reports_problems() {
    let mut server = TestServer::without_agents();
    let settings =
        "default_agent = \"ghost\"\n[agents.ghost]\nkind = \"command\"\ncommand = [\"/no/such/agent\"]\n";
    std::fs::write(server.folder.join(".agent/baton.toml"), settings).unwrap();
    server.up(&["--listen", "127.0.0.1:0"]);
    let health = server.read("/api/health");
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["namespace"], "test");
    assert_eq!(health["store"]["is_writable"], true);
    assert_eq!(health["agents"][0]["is_found"], false);
    let problem = health["problems"][0].as_str().unwrap();
    assert!(problem.contains("ghost") && problem.contains("/no/such/agent"), "{problem}");
}

#[test]
fn changed_settings_are_named_until_the_server_is_started_again() {
    let server = TestServer::without_agents().start();
    let path = server.folder.join(".agent/baton.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    assert_eq!(server.read("/api/health")["changed_settings"], serde_json::json!([]));
    std::fs::write(&path, format!("max_agents = 7\n{before}")).unwrap();
    assert_eq!(server.read("/api/health")["changed_settings"], serde_json::json!([".agent/baton.toml"]));
    let status = server.command().arg("status").output().unwrap();
    let printed = String::from_utf8(status.stdout).unwrap();
    assert!(printed.contains(".agent/baton.toml was changed after the server started"), "{printed}");
    assert!(server.get("/health").body.contains("was changed after this server started"));
}

#[test]
fn a_single_server_reports_when_it_started() {
    let server = TestServer::without_agents().start();
    let look = || {
        let worker = server.read("/api/workers")["workers"][0].clone();
        (
            worker["started_at"].as_str().unwrap().to_owned(),
            worker["last_heartbeat"].as_str().unwrap().to_owned(),
        )
    };
    let (_, first_heartbeat) = look();
    let (started, _) = look();
    assert!(started < first_heartbeat, "the start time does not change: {started} {first_heartbeat}");
}

#[test]
fn metrics_count_requests_by_route() {
    let server = TestServer::without_agents().start();
    server.get("/api/tasks/TASK-00000000");
    server.get("/api/tasks/TASK-00000001");
    let metrics = server.get("/metrics");
    assert!(
        metrics.head.contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{metrics:?}"
    );
    let line = "baton_http_requests_total{method=\"GET\",route=\"/api/tasks/{id}\",status=\"404\"} 2";
    assert!(metrics.body.lines().any(|found| found == line), "{}", metrics.body);
    assert!(metrics.body.contains("\nbaton_tasks_ready 0\n"), "{}", metrics.body);
}

#[test]
fn a_request_keeps_its_id() {
    let mut server = TestServer::without_agents().start();
    let answer = send(&server.address, "GET", "/api/health", &[("x-request-id", "mine-1")], None);
    assert!(answer.head.contains("\r\nx-request-id: mine-1"), "{answer:?}");
    let hostile = send(&server.address, "GET", "/api/health", &[("x-request-id", "a b\u{7f}")], None);
    assert!(!hostile.head.contains("a b"), "{hostile:?}");
    let printed = server.stop();
    assert!(printed.contains("id=mine-1"), "{printed}");
}
