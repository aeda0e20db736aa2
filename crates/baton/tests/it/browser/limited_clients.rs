//! Browsers without JavaScript and with a small screen.

use serde_json::json;

use super::driver::Browser;
use super::scene::{add_waiting_task, asking_script};
use crate::server::test_server::TestServer;

#[test]
fn a_form_works_without_javascript() {
    let server = TestServer::new(&asking_script()).start();
    let task = add_waiting_task(&server, "Add a greeting");
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.command("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    browser.go("/");
    assert_eq!(browser.js("return document.documentElement.classList.contains('scripts')"), false);
    browser.click(".question button[value=formal]");
    assert_eq!(server.wait_for_queue(&task, "provisional")["output"], "It is formal now.");
    assert_eq!(browser.path(), "/");
    // Pages and actions work, too.
    browser.go(&format!("/tasks/{task}/log"));
    assert!(browser.text("#log").contains("the agent exited"), "{}", browser.text("#log"));
    browser.go("/board");
    browser.click(&format!("#card-{task} a.primary"));
    browser.click("#main form button.primary");
    assert_eq!(server.wait_for_queue(&task, "done")["status"], "COMPLETE");
    assert_eq!(browser.path(), format!("/tasks/{task}"));
}

#[test]
fn on_a_phone_there_is_one_column_and_room_for_a_thumb() {
    let server = TestServer::new(&asking_script()).start();
    let task = add_waiting_task(
        &server,
        "Add a greeting with a very long title that does not fit onto a line of a phone",
    );
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.size(390, 844);
    for path in ["/", "/board", &format!("/tasks/{task}"), "/chat", "/graph", "/recipes", "/health"] {
        browser.go(path);
        let overflow = browser.js("return document.documentElement.scrollWidth - innerWidth");
        assert_eq!(overflow, 0, "{path} is wider than the screen");
        let small = browser.js(
            "return [...document.querySelectorAll('#nav a, .verbs a, form button, textarea, .tabs a')]
               .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 44)
               .map((each) => each.outerHTML.slice(0, 120))",
        );
        assert_eq!(small, json!([]), "{path}: too small for a thumb");
    }
    browser.go("/");
    assert_eq!(browser.text("#nav li:first-child .word"), "For you");
    browser.click("[data-option='1']");
    assert_eq!(server.wait_for_queue(&task, "provisional")["output"], "It is formal now.");
}
