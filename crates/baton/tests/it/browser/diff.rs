//! Comments on the lines of a diff.

use serde_json::json;

use super::driver::Browser;
use super::scene::add_task;
use crate::server::test_server::TestServer;

#[test]
fn a_comment_on_a_line_reaches_the_agent() {
    let script = json!([
        { "when": "Say ahoy instead", "steps": [
            { "turns": 1 },
            { "write": { "path": "greeting.txt", "text": "Ahoy!\nGood bye.\n" } },
            { "commit": "Greet as requested" },
            { "result": { "status": "COMPLETE", "output": "Ahoy it is." } },
        ]},
        { "steps": [
            { "turns": 1 },
            { "write": { "path": "greeting.txt", "text": "Hello!\nGood bye.\n" } },
            { "commit": "Greet" },
            { "result": { "status": "COMPLETE", "output": "Hello it is." } },
        ]},
    ]);
    let server = TestServer::new(&script).start();
    let task = add_task(&server, "Add a greeting");
    server.wait_for_queue(&task, "provisional");
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go(&format!("/tasks/{task}/diff"));
    browser.wait_until_live();
    browser.click("tr[data-line='1'] button");
    browser.press("Say ahoy instead");
    let reason = browser.value("#reject-reason");
    assert_eq!(reason, "On the changes:\n- greeting.txt:1 `Hello!`: Say ahoy instead");
    // It is still there after a reload.
    browser.go(&format!("/tasks/{task}/diff"));
    browser.until("document.querySelector('tr.comment textarea')?.value === 'Say ahoy instead'");
    browser.click("#reject button");
    browser.until("document.body.innerText.includes('Ahoy it is.')");
    let done = server.wait_for_queue(&task, "provisional");
    assert_eq!((&done["output"], done["attempts"].as_array().unwrap().len()), (&json!("Ahoy it is."), 2));
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}
