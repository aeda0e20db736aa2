//! Very many tasks.

use std::io::Write;

use super::driver::Browser;
use super::scene::crowded;
use crate::server::place::Place;

/// What a person is promised of a program as it is shipped.
const PAINT_MS_PROMISED: u64 = 100;
/// What an unoptimised server beside other tests can hold.
const PAINT_MS_UNOPTIMISED: u64 = 250;
/// A frame that takes longer is seen to take long.
const FRAME_MS_MAX: u64 = 100;
/// How often a measurement is made before it counts as failed. The best counts: the machine has other things to do, too.
const ROUNDS: u32 = 30;

/// `BATON_TESTED=target/release/baton` measures that program, and holds it to what is promised.
#[test]
fn with_10_000_tasks_the_first_paint_comes_in_time_and_the_board_stays_smooth() {
    let is_shipped = std::env::var_os("BATON_TESTED").is_some() || !cfg!(debug_assertions);
    let paint_ms_max = if is_shipped { PAINT_MS_PROMISED } else { PAINT_MS_UNOPTIMISED };
    let place = Place::without_agents();
    crowded(&place, 10_000);
    let place = place.start();
    let Some(browser) = Browser::at(&place.address) else { return };
    for path in ["/", "/board"] {
        let best = best_of(paint_ms_max, || first_paint(&browser, path));
        let _ = writeln!(std::io::stderr(), "first paint of {path}: {best} ms");
        assert!(best < paint_ms_max, "the first paint of {path} took {best} ms");
    }
    // All the cards a column may have: two columns of five hundred.
    browser.go("/board?more=queued,cancelled");
    let cards = browser.js("return document.querySelectorAll('.card').length").as_u64().unwrap();
    assert!(cards >= 1_000, "{cards}");
    let best = best_of(FRAME_MS_MAX, || slowest_frame(&browser));
    let _ = writeln!(std::io::stderr(), "slowest frame with {cards} cards: {best} ms");
    assert!(best < FRAME_MS_MAX, "the slowest frame took {best} ms with {cards} cards");
}

/// The first time that is short enough, else the shortest.
fn best_of(enough: u64, measured: impl Fn() -> u64) -> u64 {
    let mut best = u64::MAX;
    for _ in 0..ROUNDS {
        best = best.min(measured());
        if best < enough {
            break;
        }
    }
    best
}

fn first_paint(browser: &Browser, path: &str) -> u64 {
    browser.go(path);
    let paint = browser.until("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few milliseconds")]
    let ms = paint.as_f64().unwrap().round() as u64;
    ms
}

/// Scrolls down in forty steps; the longest time between two frames.
fn slowest_frame(browser: &Browser) -> u64 {
    browser.js("scrollTo(0, 0); window.slowest = 0; window.steps = 0; let last = performance.now();
         const frame = (now) => {
           window.slowest = Math.max(window.slowest, now - last); last = now; window.steps += 1;
           scrollTo(0, document.documentElement.scrollHeight * window.steps / 40);
           if (window.steps < 40) requestAnimationFrame(frame);
         };
         requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); }); return 1");
    browser.until("window.steps >= 40");
    browser.js("return Math.round(window.slowest)").as_u64().unwrap()
}
