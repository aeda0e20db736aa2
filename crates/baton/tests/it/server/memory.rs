//! A conversation remembers: a later message knows the earlier ones and starts from their unaccepted work.

use serde_json::{Value, json};

use super::client::send;
use super::test_server::TestServer;
use super::websocket::Socket;
use crate::looping::fixture::script;
use crate::looping::stopping::{answer, start, titled};

fn commit(file: &str, output: &str) -> Value {
    json!([
        { "write": { "path": file, "text": "{{answer}}\n" } },
        { "commit": format!("Add {file}") },
        { "result": { "status": "COMPLETE", "output": output } },
    ])
}

fn scripts() -> Value {
    let mut fix = commit("fixed.txt", "Fixed {{answer}}.");
    fix.as_array_mut().unwrap().insert(0, json!({ "read_answer": "The cause is " }));
    json!([
        { "when": "Why is it slow?", "steps": [{ "result": { "status": "COMPLETE", "output": "The cause is a missing index" } }] },
        { "when": "Then fix it", "steps": fix },
        { "when": "Ask first", "resumed": false, "steps": [{ "ask": { "question": "Which colour?" } }] },
        { "when": "Ask first", "resumed": true, "steps": [{ "result": { "status": "COMPLETE", "output": "Asked." } }] },
        { "when": "Which was it?", "steps": [
            { "read_answer": "answered:" },
            { "result": { "status": "COMPLETE", "output": "It was {{answer}}" } },
        ] },
        { "when": "Build it", "attempt": 1, "steps": commit("built.txt", "Built.") },
        { "when": "Extend it", "attempt": 1, "steps": commit("extended.txt", "Extended.") },
        { "when": "Go on", "steps": commit("more.txt", "More.") },
    ])
}

/// Sends a message to a session; returns its task.
type Surface = fn(&TestServer, &str, &str) -> String;

fn rest(server: &TestServer, session: &str, text: &str) -> String {
    let project = server.read("/api/projects")["projects"][0]["project_id"].as_str().unwrap().to_owned();
    server.chat(&project, &json!({ "content": text, "session_id": session }))
}

fn page(server: &TestServer, session: &str, text: &str) -> String {
    let body = format!("content={}", text.replace(' ', "+").replace('?', "%3F"));
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let posted = send(&server.address, "POST", &format!("/chat/{session}"), &headers, Some(body.as_bytes()));
    assert_eq!(posted.status, 303, "{posted:?}");
    let tasks = server.read(&format!("/api/task-groups/{session}/tasks"))["tasks"].clone();
    let is_it = |task: &&Value| task["title"] == text;
    tasks.as_array().unwrap().iter().find(is_it).unwrap()["task_id"].as_str().unwrap().to_owned()
}

fn socket(server: &TestServer, session: &str, text: &str) -> String {
    let mut socket = Socket::connected(&server.address);
    let ack = socket.ask(json!({ "type": "prompt", "session_id": session, "content": text }));
    ack["task_id"].as_str().unwrap().to_owned()
}

