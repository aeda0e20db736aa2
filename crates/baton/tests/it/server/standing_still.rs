//! Nothing stands still unseen: what waits for a person is in the inbox, with a way on, on every surface.

use std::io::Write;
use std::process::Command;

use serde_json::{Value, json};

use super::client::{Answer, send};
use super::test_server::TestServer;

/// "Big" burns out, "Look" claims success with words, planners hand in two parts, everything else commits.
fn scripts() -> Value {
    let commit = json!([
        { "append": { "path": "work.txt", "text": "{{task}}\n" } },
        { "commit": "Work" },
        { "result": { "status": "COMPLETE", "output": "Changed." } },
    ]);
    json!([
        { "when": "# Re-Breakdown", "steps": [{ "plan": [{ "title": "Part one" }, { "title": "Part two" }] }] },
        { "when": "# Big", "steps": [{ "turns": 45 }] },
        { "when": "# Look", "resumed": false, "steps": [{ "result": { "status": "COMPLETE", "output": "All is green." } }] },
        { "when": "# Look", "resumed": true, "steps": [
            { "write": { "path": "looked.txt", "text": "x\n" } },
            { "commit": "Work" },
            { "result": { "status": "COMPLETE", "output": "Changed." } },
        ] },
        { "when": "# Work", "steps": commit },
        { "when": "# Part", "steps": [
            { "write": { "path": "{{task}}.txt", "text": "x\n" } },
            { "commit": "Work" },
            { "result": { "status": "COMPLETE", "output": "Changed." } },
        ] },
    ])
}

fn server(settings: &str) -> TestServer {
    let server = TestServer::new(&scripts());
    let path = server.folder.join(".agent/baton.toml");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    writeln!(file, "{settings}").unwrap();
    server.start()
}

fn add(server: &TestServer, title: &str, after: &[&str]) -> String {
    let added = server
        .post("/api/tasks", &json!({ "title": title, "task_type": "IMPLEMENTATION", "depends_on": after }));
    assert_eq!(added.status, 201, "{added:?}");
    added.json()["task_id"].as_str().unwrap().to_owned()
}

fn act(server: &TestServer, task: &str, verb: &str, body: &Value) -> Answer {
    server.post(&format!("/api/tasks/{task}/{verb}"), body)
}

fn breakdown_of(server: &TestServer, task: &str) -> String {
    let state = server.wait_for_queue(task, "recycled")["state"].clone();
    state["replaced_by"]["planning"].as_str().unwrap_or_else(|| panic!("{state}")).to_owned()
}

