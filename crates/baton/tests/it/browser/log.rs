//! A long log. `scripts/bench-pages` measures its frame times.

use serde_json::json;

use super::driver::Browser;
use super::scene::add_task;
use crate::server::test_server::TestServer;

#[test]
fn a_log_of_100_000_lines_is_shown_in_parts_and_searched_as_a_whole() {
    let script = json!([{ "steps": [
        { "say": "\u{1b}[1;31mred\u{1b}[0m and plain <b>bold</b>" },
        { "flood": 8_000_000 },
        { "say": "the needle" },
        { "write": { "path": "a.txt", "text": "a\n" } },
        { "commit": "Work" },
        { "result": { "status": "COMPLETE", "output": "done" } },
    ]}]);
    let server = TestServer::new(&script).start();
    let task = add_task(&server, "Write very much");
    server.wait_for_queue(&task, "provisional");
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go(&format!("/tasks/{task}/log"));
    let lines = browser.until("Number(document.getElementById('log').dataset.ownRead)");
    assert!(lines.as_u64().unwrap() > 100_000, "{lines}");
    let shown = browser.js("return document.querySelectorAll('#log .line').length");
    assert!(shown.as_u64().unwrap() < 300, "only what is in sight is on the page: {shown}");

    // The beginning, with colours and with HTML escaped.
    browser.js("document.getElementById('log').scrollTop = 0; return 1");
    browser.until("document.querySelector('#log .a-31.a-b')?.textContent === 'red'");
    assert!(browser.text("#log").contains("and plain <b>bold</b>"));
    // The search finds a line that is not on the page yet.
    browser.write("#log-search", "needle");
    browser.until("document.querySelector('#log .at-match')?.innerText.includes('the needle')");
    assert_eq!(browser.text("#log-matches"), "1 of 1");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}