fn command(server: &TestServer, session: &str, text: &str) -> String {
    let output = server.command().args(["--json", "chat", "--session", session, text]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let first: Value = serde_json::from_str(printed.lines().next().unwrap_or("null")).unwrap();
    let id = first["message"]["task_id"].as_str();
    id.unwrap_or_else(|| panic!("{printed}{}", String::from_utf8_lossy(&output.stderr))).to_owned()
}

/// Builds, and returns the task once it is finished.
fn finished(server: &TestServer, session: &str, text: &str) -> String {
    let task = rest(server, session, text);
    server.wait_for_queue(&task, "provisional");
    task
}

fn files(server: &TestServer, task: &str) -> String {
    let branch = format!("baton/{task}");
    let listed = std::process::Command::new("git")
        .args(["ls-tree", "--name-only", &branch])
        .current_dir(&server.folder)
        .output()
        .unwrap();
    String::from_utf8(listed.stdout).unwrap()
}

/// All that the agents of a task were told.
pub(super) fn prompts(server: &TestServer, task: &Value) -> String {
    let ids =
        task["attempts"].as_array().unwrap().iter().map(|attempt| attempt["attempt"]["id"].as_str().unwrap());
    let folders = ids.map(|id| server.folder.join(".agent/state/attempts").join(id).join("prompts"));
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

/// Sends a message whose type is chosen.
fn typed(server: &TestServer, text: &str) -> String {
    let body = json!({ "content": text, "session_id": "mine", "task_type": "IMPLEMENTATION" });
    let project = server.read("/api/projects")["projects"][0]["project_id"].as_str().unwrap().to_owned();
    server.chat(&project, &body)
}

/// I22: stopping the first does not start the second.
#[test]
fn a_message_with_a_type_waits_for_the_task_at_work() {
    let server = TestServer::new(&scripts()).start();
    server.project();
    let first = rest(&server, "mine", "Look around forever");
    server.wait_for_status(&first, "RUNNING");
    let second = typed(&server, "Go on");
    let held = server.task(&second)["held_because"].clone();
    assert!(held.as_str().unwrap().contains(&first), "{held}");
    let stopped = server.command().args(["stop", &first]).output().unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
    let other = rest(&server, "another", "Build it");
    server.wait_for_queue(&other, "provisional");
    assert_eq!(server.task(&second)["held_because"], held);
    assert_eq!(server.task(&second)["attempts"], json!([]));
}

/// Whether a message names a type or waits in the queue, it never works beside the message before it: it starts when that is
/// through, and on its work.
#[test]
fn a_message_starts_after_the_one_before_it() {
    let mut server = TestServer::new(&scripts());
    // They are sent before anybody works.
    let settings = server.folder.join(".agent/baton.toml");
    let with_agent = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, "").unwrap();
    server.up(&["--listen", "127.0.0.1:0"]);
    server.project();
    let (first, second) = (typed(&server, "Build it"), rest(&server, "mine", "Extend it"));
    let third = typed(&server, "Go on");
    for (task, earlier) in [(&second, &first), (&third, &second)] {
        let held = server.read(&format!("/api/tasks/{task}"))["held_because"].as_str().unwrap().to_owned();
        assert!(held.contains(earlier.as_str()), "{held}");
    }
    server.stop();
    std::fs::write(&settings, with_agent).unwrap();
    server.up(&["--listen", "127.0.0.1:0"]);
    for task in [&first, &second, &third] {
        server.wait_for_queue(task, "provisional");
    }
    let of_third = files(&server, &third);
    for file in ["built.txt", "extended.txt", "more.txt"] {
        assert!(of_third.contains(file), "{file}: {of_third}");
    }
}

/// The first may go on with an answer at any time.
#[test]
fn a_message_with_a_type_waits_for_a_task_that_has_asked() {
    let server = TestServer::new(&scripts()).start();
    let project = server.project();
    let report = json!({ "content": "Ask first", "session_id": "mine", "task_type": "REPORT" });
    let first = server.chat(&project, &report);
    server.wait_for_status(&first, "AWAITING_RESPONSE");
    let second = typed(&server, "Go on");
    let view = server.task(&second);
    assert_eq!(view["waits_behind"], json!(first), "{view:#}");
    // Another conversation does not wait.
    let other = rest(&server, "another", "Build it");
    server.wait_for_queue(&other, "provisional");
    assert_eq!(server.task(&second)["attempts"], json!([]));
    server.post(&format!("/api/tasks/{first}/reply"), &json!({ "reply": "crimson" }));
    server.wait_for_queue(&second, "provisional");
}

/// A person who follows a message that waits reads what it waits for, and is asked that.
#[test]
fn the_command_line_asks_what_the_message_before_waits_for() {
    let server = TestServer::new(&scripts()).start();
    let first = command(&server, "mine", "Ask first");
    server.wait_for_status(&first, "AWAITING_RESPONSE");
    let typed = ["chat", "--session", "mine", "--type", "REPORT", "And report"];
    let followed = server.command().args(typed).output().unwrap();
    let said = String::from_utf8_lossy(&followed.stderr).into_owned();
    assert_eq!(followed.status.code(), Some(10), "{said}");
    assert!(said.contains(&format!("starts after {first}")) && said.contains("Which colour?"), "{said}");
}

/// Neither a recipe nor a loop starts a message beside the one before it.
#[test]
fn a_recipe_with_a_message_is_refused_where_the_message_before_is_not_through() {
    let server = TestServer::new(&scripts()).start();
    server.project();
    let first = rest(&server, "mine", "Ask first");
    server.wait_for_status(&first, "AWAITING_RESPONSE");
    for recipe in ["implement-and-review", "plan-execute-review"] {
        let started =
            server.post("/api/sessions/mine/recipe", &json!({ "recipe_id": recipe, "message": "Build it" }));
        assert_eq!(
            (started.status, &started.json()["reason"]),
            (409, &json!("session_at_work")),
            "{started:?}"
        );
        assert!(started.body.contains(&first), "{started:?}");
    }
    let tasks = server.read("/api/task-groups/mine/tasks")["tasks"].clone();
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks:#}");
    let body = json!({ "recipe_id": "implement-and-review", "message": "Build it" });
    assert_eq!(server.post("/api/sessions/another/recipe", &body).status, 201);
}

#[test]
fn the_second_message_knows_the_first_and_its_result_on_every_surface() {
    let server = TestServer::new(&scripts()).start();
    server.project();
    let surfaces: [(&str, Surface); 4] =
        [("rest", rest), ("page", page), ("socket", socket), ("command", command)];
    for (session, send) in surfaces {
        let why = send(&server, session, "Why is it slow?");
        server.wait_for_queue(&why, "done");
        let fix = send(&server, session, "Then fix it");
        let fixed = server.wait_for_queue(&fix, "provisional");
        assert_eq!(fixed["output"], "Fixed a missing index.", "{session}: {fixed:#}");
    }
}

#[test]
fn the_command_line_remembers_without_a_server() {
    let server = TestServer::new(&scripts());
    let chat = |text: &str| {
        let output = server.command().args(["chat", text]).output().unwrap();
        let (printed, talk) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{talk}");
        printed
    };
    assert_eq!(chat("Why is it slow?"), "The cause is a missing index\n");
    assert_eq!(chat("Then fix it"), "Fixed a missing index.\n");
}

#[test]
fn answers_are_part_of_the_conversation() {
    let server = TestServer::new(&scripts()).start();
    let project = server.project();
    let ask = |text: &str| {
        server.chat(&project, &json!({ "content": text, "session_id": "s", "task_type": "READ_INFO" }))
    };
    let first = ask("Ask first");
    server.wait_for_status(&first, "AWAITING_RESPONSE");
    server.post(&format!("/api/tasks/{first}/reply"), &json!({ "reply": "crimson" }));
    server.wait_for_queue(&first, "done");
    let second = ask("Which was it?");
    assert_eq!(server.wait_for_queue(&second, "done")["output"], "It was crimson");
}

#[test]
fn a_later_message_starts_from_the_unaccepted_work_and_counts_only_its_own() {
    let server = TestServer::new(&scripts()).start();
    server.project();
    let first = finished(&server, "s", "Build it");
    let second = finished(&server, "s", "Extend it");
    assert!(files(&server, &second).contains("built.txt"), "{}", files(&server, &second));
    let view = server.task(&second);
    assert_eq!(view["verified"]["commits"], 1);
    assert_eq!(view["verified"]["base"], server.task(&first)["verified"]["head"], "what it did itself");
    let told = prompts(&server, &view);
    assert!(told.contains("its commits are in your worktree"), "{told}");
    let third = finished(&server, "s", "Go on");
    for file in ["built.txt", "extended.txt", "more.txt"] {
        assert!(files(&server, &third).contains(file), "{file}: {}", files(&server, &third));
    }
    let other = finished(&server, "another", "Go on");
    assert!(!files(&server, &other).contains("built.txt"), "another conversation has its own work");
    for task in [&third, &second, &first] {
        let accepted = server.post(&format!("/api/tasks/{task}/accept"), &json!({}));
        assert_eq!(accepted.status, 200, "{accepted:?}");
        assert_eq!(server.wait_for_queue(task, "done")["queue"], "done");
    }
}

#[test]
fn refused_work_is_not_what_the_next_message_starts_from() {
    let server = TestServer::new(&scripts()).start();
    let project = server.project();
    for (session, refuse) in [("rejected", "reject"), ("cancelled", "cancel")] {
        let first = finished(&server, session, "Build it");
        // Its second attempt never ends, so the work stays refused.
        let refused = server.post(&format!("/api/tasks/{first}/{refuse}"), &json!({ "reason": "No." }));
        assert_eq!(refused.status, 200, "{refused:?}");
        // A task of its own: without a type, the message would reach the agent at work.
        let body = json!({ "content": "Go on", "session_id": session, "task_type": "IMPLEMENTATION" });
        let next = server.chat(&project, &body);
        if refuse == "reject" {
            // It would wait for the agent that does the first again.
            assert_eq!(server.post(&format!("/api/tasks/{next}/release"), &json!({})).status, 200);
        }
        server.wait_for_queue(&next, "provisional");
        assert!(!files(&server, &next).contains("built.txt"), "{session}: {}", files(&server, &next));
    }
}

#[test]
fn work_on_top_of_refused_work_is_not_what_the_next_message_starts_from_either() {
    let server = TestServer::new(&scripts()).start();
    server.project();
    let first = finished(&server, "s", "Build it");
    let second = finished(&server, "s", "Extend it");
    assert!(files(&server, &second).contains("built.txt"));
    server.post(&format!("/api/tasks/{first}/cancel"), &json!({}));
    let third = finished(&server, "s", "Go on");
    assert!(!files(&server, &third).contains("built.txt"), "{}", files(&server, &third));
}

#[test]
fn accepted_work_is_there_by_way_of_the_branch() {
    let server = TestServer::new(&scripts()).start();
    server.project();
    let first = finished(&server, "s", "Build it");
    assert_eq!(server.post(&format!("/api/tasks/{first}/accept"), &json!({})).status, 200);
    server.wait_for_queue(&first, "done");
    let second = finished(&server, "s", "Go on");
    assert!(files(&server, &second).contains("built.txt"));
}

#[test]
fn no_policy_accepts_work_that_contains_cancelled_work_and_a_person_is_shown_what_to_do() {
    let mut server = TestServer::new(&scripts()).start();
    server.project();
    let first = finished(&server, "s", "Build it");
    let second = finished(&server, "s", "Extend it");
    assert_eq!(server.post(&format!("/api/tasks/{first}/cancel"), &json!({})).status, 200);
    server.stop();
    let file = server.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("accept_when = \"green\"\nchecks = {{ rules = [\"true\"] }}\n{settings}"))
        .unwrap();
    server.up(&["--listen", "127.0.0.1:0"]);
    // Work that nobody refused is accepted in the meantime.
    let other = rest(&server, "t", "Go on");
    server.wait_for_queue(&other, "done");
    let standing = server.read("/api/standstills")["standstills"][0].clone();
    assert_eq!((&standing["reason"], &standing["task_id"]), (&json!("contains_refused"), &json!(second)));
    let commands = standing["commands"].to_string();
    assert!(commands.contains(&format!("baton accept {second} --force")), "{standing:#}");
    let view = server.task(&second);
    assert_eq!((&view["queue"], &view["problem"]), (&json!("provisional"), &Value::Null), "{view:#}");
    assert!(server.get("/").body.contains("Look first"));
}

