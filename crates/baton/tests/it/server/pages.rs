//! Pages without a browser: access, forms and security headers.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Answer, send};
use super::test_server::TestServer;
use crate::wait;

fn form(server: &TestServer, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
    all.extend_from_slice(headers);
    send(&server.address, "POST", path, &all, Some(body.as_bytes()))
}

/// A task with a pending question, and the path of its form.
fn asked() -> (TestServer, String, String) {
    let script = json!([{ "resumed": false, "steps": [{ "ask": { "question": "<script>alert(1)</script> Go on?" } }] }]);
    let server = TestServer::new(&script).start();
    let project = server.project();
    let task = server.chat(&project, &json!({ "content": "Add a greeting" }));
    let question =
        server.wait_for_status(&task, "AWAITING_RESPONSE")["question"]["id"].as_str().unwrap().to_owned();
    (server, task, format!("/questions/{question}/answer"))
}

#[test]
fn pages_forbid_foreign_and_inline_scripts() {
    let (server, task, _) = asked();
    for path in ["/".to_owned(), format!("/tasks/{task}"), "/board".to_owned()] {
        let page = server.get(&path);
        assert_eq!(page.status, 200, "{page:?}");
        assert!(page.head.contains("content-security-policy: default-src 'self';"), "{}", page.head);
        assert!(page.head.contains("x-content-type-options: nosniff"), "{}", page.head);
        assert!(!page.body.contains("<script>"), "{}", page.body);
        for inline in [" style=", " onclick=", "javascript:"] {
            assert!(!page.body.contains(inline), "{inline} in {path}");
        }
    }
}

#[test]
fn only_our_own_pages_may_post_a_form() {
    let (server, task, path) = asked();
    let own = format!("http://{}", server.address);
    for foreign in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let refused = form(&server, &path, &[foreign], "answer=yes");
        assert_eq!(refused.status, 403, "{foreign:?}: {refused:?}");
    }
    assert_eq!(server.task(&task)["status"], "AWAITING_RESPONSE");
    let blank = form(&server, &path, &[("origin", &own)], "answer=+");
    assert!(blank.status == 400 && blank.body.contains("answer is blank"), "{blank:?}");
    let taken = form(
        &server,
        &path,
        &[("origin", &own), ("sec-fetch-site", "same-origin")],
        "answer=yes&next=//evil.example",
    );
    assert!(taken.status == 303 && taken.head.contains("location: /\r\n"), "{taken:?}");
    let late = form(&server, &path, &[("origin", &own)], "answer=no");
    assert!(late.status == 409 && late.body.contains("Answered by") && late.body.contains("mia"), "{late:?}");
}

