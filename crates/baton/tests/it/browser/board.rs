//! The board: searching while typing, and deciding about several tasks at once.

use serde_json::json;

use super::driver::Browser;
use super::scene::add_task;
use crate::server::test_server::TestServer;

#[test]
fn typing_searches_all_tasks_on_the_server_and_keeps_the_field() {
    let server = TestServer::without_agents().start();
    for number in 0..40 {
        add_task(&server, &format!("Task number {number}"));
    }
    let coupon = add_task(&server, "Coupons in the cart");
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/board");
    browser.wait_until_live();
    // It is not among the cards that are shown at first.
    assert!(browser.js(&format!("return document.getElementById('card-{coupon}')")).is_null());
    browser.press("/");
    browser.press("coupon");
    browser.until(&format!(
        "document.getElementById('card-{coupon}') && document.querySelectorAll('.card').length === 1"
    ));
    assert_eq!(browser.text("#queued .count"), "1");
    browser.until("location.search === '?q=coupon'");
    assert_eq!(browser.js("return document.activeElement.id"), json!("filter"));
    assert_eq!(browser.value("#filter"), "coupon");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn tasks_are_selected_in_the_list_and_cancelled_together() {
    let server = TestServer::without_agents().start();
    let tasks = ["One", "Two", "Three"].map(|title| add_task(&server, title));
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/board?view=list");
    browser.wait_until_live();
    for task in &tasks[..2] {
        browser.click(&format!("#item-{task} input"));
    }
    browser.until("document.getElementById('selected').textContent === '2 selected'");
    browser.click("#bulk button[value=cancel]");
    for task in &tasks[..2] {
        browser.until(&format!("document.querySelector('#item-{task}').innerText.includes('Cancelled')"));
        assert_eq!(server.task(task)["status"], "CANCELLED");
    }
    assert_eq!(server.task(&tasks[2])["status"], "QUEUED");
    // What was decided about is not selected any more.
    browser.until("document.getElementById('selected').textContent === ''");
    assert_eq!(browser.path(), "/board?view=list");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn a_long_project_title_does_not_widen_the_board_of_a_phone() {
    let server = TestServer::without_agents().start();
    let title = "A project with a title that is much longer than the screen of any phone is wide".repeat(2);
    let path = server.folder.to_str().unwrap().to_owned();
    server.post("/api/projects", &json!({ "path": path, "title": title }));
    add_task(&server, "One");
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.size(390, 844);
    for path in ["/board", "/board?view=list"] {
        browser.go(path);
        let overflow = browser.js("return document.documentElement.scrollWidth - innerWidth");
        assert_eq!(overflow, 0, "{path}");
    }
}
