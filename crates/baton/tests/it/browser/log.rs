//! The log, as long as it may be.

use serde_json::json;

use super::driver::Browser;
use super::scene::added;
use crate::server::place::Place;

/// How often the measurement is made; the best counts, since the machine has other things to do, too.
const ROUNDS: u32 = 3;

#[test]
fn a_log_of_100_000_lines_keeps_frames_under_200_ms() {
    let script = json!([{ "steps": [
        { "say": "\u{1b}[1;31mred\u{1b}[0m and plain <b>bold</b>" },
        { "flood": 8_000_000 },
        { "say": "the needle" },
        { "write": { "path": "a.txt", "text": "a\n" } },
        { "commit": "Work" },
        { "result": { "status": "COMPLETE", "output": "done" } },
    ]}]);
    let place = Place::new(&script).start();
    let task = added(&place, "Write very much");
    place.task_when_in(&task, "provisional");
    let Some(browser) = Browser::at(&place.address) else { return };
    browser.go(&format!("/tasks/{task}/log"));
    let lines = browser.until("Number(document.getElementById('log').dataset.ownRead)");
    assert!(lines.as_u64().unwrap() > 100_000, "{lines}");
    let shown = browser.js("return document.querySelectorAll('#log .line').length");
    assert!(shown.as_u64().unwrap() < 300, "only what is in sight is on the page: {shown}");

    let best = (0..ROUNDS).map(|_| slowest_frame(&browser)).min().unwrap();
    assert!(best < 200, "the slowest frame took {best} ms");

    // Its beginning, with its colours, and nothing of it is HTML.
    browser.js("document.getElementById('log').scrollTop = 0; return 1");
    browser.until("document.querySelector('#log .a-31.a-b')?.textContent === 'red'");
    assert!(browser.text("#log").contains("and plain <b>bold</b>"));
    // And one line among all of them.
    browser.write("#log-search", "needle");
    browser.until("document.querySelector('#log .at-match')?.innerText.includes('the needle')");
    assert_eq!(browser.text("#log-matches"), "1 of 1");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Scrolls through all of it in sixty steps and searches once; the longest time between two frames.
fn slowest_frame(browser: &Browser) -> u64 {
    browser.js("const log = document.getElementById('log');
         log.scrollTop = 0; window.slowest = 0; window.steps = 0; let last = performance.now();
         const frame = (now) => {
           window.slowest = Math.max(window.slowest, now - last); last = now; window.steps += 1;
           log.scrollTop = log.scrollHeight * window.steps / 60;
           if (window.steps < 60) requestAnimationFrame(frame);
         };
         requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); }); return 1");
    browser.until("window.steps >= 60");
    browser.js("return Math.round(window.slowest)").as_u64().unwrap()
}
