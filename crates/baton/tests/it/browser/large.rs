//! The board with many tasks. `scripts/bench-pages` measures its times.

use super::driver::Browser;
use super::scene::fill_store;
use crate::server::test_server::TestServer;

#[test]
fn a_board_of_10_000_tasks_shows_a_bounded_number_of_cards() {
    let server = TestServer::without_agents();
    fill_store(&server, 10_000);
    let server = server.start();
    let Some(browser) = Browser::at(&server.address) else { return };
    let cards = || browser.js("return document.querySelectorAll('.card').length").as_u64().unwrap();
    browser.go("/board");
    let few = cards();
    // Two columns with their maximum of five hundred cards each.
    browser.go("/board?more=queued,done");
    let many = cards();
    assert!(few < many && (1_000..2_000).contains(&many), "{few}, {many}");
}
