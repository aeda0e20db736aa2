//! Live updates of pages, which must not disturb what a person types.

use serde_json::json;

use super::driver::Browser;
use super::scene::{add_task, add_waiting_task, asking_script, question_id};
use crate::server::test_server::TestServer;

#[test]
fn the_board_updates_live() {
    let server = TestServer::new(&asking_script()).start();
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/board");
    assert!(browser.text("#main").contains("No tasks"), "an empty board says what to type");
    browser.wait_until_live();
    let task = add_task(&server, "Add a greeting");
    browser.until(&format!("document.querySelector('#asking #card-{task}')"));
    server.post(&format!("/api/tasks/{task}/reply"), &json!({ "reply": "formal" }));
    browser.until(&format!("document.querySelector('#review #card-{task}')"));
    let card = browser.text(&format!("#card-{task}"));
    assert!(card.contains("+1 −0 in 1 file"), "{card}");

    // Accepting shows first which tasks would start.
    browser.click(&format!("#card-{task} a.primary"));
    let sheet = browser.until("document.querySelector('#sheet[open]')?.innerText");
    assert!(sheet.as_str().unwrap().contains("No dependents."), "{sheet}");
    browser.click("#sheet button.primary");
    browser.until(&format!("document.querySelector('#done #card-{task}')"));
    assert_eq!(browser.path(), "/board");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn a_half_typed_reply_survives_a_live_update() {
    let server = TestServer::new(&asking_script()).start();
    let task = add_waiting_task(&server, "Add a greeting");
    let question = question_id(&server, &task);
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/");
    browser.wait_until_live();
    let area = format!("#q-{question} textarea");
    browser.write(&area, "half a thought");
    browser.js(&format!("document.querySelector('{area}').setSelectionRange(5, 6); window.kept = document.querySelector('{area}'); return 1"));
    // Another question appears and is withdrawn.
    let second = add_waiting_task(&server, "Add a second greeting");
    browser.until(&format!("document.querySelector('#q-{}')", question_id(&server, &second)));
    server.post(&format!("/api/tasks/{second}/cancel"), &json!({}));
    browser.until("document.querySelector('.question.closed')");
    let same = format!(
        "const area = document.querySelector('{area}');
         return [area === window.kept, document.activeElement === area, area.value, area.selectionStart, area.selectionEnd]"
    );
    assert_eq!(browser.js(&same), json!([true, true, "half a thought", 5, 6]));
    // The draft survives a reload.
    browser.go("/");
    assert_eq!(browser.value(&area), "half a thought");
}