#[test]
fn work_that_contains_cancelled_work_is_accepted_only_by_force() {
    let server = TestServer::new(&scripts()).start();
    server.project();
    let first = finished(&server, "s", "Build it");
    let second = finished(&server, "s", "Extend it");
    assert_eq!(server.post(&format!("/api/tasks/{first}/cancel"), &json!({})).status, 200);
    let foreseen = server.command().args(["accept", &second, "--dry-run"]).output().unwrap();
    let said = String::from_utf8_lossy(&foreseen.stdout).into_owned();
    assert!(said.contains("refused") && !said.contains("would be accepted"), "{said}");
    let refused = server.post(&format!("/api/tasks/{second}/accept"), &json!({}));
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(refused.json()["reason"], "contains_refused_work", "{refused:?}");
    let all = server.command().args(["accept", "--all"]).output().unwrap();
    assert_eq!(server.task(&second)["queue"], "provisional", "{all:?}");
    let forced = server.post(&format!("/api/tasks/{second}/accept"), &json!({ "force": true }));
    assert_eq!(forced.status, 200, "{forced:?}");
    server.wait_for_queue(&second, "done");
}

#[test]
fn a_message_after_a_stopped_task_knows_that_it_was_stopped_and_has_its_commits() {
    let half = json!({ "when": "Start slowly", "steps": [
        { "write": { "path": "half.txt", "text": "half\n" } },
        { "commit": "Add half" },
        "hang",
    ] });
    let mut all = scripts().as_array().unwrap().clone();
    all.insert(0, half);
    // What the later message asks for quotes the first one, so it comes first.
    all.insert(0, json!({ "when": "# Go on", "steps": commit("more.txt", "More.") }));
    let server = TestServer::new(&Value::Array(all)).start();
    server.project();
    let first = rest(&server, "s", "Start slowly");
    server.wait_for_queue(&first, "claimed");
    // The agent commits before it hangs.
    let has_committed = || {
        let view = server.task(&first);
        let attempt = view["attempts"][0]["attempt"]["id"].as_str().unwrap_or_default().to_owned();
        let worktree = server.folder.join(".agent/state/worktrees").join(attempt);
        let log =
            std::process::Command::new("git").args(["log", "--format=%s"]).current_dir(worktree).output();
        log.is_ok_and(|log| String::from_utf8_lossy(&log.stdout).contains("Add half"))
    };
    let patience = std::time::Duration::from_mins(2);
    crate::wait::until(patience, has_committed, || server.task(&first).to_string());
    let stopped = server.command().args(["stop", &first]).output().unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
    crate::wait::until(
        patience,
        || files(&server, &first).contains("half.txt"),
        || server.task(&first).to_string(),
    );
    let next = rest(&server, "s", "Go on");
    let done = server.wait_for_queue(&next, "provisional");
    let told = prompts(&server, &done);
    assert!(told.contains("begun, and stopped by a person before it was finished"), "{told}");
    assert!(files(&server, &next).contains("half.txt"), "{told}");
}

