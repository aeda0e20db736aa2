//! The pages as far as no browser is needed to see it: who may open and post them, and what they forbid.

use serde_json::json;

use super::client::{Answer, send};
use super::place::Place;

fn form(place: &Place, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
    all.extend_from_slice(headers);
    send(&place.address, "POST", path, &all, Some(body.as_bytes()))
}

/// A task that waits for an answer, and the address of the form that gives it.
fn asked() -> (Place, String, String) {
    let script = json!([{ "resumed": false, "steps": [{ "ask": { "question": "<script>alert(1)</script> Go on?" } }] }]);
    let place = Place::new(&script).start();
    let project = place.project();
    let task = place.chat(&project, &json!({ "content": "Add a greeting" }));
    let question = place.task_when(&task, "AWAITING_RESPONSE")["question"]["id"].as_str().unwrap().to_owned();
    (place, task, format!("/questions/{question}/answer"))
}

#[test]
fn pages_run_nothing_that_is_not_ours() {
    let (place, task, _) = asked();
    for path in ["/".to_owned(), format!("/tasks/{task}"), "/board".to_owned()] {
        let page = place.get(&path);
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
    let (place, task, path) = asked();
    let own = format!("http://{}", place.address);
    for foreign in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let refused = form(&place, &path, &[foreign], "answer=yes");
        assert_eq!(refused.status, 403, "{foreign:?}: {refused:?}");
    }
    assert_eq!(place.task(&task)["status"], "AWAITING_RESPONSE");
    let blank = form(&place, &path, &[("origin", &own)], "answer=+");
    assert!(blank.status == 400 && blank.body.contains("answer is blank"), "{blank:?}");
    let taken = form(
        &place,
        &path,
        &[("origin", &own), ("sec-fetch-site", "same-origin")],
        "answer=yes&next=//evil.example",
    );
    assert!(taken.status == 303 && taken.head.contains("location: /\r\n"), "{taken:?}");
    let late = form(&place, &path, &[("origin", &own)], "answer=no");
    assert!(late.status == 409 && late.body.contains("Answered by") && late.body.contains("mia"), "{late:?}");
}

#[test]
fn where_a_token_is_needed_a_browser_shows_it_once() {
    let mut place = Place::without_agents();
    place.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    let page = |path: &str, cookie: &str| {
        send(&place.address, "GET", path, &[("accept", "text/html"), ("cookie", cookie)], None)
    };
    let stranger = page("/board", "");
    assert!(stranger.status == 303 && stranger.head.contains("location: /login"), "{stranger:?}");
    let login = page("/login", "");
    assert!(login.status == 200 && login.body.contains("name=\"token\""), "{login:?}");
    assert_eq!(form(&place, "/login", &[], "token=wrong-horse-battery").status, 401);
    let known = form(&place, "/login", &[], "token=correct-horse-battery");
    assert_eq!(known.status, 303, "{known:?}");
    let cookie = known.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    assert!(!cookie.contains("horse"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(page("/board", pair).status, 200);
    assert_eq!(page("/board", &pair.replace("baton_", "baton_x")).status, 303);
}

#[test]
fn what_is_not_there_is_said_in_the_form_that_was_asked_for() {
    let place = Place::without_agents().start();
    let page = send(&place.address, "GET", "/nowhere", &[("accept", "text/html")], None);
    assert!(page.status == 404 && page.body.contains("<h1>Not Found</h1>"), "{page:?}");
    assert_eq!(place.get("/nowhere").error(), (404, "NOT_FOUND".to_owned()));
    for path in [
        "/tasks/TASK-00000000",
        "/tasks/nonsense",
        "/questions/Q-00000000",
        "/breakdowns/TASK-00000000",
        "/tasks/TASK-00000000/do/explode",
    ] {
        let page = place.get(path);
        assert!(page.status == 404 && page.body.contains("role=\"alert\""), "{path}: {page:?}");
    }
}
