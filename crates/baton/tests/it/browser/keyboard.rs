//! The pages without a mouse.

use super::driver::{Browser, CONTROL_ENTER, CONTROL_K, ENTER, ESCAPE};
use super::scene::{add_waiting_task, asking_script};
use crate::server::test_server::TestServer;

#[test]
fn the_inbox_can_be_worked_by_keyboard_alone() {
    let server = TestServer::new(&asking_script()).start();
    let tasks = ["Add one greeting", "Add two greetings", "Add a third greeting"]
        .map(|title| add_waiting_task(&server, title));
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/board");
    browser.wait_until_live();
    browser.press("gi");
    browser.until("document.querySelectorAll('.question').length === 3");
    browser.wait_until_live();

    // The second option of the first question.
    browser.press("j");
    browser.press("2");
    browser.until("document.querySelectorAll('.question.closed').length === 1");
    // The next question has the focus; it is answered with free text.
    browser.press("r");
    browser.press("neither");
    browser.press(CONTROL_ENTER);
    browser.until("document.querySelectorAll('.question.closed').length === 2");
    browser.press("1");
    browser.until("document.querySelectorAll('.question.closed').length === 3");
    let outputs = tasks.each_ref().map(|task| server.wait_for_queue(task, "provisional")["output"].clone());
    assert_eq!(
        outputs.map(|text| text.as_str().unwrap().to_owned()),
        ["It is casual now.", "It is neither now.", "It is formal now."]
    );

    // The list of keys, the filter, the command palette.
    browser.press("?");
    browser.until("document.querySelector('#keys[open]')");
    browser.press(ESCAPE);
    browser.until("!document.querySelector('#keys[open]')");
    browser.press("/");
    browser.until("document.activeElement.id === 'filter'");
    browser.press("third");
    browser.until("document.querySelectorAll('.question:not(.filtered)').length === 1");
    browser.press(ESCAPE);
    browser.press(CONTROL_K);
    browser.until("document.querySelector('#palette[open]')");
    browser.press("third");
    browser.until("[...document.querySelectorAll('#palette [role=option]')].some((each) => each.innerText.includes('third'))");
    browser.press(ENTER);
    browser.until(&format!("location.pathname === '/tasks/{}'", tasks[2]));
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}