#[test]
fn a_browser_logs_in_once_where_a_token_is_required() {
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    let page = |path: &str, cookie: &str| {
        send(&server.address, "GET", path, &[("accept", "text/html"), ("cookie", cookie)], None)
    };
    let stranger = page("/board", "");
    assert!(stranger.status == 303 && stranger.head.contains("location: /login"), "{stranger:?}");
    let login = page("/login", "");
    assert!(login.status == 200 && login.body.contains("name=\"token\""), "{login:?}");
    assert_eq!(form(&server, "/login", &[], "token=wrong-horse-battery").status, 401);
    let known = form(&server, "/login", &[], "token=correct-horse-battery");
    assert_eq!(known.status, 303, "{known:?}");
    let cookie = known.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    assert!(!cookie.contains("horse"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(page("/board", pair).status, 200);
    assert_eq!(page("/board", &pair.replace("baton_", "baton_x")).status, 303);
}

#[test]
fn not_found_is_html_or_json_as_requested() {
    let server = TestServer::without_agents().start();
    let page = send(&server.address, "GET", "/nowhere", &[("accept", "text/html")], None);
    assert!(page.status == 404 && page.body.contains("<h1>Not Found</h1>"), "{page:?}");
    assert_eq!(server.get("/nowhere").error(), (404, "NOT_FOUND".to_owned()));
    for path in [
        "/tasks/TASK-00000000",
        "/tasks/nonsense",
        "/questions/Q-00000000",
        "/breakdowns/TASK-00000000",
        "/tasks/TASK-00000000/do/explode",
    ] {
        let page = server.get(path);
        assert!(page.status == 404 && page.body.contains("role=\"alert\""), "{path}: {page:?}");
    }
}

/// Without scripts the browser shows whatever the form's response is: it must have the reason and the words.
#[test]
fn a_refused_answer_is_shown_in_its_form_with_the_reason() {
    let step = json!({ "outcome": { "outcome": "good" } });
    let mut server = TestServer::new(&json!([{ "step": "draft", "steps": [step] }]));
    let recipes = server.folder.join(".agent/recipes");
    std::fs::create_dir(&recipes).unwrap();
    let recipe = "id: draft\nlabel: Draft\ndescription: Drafts it\ninitial_step: draft\nsteps:\n  draft:\n    \
        prompt: Draft it.\n    gate: { question: \"Keep it? [YES/NO]\", yes: good, no: again }\n    \
        outcomes: [good, again]\n    on_outcome:\n      good: { exit: kept }\n      again: { next_step: draft }\n";
    std::fs::write(recipes.join("draft.yml"), recipe).unwrap();
    server = server.start();
    let run = server.post("/api/sessions/mine/recipe", &json!({ "recipe_id": "draft" })).json();
    let task = run["task_id"].as_str().unwrap().to_owned();
    let waiting = server.wait_for_status(&task, "AWAITING_RESPONSE");
    let path = format!("/questions/{}/answer", waiting["question"]["id"].as_str().unwrap());
    let refused = form(&server, &path, &[], "answer=perhaps+%3Ctomorrow%3E&next=%2Fboard");
    assert_eq!(refused.status, 400, "{refused:?}");
    for shown in ["role=\"alert\"", ">perhaps &lt;tomorrow&gt;</textarea>", "Keep it?", "value=\"/board\""] {
        assert!(refused.body.contains(shown), "{shown}: {}", refused.body);
    }
    let taken = form(&server, &path, &[], "answer=YES&next=%2Fboard");
    assert!(taken.status == 303 && taken.head.contains("location: /board\r\n"), "{taken:?}");
}

#[test]
fn the_navigation_shows_what_was_spent_today_without_a_budget() {
    let script = json!([{ "steps": [
        { "usage": { "input_tokens": 100, "output_tokens": 20, "cost_usd": 1.5 } },
        { "result": { "status": "COMPLETE", "output": "It greets people." } } ] }]);
    let server = TestServer::new(&script).start();
    let project = server.project();
    let task = server.chat(&project, &json!({ "content": "What does it do?", "task_type": "READ_INFO" }));
    server.wait_for_queue(&task, "done");
    let shown = || server.get("/health").body.contains("$1.50 today");
    wait::until(Duration::from_mins(1), shown, || server.get("/health").body);
}

#[test]
fn the_page_of_routines_creates_every_kind_of_them() {
    let server = TestServer::without_agents().start();
    let own = format!("http://{}", server.address);
    let project = server.project();
    let post = |body: &str| form(&server, "/routines", &[("origin", &own)], body);
    for (starts, when, found) in [
        ("every", "Mon+06%3A00", "0 6 * * 1"),
        ("cron", "30+7+*+*+*", "30 7 * * *"),
        ("on", "ref%3Amain", "ref:main"),
        ("on", "webhook", "webhook"),
        ("on", "task%3Adone", "task:done"),
    ] {
        let made = post(&format!("title=Update&starts={starts}&when={when}&project={project}"));
        assert_eq!(made.status, 303, "{made:?}");
        let all = server.get("/api/routines").json()["routines"].as_array().unwrap().clone();
        let is_made = |one: &Value| one["schedule"] == found || one["on"] == found;
        assert!(all.iter().any(|one| is_made(one) && one["project_id"] == project.as_str()), "{all:#?}");
    }
    let refused = post("title=Update&starts=every&when=sometimes");
    assert!(refused.status == 400 && refused.body.contains("is not a time to repeat"), "{refused:?}");
}
