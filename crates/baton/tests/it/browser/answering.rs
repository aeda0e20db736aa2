//! Questions on the page: answered here, in another tab, twice, and after a restart.

use serde_json::json;

use super::driver::Browser;
use super::scene::{add_waiting_task, asking_script, question_id};
use crate::port::ReservedPort;
use crate::server::test_server::TestServer;

#[test]
fn ac_6_awaiting_response_shows_the_reply_ui() {
    let server = TestServer::new(&asking_script()).start();
    let task = add_waiting_task(&server, "Add a greeting");
    let Some(browser) = Browser::at(&server.address) else { return };
    for path in [format!("/tasks/{task}"), "/".to_owned()] {
        browser.go(&path);
        assert!(browser.text(".question .text").contains("Should the greeting be formal?"), "{path}");
        let is_visible = "const box = document.querySelector('.question textarea').getBoundingClientRect();
             return box.width > 100 && box.height > 20 && document.querySelector('.question textarea').checkVisibility()";
        assert_eq!(browser.js(is_visible), true, "{path}");
    }
    browser.write(".question textarea", "as formal as can be");
    browser.click(".question button.primary");
    browser.until("document.querySelector('.question.closed')");
    let done = server.wait_for_queue(&task, "provisional");
    assert_eq!(done["output"], "It is as formal as can be now.");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn an_answer_in_one_tab_closes_the_question_in_the_other() {
    let server = TestServer::new(&asking_script()).start();
    let task = add_waiting_task(&server, "Add a greeting");
    let question = question_id(&server, &task);
    let Some(browser) = Browser::at(&server.address) else { return };
    let first = browser.current_tab();
    browser.go("/");
    browser.wait_until_live();
    // A draft, which must not be lost.
    browser.write(".question textarea", "I was going to say");
    assert_eq!(browser.js("return document.title"), "(1) For you · Baton");

    browser.tab();
    browser.go("/");
    browser.wait_until_live();
    browser.click("[data-option='2']");
    browser.until("document.querySelector('.question.closed')");

    browser.switch(&first);
    browser.until(&format!("document.querySelector('#q-{question}.closed')"));
    let closed = browser.text(".question.closed");
    assert!(closed.contains("Answered by mia") && closed.contains("casual"), "{closed}");
    assert!(closed.contains("Draft: I was going to say"), "{closed}");
    // The count is of everything that waits, in the title, the icon and the navigation alike.
    browser.until(&format!("document.querySelector('#row-{task}')"));
    browser.until("document.title === '(1) For you · Baton'");
    assert_eq!(browser.text("#waits"), "1 thing waits for you");
    server.post(&format!("/api/tasks/{task}/accept"), &json!({}));
    browser.until("document.title === 'For you · Baton'");
    browser.until("document.getElementById('icon').href.endsWith('/badge/0.svg')");
    browser.until("!document.querySelector('#nav .count')");
}

#[test]
fn a_question_survives_a_restart_and_a_reconnect_replays_what_was_missed() {
    // The second server listens where the page looks for the first.
    let port = ReservedPort::new();
    let address = port.address.to_string();
    let mut server = TestServer::new(&asking_script());
    server.up(&["--listen", &address]);
    let task = add_waiting_task(&server, "Add a greeting");
    let question = question_id(&server, &task);
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/");
    browser.wait_until_live();
    browser.write(".question textarea", "half a sen");

    server.stop();
    browser.until("document.getElementById('line').textContent.startsWith('connection lost')");
    // Events before the page reconnects have to reach it.
    server.up(&["--listen", &address]);
    let second = add_waiting_task(&server, "Add another greeting");
    browser.wait_until_live();
    browser.until(&format!("document.querySelector('#q-{}')", question_id(&server, &second)));
    assert_eq!(browser.text(&format!("#q-{question} .text")).trim(), "Should the greeting be formal?");
    let area = format!("#q-{question} textarea");
    assert_eq!(browser.value(&area), "half a sen");
    browser.write(&area, "tence");
    browser.click(&format!("#q-{question} button.primary"));
    assert_eq!(server.wait_for_queue(&task, "provisional")["output"], "It is half a sentence now.");
}

#[test]
fn the_second_answer_is_refused_and_the_first_is_shown() {
    let server = TestServer::new(&asking_script()).start();
    let task = add_waiting_task(&server, "Add a greeting");
    let question = question_id(&server, &task);
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/board");
    let first = server.post(&format!("/api/questions/{question}/answer"), &json!({ "answer": "casual" }));
    assert_eq!(first.status, 200, "{first:?}");
    // The form of a page that still shows the question, submitted with and without JavaScript.
    let late = |send: &str| {
        format!(
            "const form = document.createElement('form'); form.method = 'post'; form.action = '/questions/{question}/answer';
             const field = document.createElement('input'); field.name = 'answer'; field.value = 'formal';
             form.append(field); document.body.append(form); form.{send}(); return 1"
        )
    };
    browser.js(&late("requestSubmit"));
    let toast = browser.until("document.querySelector('.toast.bad')?.innerText");
    let toast = toast.as_str().unwrap();
    assert!(
        toast.contains("This question was already answered") && toast.contains("Answered by mia"),
        "{toast}"
    );
    browser.js(&late("submit"));
    browser.until("document.querySelector('.alert')");
    let page = browser.text("#main");
    assert!(
        page.contains("This question was already answered") && page.contains("You wrote: formal"),
        "{page}"
    );
    assert!(page.contains("Answered by mia") && page.contains("casual"), "{page}");
}
