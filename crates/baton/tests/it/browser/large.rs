//! The board with many tasks. `cargo bench -p baton --bench pages` measures its times.

use super::driver::Browser;
use super::scene::crowded;
use crate::server::place::Place;

#[test]
fn a_board_of_10_000_tasks_shows_a_bounded_number_of_cards() {
    let place = Place::without_agents();
    crowded(&place, 10_000);
    let place = place.start();
    let Some(browser) = Browser::at(&place.address) else { return };
    let cards = || browser.js("return document.querySelectorAll('.card').length").as_u64().unwrap();
    browser.go("/board");
    let few = cards();
    // Every card that two columns can have: five hundred each.
    browser.go("/board?more=queued,cancelled");
    let many = cards();
    assert!(few < many && (1_000..2_000).contains(&many), "{few}, {many}");
}
