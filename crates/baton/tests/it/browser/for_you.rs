//! The list of what waits for the person, and the review of changes one after the other.

use std::time::Duration;

use serde_json::{Value, json};

use super::driver::{Browser, ENTER};
use super::scene::add_task;
use crate::server::test_server::TestServer;
use crate::wait::until;

const PATIENCE: Duration = Duration::from_mins(2);

/// "Add file N" writes a file of its own and commits it; "Break" fails.
fn scripts() -> Value {
    let mut scripts = vec![json!({ "when": "# Break", "steps": [{ "crash": { "exit": 3 } }] })];
    // The longest number first: a script is chosen by how the prompt begins.
    for number in (1..=10).rev() {
        scripts.push(json!({ "when": format!("# Add file {number}"), "steps": [
            { "turns": 1 },
            { "write": { "path": format!("file{number}.rs"), "text": "fn main() {}\n" } },
            { "commit": "Add a file" },
            { "result": { "status": "COMPLETE", "output": "Added **a file**." } },
        ]}));
    }
    Value::Array(scripts)
}

fn reviews(server: &TestServer, count: usize) -> Vec<String> {
    let tasks: Vec<String> =
        (1..=count).map(|number| add_task(server, &format!("Add file {number}"))).collect();
    for task in &tasks {
        server.wait_for_queue(task, "provisional");
    }
    tasks
}

#[test]
fn a_decision_takes_effect_at_once_and_can_be_undone() {
    let server = TestServer::new(&scripts()).start();
    let tasks = reviews(&server, 2);
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/");
    browser.wait_until_live();
    let rows = browser.js("return [...document.querySelectorAll('.waiting .row')].map((row) => row.id)");
    let [first, second] = [0, 1].map(|index| rows[index].as_str().unwrap().to_owned());
    let decided = first.trim_start_matches("row-").to_owned();
    let other = tasks.iter().find(|task| **task != decided).unwrap();
    let is_shown = |row: &str| format!("document.getElementById('{row}')?.offsetParent !== null");
    // The first row is open: what the agent said, and what changed.
    browser.until(&format!("document.querySelector('#{first} .more .prose strong')?.offsetParent !== null"));
    assert!(
        browser.text(&format!("#{first} .gist")).contains("+1 −0 in 1 file"),
        "{}",
        browser.text(&format!("#{first} .gist"))
    );
    browser.press("a");
    browser.until(&format!("!({})", is_shown(&first)));
    // The next one is open, and the decision can be taken back.
    browser.until(&format!("document.querySelector('#{second}[data-own-here]')"));
    browser.press("z");
    browser.until(&is_shown(&first));
    assert_eq!(server.task(&decided)["queue"], "provisional");
    // Leaving the page sends what was decided.
    browser.press("a");
    browser.until(&format!("!({})", is_shown(&first)));
    browser.go("/health");
    server.wait_for_queue(&decided, "done");
    assert_eq!(server.task(other)["queue"], "provisional");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn ten_diffs_are_reviewed_and_accepted_with_few_keys() {
    let server = TestServer::new(&scripts()).start();
    let tasks = reviews(&server, 10);
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/");
    browser.wait_until_live();
    let mut keys = 1;
    browser.press("j");
    browser.press(ENTER);
    keys += 1;
    for _ in &tasks {
        browser.until("location.pathname.endsWith('/diff') && document.querySelector('.review-bar')");
        browser.wait_until_live();
        let seen = browser.path();
        browser.press("a");
        keys += 1;
        browser.until(&format!("location.pathname !== '{seen}'"));
    }
    browser.until("location.pathname === '/'");
    assert!(keys <= 12, "{keys} keys");
    browser.go("/board");
    for task in &tasks {
        server.wait_for_queue(task, "done");
    }
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn equal_failures_are_one_row_and_are_retried_together() {
    let server = TestServer::new(&scripts()).start();
    let tasks = ["Break one", "Break two", "Break three"].map(|title| add_task(&server, title));
    for task in &tasks {
        server.wait_for_queue(task, "failed");
    }
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/");
    browser.wait_until_live();
    browser.until("document.querySelectorAll('.waiting .row').length === 1");
    assert!(browser.text(".waiting .row .title").starts_with("3 tasks failed alike"));
    browser.press("a");
    browser.go("/health");
    for task in &tasks {
        let attempts = || server.task(task)["attempts"].as_array().unwrap().len();
        until(PATIENCE, || attempts() > 1, || format!("{task} is not tried again"));
    }
}

#[test]
fn a_diff_is_shown_side_by_side_and_viewed_files_are_folded() {
    let server = TestServer::new(&scripts()).start();
    let task = reviews(&server, 1).remove(0);
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go(&format!("/tasks/{task}/diff?view=split"));
    browser.wait_until_live();
    browser.until("document.querySelector('.hunk.split .added .t-key')?.innerText === 'fn'");
    browser.click("[data-viewed]");
    browser.until("document.querySelector('.hunk').offsetParent === null");
    browser.go(&format!("/tasks/{task}/diff"));
    browser.until("document.querySelector('.hunk').offsetParent === null");
    browser.click("[data-viewed]");
    browser.until("document.querySelector('.hunk').offsetParent !== null");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}