fn baton(server: &TestServer, words: &[&str]) -> String {
    let output = server.command().args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The standstill of a task over REST, which the command line and the page have too.
fn standstill(server: &TestServer, task: &str) -> Value {
    let all = server.read("/api/standstills")["standstills"].clone();
    let found = all.as_array().unwrap().iter().find(|one| one["task_id"] == task);
    let found = found.unwrap_or_else(|| panic!("{task} is not in {all:#}")).clone();
    let message = found["message"].as_str().unwrap();
    let printed = baton(server, &["questions"]);
    assert!(printed.contains(message), "{message}: {printed}");
    for command in found["commands"].as_array().unwrap() {
        assert!(printed.contains(command.as_str().unwrap()), "{command}: {printed}");
    }
    let page = server.get("/").body;
    assert!(page.contains("class=\"row ") && page.contains(task), "{page}");
    found
}

#[test]
fn an_agent_that_claims_success_without_commits_asks_whether_its_answer_is_enough() {
    let server = server("");
    let task = add(&server, "Look", &[]);
    let waiting = server.wait_for_status(&task, "AWAITING_RESPONSE");
    let question = &waiting["question"];
    assert_eq!(question["kind"], "completion", "{question}");
    assert_eq!(question["options"], json!(["ENOUGH", "CHANGE CODE"]));
    let text = question["text"].as_str().unwrap();
    assert!(text.starts_with("Is this answer enough, or should it change code?"), "{text}");
    assert!(text.ends_with("The agent wrote:\nAll is green."), "{text}");
    assert!(waiting["output"].as_str().unwrap().starts_with("All is green."), "{waiting:#}");
    assert_eq!(waiting["attempts"].as_array().unwrap().len(), 1, "it is not run again by itself");

    assert_eq!(act(&server, &task, "reply", &json!({ "reply": "That is enough." })).status, 200);
    let done = server.wait_for_queue(&task, "done");
    assert_eq!(done["output"], "All is green.", "the answer is the result, without the question");

    let other = add(&server, "Look", &[]);
    server.wait_for_status(&other, "AWAITING_RESPONSE");
    assert_eq!(act(&server, &other, "reply", &json!({ "reply": "CHANGE CODE" })).status, 200);
    let changed = server.wait_for_queue(&other, "provisional");
    assert_eq!((&changed["output"], &changed["verified"]["commits"]), (&json!("Changed."), &json!(1)));
}

#[test]
fn a_breakdown_is_planned_by_itself_and_waits_for_approval() {
    let server = server("");
    let big = add(&server, "Big", &[]);
    let breakdown = breakdown_of(&server, &big);
    let planned = server.wait_for_queue(&breakdown, "provisional");
    assert_eq!(planned["state"]["mark"]["mark"], "plan", "{planned:#}");
    assert_eq!(server.task(&big)["queue"], "recycled", "the plan waits for a person");
}

#[test]
fn with_plan_person_the_breakdown_stands_in_the_inbox_until_somebody_plans_it() {
    let server = server("[recycle]\nplan = \"person\"");
    let big = add(&server, "Big", &[]);
    let breakdown = breakdown_of(&server, &big);
    let standing = standstill(&server, &breakdown);
    assert_eq!(standing["reason"], "plan_wanted");
    assert!(standing["message"].as_str().unwrap().ends_with("waits to be planned"), "{standing}");
    assert_eq!(server.task(&breakdown)["queue"], "breakdown");
    baton(&server, &["breakdown", "run", &breakdown]);
    server.wait_for_queue(&breakdown, "provisional");
    // Now it stands still for another reason.
    let all = server.read("/api/standstills")["standstills"].as_array().unwrap().clone();
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((&all[0]["reason"], &all[0]["task_id"]), (&json!("plan_to_approve"), &json!(breakdown)));
}

#[test]
fn where_a_person_breaks_tasks_down_one_without_progress_stands_in_the_inbox() {
    let server = server("[recycle]\nmode = \"manual\"");
    let task = add(&server, "Big", &[]);
    server.wait_for_queue(&task, "provisional");
    let standing = standstill(&server, &task);
    assert_eq!(standing["reason"], "no_progress");
    let shown = baton(&server, &["questions"]);
    assert!(shown.contains("used 45 of 50 turns and has no commit"), "{shown}");
    assert!(shown.contains(&format!("baton recycle {task}")), "{shown}");
    let page = server.get("/").body;
    assert_eq!(page.matches(&format!("/tasks/{task}/do/recycle")).count(), 1, "one row, not two: {page}");
}

#[test]
fn cancelling_a_recycled_task_cancels_its_breakdown() {
    let server = server("[recycle]\nplan = \"person\"");
    let big = add(&server, "Big", &[]);
    let breakdown = breakdown_of(&server, &big);
    assert_eq!(act(&server, &big, "cancel", &json!({})).status, 200);
    assert_eq!(server.task(&breakdown)["queue"], "rejected");
    assert_eq!(server.read("/api/standstills")["standstills"], json!([]), "nobody waits for it");
}

#[test]
fn a_cancelled_breakdown_stands_in_the_inbox_and_can_be_brought_back() {
    let server = server("[recycle]\nplan = \"person\"");
    let big = add(&server, "Big", &[]);
    let later = add(&server, "Work later", &[&big]);
    let breakdown = breakdown_of(&server, &big);
    assert_eq!(act(&server, &breakdown, "cancel", &json!({})).status, 200);
    let standing = standstill(&server, &big);
    assert_eq!((&standing["reason"], &standing["on"]), (&json!("breakdown_cancelled"), &json!(breakdown)));
    assert_eq!(standstill(&server, &later)["reason"], "dead_dependency");
    baton(&server, &["task", "retry", &breakdown]);
    server.wait_for_queue(&breakdown, "provisional");
    // Now it stands still for another reason.
    let all = server.read("/api/standstills")["standstills"].as_array().unwrap().clone();
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((&all[0]["reason"], &all[0]["task_id"]), (&json!("plan_to_approve"), &json!(breakdown)));
}

#[test]
fn a_dependency_that_can_never_be_met_is_shown_and_can_be_removed() {
    let server = server("");
    let paths = ["command", "rest", "page"];
    for path in paths {
        // Its agent hangs until it is cancelled.
        let first = add(&server, "Hang", &[]);
        let waiting = add(&server, "Work", &[&first]);
        assert_eq!(act(&server, &first, "cancel", &json!({})).status, 200);
        let standing = standstill(&server, &waiting);
        assert_eq!((&standing["reason"], &standing["on"]), (&json!("dead_dependency"), &json!(first)));
        match path {
            "command" => drop(baton(&server, &["task", "edit", &waiting, "--not-after", &first])),
            "rest" => {
                let body = json!({ "not_after": [first] }).to_string();
                let path = format!("/api/tasks/{waiting}");
                let edited = send(&server.address, "PATCH", &path, &[], Some(body.as_bytes()));
                assert_eq!(edited.status, 200, "{edited:?}");
            }
            _ => {
                let headers = [("content-type", "application/x-www-form-urlencoded")];
                let body = format!("on={first}");
                let path = format!("/tasks/{waiting}/not-after");
                let posted = send(&server.address, "POST", &path, &headers, Some(body.as_bytes()));
                assert_eq!(posted.status, 303, "{posted:?}");
            }
        }
        let done = server.wait_for_queue(&waiting, "provisional");
        assert_eq!((&done["depends_on"], &done["waiting_on"]), (&json!([]), &json!([])));
    }
    let lonely = add(&server, "Work", &[]);
    let refused = server.command().args(["task", "edit", &lonely, "--not-after", &lonely]).output().unwrap();
    assert_eq!(refused.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("does not depend on"));
}

#[test]
fn a_cancelled_task_can_be_brought_back_by_a_person() {
    let server = server("");
    let first = add(&server, "Work", &[]);
    server.wait_for_queue(&first, "provisional");
    assert_eq!(act(&server, &first, "cancel", &json!({})).status, 200);
    let waiting = add(&server, "Work after it", &[&first]);
    assert!(server.get(&format!("/tasks/{first}")).body.contains("Bring back"));
    assert_eq!(act(&server, &first, "retry", &json!({})).status, 200);
    server.wait_for_queue(&first, "provisional");
    assert_eq!(server.task(&waiting)["dead_edges"], json!([]), "who waits on it waits for good reason again");
    assert_eq!(act(&server, &first, "accept", &json!({})).status, 200);
    server.wait_for_queue(&waiting, "provisional");
    // Nothing leaves Done.
    assert_eq!(act(&server, &first, "retry", &json!({})).error(), (409, "INVALID_STATUS".to_owned()));
}

#[test]
fn a_failed_task_stands_in_the_inbox() {
    let scripts = json!([
        { "when": "# Break", "steps": [{ "result": { "status": "ERROR", "output": "It broke." } }] },
    ]);
    let server = TestServer::new(&scripts).start();
    let broken = add(&server, "Break", &[]);
    server.wait_for_queue(&broken, "failed");
    assert_eq!(standstill(&server, &broken)["reason"], "failed");
}

#[test]
fn a_project_whose_repository_is_gone_stands_in_the_inbox() {
    let server = TestServer::without_agents().start();
    let folder = server.folder.with_file_name("other");
    let git = |arguments: &[&str]| {
        let identity =
            ["-c", "user.name=mia", "-c", "user.email=mia@example.org", "-C", folder.to_str().unwrap()];
        assert!(Command::new("git").args(identity).args(arguments).status().unwrap().success());
    };
    std::fs::create_dir(&folder).unwrap();
    git(&["init", "-q", "-b", "main"]);
    git(&["commit", "-q", "--allow-empty", "-m", "Begin"]);
    let made = server.post("/api/projects", &json!({ "path": folder, "title": "Other" }));
    let project = made.json()["project_id"].clone();
    server.post("/api/tasks", &json!({ "title": "Work", "project_id": project }));
    assert_eq!(server.read("/api/standstills")["standstills"], json!([]));
    std::fs::remove_dir_all(&folder).unwrap();
    let standing = server.read("/api/standstills")["standstills"][0].clone();
    assert_eq!((&standing["reason"], &standing["project_id"]), (&json!("project_unavailable"), &project));
    assert!(baton(&server, &["questions"]).contains("there is no git repository in"));
    assert!(server.get("/").body.contains("there is no git repository in"));
}

/// A task that was broken down is shown as what it is: in parts, and done when they are. There is nothing left of it
/// to cancel.
#[test]
fn a_task_whose_parts_are_done_is_shown_as_done_in_parts() {
    let server = server("");
    let big = add(&server, "Big", &[]);
    let breakdown = breakdown_of(&server, &big);
    server.wait_for_queue(&breakdown, "provisional");
    let approved = server.post(&format!("/api/breakdowns/{breakdown}/approve"), &json!({}));
    assert_eq!(approved.status, 200, "{approved:?}");
    let parts = approved.json()["subtasks"].as_array().unwrap().clone();
    let cancel = format!("/tasks/{big}/do/cancel");
    for path in [format!("/tasks/{big}"), "/board".to_owned()] {
        let page = server.get(&path).body;
        assert!(page.contains("In parts") && !page.contains(&cancel), "{path}: {page}");
    }
    for part in &parts {
        let part = part.as_str().unwrap();
        server.wait_for_queue(part, "provisional");
        assert_eq!(act(&server, part, "accept", &json!({})).status, 200);
        server.wait_for_queue(part, "done");
    }
    for path in [format!("/tasks/{big}"), "/board".to_owned()] {
        let page = server.get(&path).body;
        assert!(page.contains("Done in parts") && !page.contains(&cancel), "{path}: {page}");
    }
}

#[test]
fn what_a_person_holds_stands_in_the_list_until_they_release_it() {
    let server = server("");
    let big = add(&server, "Big", &[]);
    // It cannot start meanwhile: the plan for what it waits on is never approved.
    let held = add(&server, "Work later", &[&big]);
    baton(&server, &["task", "hold", &held, "--reason", "Not this week"]);
    let standing = standstill(&server, &held);
    assert_eq!(standing["reason"], "held");
    assert_eq!(standing["message"], format!("{held} is held: Not this week"));
    let page = server.get("/").body;
    assert!(
        page.contains("is held: Not this week") && page.contains(&format!("/tasks/{held}/do/release")),
        "{page}"
    );
    baton(&server, &["task", "release", &held]);
    let all = server.read("/api/standstills")["standstills"].as_array().unwrap().clone();
    assert!(all.iter().all(|one| one["task_id"] != held), "{all:?}");
}
