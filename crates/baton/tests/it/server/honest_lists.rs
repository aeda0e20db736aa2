//! Lists, counts and texts about tasks say what is so.

use serde_json::{Value, json};

use super::client::send;
use super::test_server::TestServer;

const PARTS: [&str; 6] = ["Zeta", "Alpha", "Mu", "Beta", "Omega", "Gamma"];

fn scripts() -> Value {
    let parts: Vec<Value> = PARTS.iter().map(|title| json!({ "title": title })).collect();
    json!([
        { "when": "# Re-Breakdown: Big", "steps": [{ "plan": parts }] },
        { "when": "# Re-Breakdown: Wide", "steps": [{ "crash": { "exit": 3 } }] },
        { "when": "# Big", "steps": [{ "turns": 45 }] },
        { "when": "# Wide", "steps": [{ "turns": 45 }] },
        { "when": "# Rejected", "steps": [
            { "append": { "path": "work.txt", "text": "x\n" } },
            { "commit": "Work" },
            { "result": { "status": "COMPLETE", "output": "Changed." } },
        ] },
    ])
}

fn add(server: &TestServer, title: &str, project: Option<&str>) -> String {
    let added = server.post("/api/tasks", &json!({ "title": title, "project_id": project }));
    assert_eq!(added.status, 201, "{added:?}");
    added.json()["task_id"].as_str().unwrap().to_owned()
}

/// The breakdown of a task that burns out.
fn breakdown_of(server: &TestServer, task: &str) -> String {
    let state = server.wait_for_queue(task, "recycled")["state"].clone();
    state["replaced_by"]["planning"].as_str().unwrap_or_else(|| panic!("{state}")).to_owned()
}

fn baton(server: &TestServer, words: &[&str]) -> String {
    let output = server.command().args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn form(server: &TestServer, path: &str, body: &str) -> super::client::Answer {
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    send(&server.address, "POST", path, &headers, Some(body.as_bytes()))
}

#[test]
fn the_parts_of_a_plan_are_listed_in_its_order_with_their_lineage() {
    let server = TestServer::new(&scripts()).start();
    let project = server.project();
    let big = add(&server, "Big", Some(&project));
    let breakdown = breakdown_of(&server, &big);
    server.wait_for_queue(&breakdown, "provisional");
    let report = baton(&server, &["project", "show", &project]);
    assert!(report.contains("0 of 2") && report.contains("1 to break down"), "{report}");
    baton(&server, &["breakdown", "approve", &breakdown]);
    let tasks = server.read("/api/tasks?limit=100")["tasks"].clone();
    let tasks: Vec<&Value> = tasks.as_array().unwrap().iter().collect();
    let listed: Vec<&str> = tasks.iter().map(|task| task["title"].as_str().unwrap()).collect();
    let parts: Vec<&str> = listed.iter().copied().filter(|title| PARTS.contains(title)).collect();
    assert_eq!(parts, PARTS);
    for list in [baton(&server, &["task", "list"]), baton(&server, &["project", "show", &project])] {
        let places: Vec<usize> = PARTS.iter().map(|title| list.find(title).unwrap()).collect();
        assert!(places.is_sorted(), "{list}");
    }
    for task in tasks {
        let title = task["title"].as_str().unwrap();
        let depth = u8::from(title != "Big");
        assert_eq!(task["re_breakdown_depth"], depth, "{title}");
        let replaced = if title.starts_with("Re-breakdown") { json!(big) } else { json!(null) };
        assert_eq!(task["replaces_task_id"], replaced, "{title}");
    }
    // The breakdown is done; the six parts count instead of the task they replace.
    let report = baton(&server, &["project", "show", &project]);
    assert!(report.contains("1 of 7") && report.contains("1 broken down"), "{report}");
}

#[test]
fn a_planner_that_fails_says_why_in_its_output() {
    let server = TestServer::new(&scripts()).start();
    let wide = add(&server, "Wide", None);
    let breakdown = breakdown_of(&server, &wide);
    let failed = server.wait_for_queue(&breakdown, "failed");
    let output = failed["output"].as_str().unwrap_or_else(|| panic!("{failed:#}"));
    assert!(output.contains("exited with code 3"), "{output}");
}

#[test]
fn the_reject_that_recycles_names_the_breakdown_and_the_next_step() {
    let server = TestServer::new(&scripts()).start();
    let task = add(&server, "Rejected", None);
    let mut said = String::new();
    for _ in 0..3 {
        server.wait_for_queue(&task, "provisional");
        said = baton(&server, &["reject", &task, "--reason", "Not yet."]);
    }
    let breakdown = breakdown_of(&server, &task);
    assert!(said.contains(&breakdown) && said.contains("baton breakdown approve"), "{said}");
    assert!(!said.contains("next attempt"), "{said}");
}

#[test]
fn the_chat_page_lets_a_person_choose_the_type() {
    let server = TestServer::without_agents().start();
    let page = server.get("/chat/mine").body;
    for choice in ["Guess the type", "READ_INFO", "DANGEROUS_OP"] {
        assert!(page.contains(choice), "{choice}: {page}");
    }
    assert_eq!(form(&server, "/chat/mine", "content=Tidy+up&type=REPORT").status, 303);
    assert_eq!(form(&server, "/chat/mine", "content=please+check+the+status+of+CI&type=").status, 303);
    assert_eq!(form(&server, "/chat/mine", "content=Tidy+up&type=MAGIC").status, 400);
    let tasks = server.read("/api/task-groups/mine/tasks")["tasks"].clone();
    let types: Vec<&str> =
        tasks.as_array().unwrap().iter().map(|task| task["task_type"].as_str().unwrap()).collect();
    assert_eq!(types, ["REPORT", "READ_INFO"]);
}

#[test]
fn the_first_prompt_of_a_group_is_short() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    server.chat(&project, &json!({ "content": "x".repeat(100_000) }));
    let groups = server.read("/api/task-groups");
    let first = groups["task_groups"][0]["first_prompt"].as_str().unwrap();
    assert!(first.len() < 1_000, "{}", first.len());
}

#[test]
fn the_breakdown_page_shows_the_planners_prompt_and_keeps_a_faulty_plan() {
    let server = TestServer::new(&scripts()).start();
    let big = add(&server, "Big", None);
    let breakdown = breakdown_of(&server, &big);
    server.wait_for_queue(&breakdown, "provisional");
    let page = server.get(&format!("/breakdowns/{breakdown}")).body;
    assert!(page.contains("Another try at the whole") || page.contains("too large"), "{page}");
    assert!(page.contains("45 of its 50 turns"), "what only the planner's prompt says: {page}");
    let circle = "title-1=One&after-1=2&title-2=Two&after-2=1&description-2=Kept+words";
    let refused = form(&server, &format!("/breakdowns/{breakdown}/edit"), circle);
    assert_eq!(refused.status, 400);
    for kept in ["The plan cannot be used", "Kept words", "value=\"One\"", "value=\"Two\""] {
        assert!(refused.body.contains(kept), "{kept}: {}", refused.body);
    }
    let mended = circle.replace("after-1=2", "after-1=");
    assert_eq!(form(&server, &format!("/breakdowns/{breakdown}/edit"), &mended).status, 303);
}
