//! The wall of agents at work.

use serde_json::json;

use super::driver::Browser;
use super::scene::add_task;
use crate::server::test_server::TestServer;

#[test]
fn an_agent_at_work_has_a_tile_and_can_be_stopped() {
    let script = json!([{ "steps": [{ "say": "Reading the parser" }, { "turns": 2 }, "hang"] }]);
    let server = TestServer::new(&script).start();
    let task = add_task(&server, "Look around");
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/running");
    browser.wait_until_live();
    let tile = format!("document.querySelector('#tile-{task}')?.innerText");
    browser.until(&format!("{tile}?.includes('Reading the parser')"));
    browser.until(&format!("{tile}?.includes('2/50 turns')"));
    browser.click(&format!("#tile-{task} button"));
    // Leaving the page sends the decision.
    browser.go("/");
    let held = server.wait_for_queue(&task, "incoming");
    assert_eq!(held["held_because"], "stopped by you");
    browser.until(&format!("document.body.innerText.includes('{task} is held: stopped by you')"));
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}