#[test]
fn a_loop_knows_its_conversation_and_the_conversation_its_loop() {
    let mut all = vec![json!({ "when": "# Finish it up", "steps": commit("after.txt", "Seen.") })];
    all.extend(script()["scripts"].as_array().unwrap().clone());
    all.push(json!({ "when": "part", "steps": commit("part.txt", "Part done.") }));
    all.push(json!({ "when": "Add the login", "steps": commit("login.txt", "Login added.") }));
    let server = TestServer::new(&Value::Array(all)).start();
    server.project();
    let login = finished(&server, "mine", "Add the login");
    let mut listener = start(&server, "The rest of it");
    answer(&server, &mut listener, "Ready to execute?", "YES");
    answer(&server, &mut listener, "Execute: First part?", "YES");
    answer(&server, &mut listener, "Done: First part?", "NO");
    let of = |title: &str| {
        let id = titled(&server, title)["task_id"].as_str().unwrap().to_owned();
        (id.clone(), prompts(&server, &server.task(&id)))
    };
    for title in ["Plan: The rest of it", "First part"] {
        let (_, told) = of(title);
        assert!(told.contains("Add the login") && told.contains("Login added."), "{title}: {told}");
        assert!(!told.contains("The loop asked"), "{title}: {told}");
    }
    let (first, _) = of("First part");
    assert!(files(&server, &first).contains("login.txt"), "{login}");
    let ended = send(&server.address, "DELETE", "/api/sessions/mine/recipe", &[], None);
    assert_eq!(ended.status, 200, "{ended:?}");
    let after = finished(&server, "mine", "Finish it up");
    let told = prompts(&server, &server.task(&after));
    assert!(told.contains("(First part)") && told.contains("Part done."), "{told}");
    for words in ["The loop asked:", "Ready to execute?", "loop ended", "Iterations: 1"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(files(&server, &after).contains("part.txt"), "{told}");
}

#[test]
fn a_task_that_does_not_converge_is_broken_down_by_hand_for_the_true_reason() {
    let again = json!({ "when": "# Never done", "steps": [
        { "append": { "path": "work.txt", "text": "x\n" } },
        { "commit": "Go on" },
        { "result": { "status": "INCOMPLETE", "output": "There is more to do." } },
    ] });
    let plan = json!({ "when": "# Re-Breakdown", "steps": [
        { "plan": [{ "title": "One" }, { "title": "Two" }] },
        { "result": { "status": "COMPLETE", "output": "Planned." } },
    ] });
    let server = TestServer::new(&json!([plan, again]));
    let path = server.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("recycle = \"manual\"\n{settings}")).unwrap();
    let server = server.start();
    server.project();
    let task = finished(&server, "s", "Never done");
    let recycled = server.post(&format!("/api/tasks/{task}/recycle"), &json!({}));
    assert_eq!(recycled.status, 200, "{recycled:?}");
    let breakdown = server.read("/api/tasks?queue=breakdown")["tasks"][0]["task_id"].clone();
    let breakdown = breakdown.as_str().unwrap_or_else(|| panic!("{recycled:?}")).to_owned();
    server.post(&format!("/api/tasks/{breakdown}/release"), &json!({}));
    let planned = server.wait_for_queue(&breakdown, "provisional");
    let told = prompts(&server, &planned);
    assert!(told.contains("This task does not converge") && told.contains("attempted 4 times"), "{told}");
}
