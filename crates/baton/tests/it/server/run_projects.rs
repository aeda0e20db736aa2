//! Runs that nobody named a project for: they belong to the project of the repository, and take its tasks.

use serde_json::{Value, json};

use super::test_server::TestServer;
use super::websocket::Socket;

const OTHER: &str = "elsewhere";

/// A server on a repository with a project, and with another repository's project.
fn server() -> (TestServer, String) {
    let server = TestServer::without_agents().start();
    let other = server.folder.with_file_name(OTHER);
    std::fs::create_dir(&other).unwrap();
    let at = other.display().to_string();
    server.git(&["init", "-q", "-b", "main", &at]);
    server.git(&["-C", &at, "commit", "-q", "--allow-empty", "-m", "Begin"]);
    for path in [&other, &server.folder] {
        assert_eq!(server.post("/api/projects", &json!({ "path": path })).status, 201);
    }
    let projects = server.read("/api/projects");
    let own = projects["projects"].as_array().unwrap().iter();
    let own = own.clone().find(|project| project["path"] == server.folder.display().to_string()).unwrap();
    let own = own["project_id"].as_str().unwrap().to_owned();
    (server, own)
}

fn baton(server: &TestServer, arguments: &[&str]) -> Value {
    let output = server.command().arg("--json").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_run_belongs_to_the_project_of_the_repository_on_every_surface() {
    let (server, own) = server();
    let start = json!({ "recipe_id": "document-design" });
    assert_eq!(server.post("/api/sessions/rest/recipe", &start).status, 201);
    baton(&server, &["recipe", "start", "document-design", "--session", "command"]);
    let mut socket = Socket::connected(&server.address);
    let started = socket
        .ask(json!({ "type": "start_recipe", "session_id": "socket", "recipe_id": "document-design",
                                     "working_directory": server.folder.display().to_string() }));
    assert_eq!(started["type"], "ack", "{started}");
    for session in ["rest", "command", "socket"] {
        let run = server.read(&format!("/api/sessions/{session}/recipe"));
        assert_eq!(run["project_id"], own.as_str(), "{run}");
        let task = server.task(run["task_id"].as_str().unwrap());
        assert_eq!(task["project_id"], own.as_str(), "{task}");
        // The conversation of the run takes messages and tasks of the repository, with and without its project.
        let message = json!({ "content": "And the API?", "session_id": session, "task_type": "REPORT" });
        assert_eq!(server.post(&format!("/api/projects/{own}/chat"), &message).status, 201);
        baton(&server, &["task", "add", "The CLI too", "--session", session]);
        let path = format!("/api/projects/{own}/conversation?session_id={session}");
        assert!(server.get(&path).body.contains("And the API?"));
    }
}

#[test]
fn a_run_takes_the_repositorys_tasks_with_and_without_a_project() {
    let (server, own) = server();
    let task = |body: Value| server.post("/api/tasks", &body).json()["task_id"].as_str().unwrap().to_owned();
    let projects = server.read("/api/projects");
    let other =
        projects["projects"].as_array().unwrap().iter().find(|project| project["project_id"] != own.as_str());
    let foreign =
        task(json!({ "title": "Foreign", "project_id": other.unwrap()["project_id"], "priority": "P0" }));
    let plain = task(json!({ "title": "Plain" }));
    let named = task(json!({ "title": "Named", "project_id": own }));
    for (session, wanted) in [("first", &plain), ("second", &named)] {
        let run = server.post(
            &format!("/api/sessions/{session}/recipe"),
            &json!({ "recipe_id": "implement-and-review-all" }),
        );
        assert_eq!(run.json()["task_id"], wanted.as_str(), "{run:?}");
    }
    assert_eq!(server.task(&foreign)["not_started"]["reason"], Value::Null, "{}", server.task(&foreign));
}
