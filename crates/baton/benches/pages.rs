//! First paint and frame times of the web UI in a real browser, and the processor time that idle listeners take:
//! `cargo bench -p baton --bench pages`.
//!
//! Prints the best of several rounds, because other programs share the machine. Needs Chromium and chromedriver.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at the first problem and prints its results"
)]

// The tests' own browser, server and tasks.
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/server/client.rs"]
mod client;
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/browser/driver.rs"]
mod driver;
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/browser/scene.rs"]
mod scene;
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/server/test_server.rs"]
mod test_server;

/// The paths under which those modules know each other.
mod server {
    pub(crate) use crate::{client, test_server};
}

use serde_json::json;

use crate::client::Events;
use crate::driver::Browser;
use crate::test_server::TestServer;

const ROUNDS: u32 = 5;
/// Animation frames in which a page is scrolled from top to bottom.
const FRAMES: u32 = 60;

fn main() {
    idle_listeners();
    many_tasks();
    long_log();
}

/// What the server spends on requests while a thousand clients follow the event log and nothing happens.
fn idle_listeners() {
    const LISTENERS: u32 = 1_000;
    const REQUESTS: u32 = 20;
    let server = TestServer::without_agents().start();
    let mut listeners: Vec<Events> = (0..LISTENERS).map(|_| Events::after(&server.address, 0)).collect();
    server.project();
    for listener in &mut listeners {
        listener.next().unwrap();
    }
    let time = best(|| {
        let before = processor_time_ms(&server);
        for _ in 0..REQUESTS {
            server.get("/api/projects");
        }
        processor_time_ms(&server) - before
    });
    print("processor time", &format!("{REQUESTS} requests beside {LISTENERS} idle listeners"), time);
}

/// Of the server, in steps of ten milliseconds.
fn processor_time_ms(server: &TestServer) -> f64 {
    let stat = server.proc("stat");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    10.0 * (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap())
}

fn many_tasks() {
    let server = TestServer::without_agents();
    scene::fill_store(&server, 10_000);
    let server = server.start();
    let Some(browser) = Browser::at(&server.address) else { return };
    for path in ["/", "/board"] {
        print("first paint", path, best(|| first_paint(&browser, path)));
    }
    // Every card that two columns can have.
    let path = "/board?more=queued,cancelled";
    browser.go(path);
    print("slowest frame", path, best(|| slowest_frame(&browser, "document.scrollingElement")));
}

fn long_log() {
    let script = json!([{ "steps": [
        { "flood": 8_000_000 },
        { "write": { "path": "a.txt", "text": "a\n" } },
        { "commit": "Work" },
        { "result": { "status": "COMPLETE", "output": "done" } },
    ]}]);
    let server = TestServer::new(&script).start();
    let task = scene::add_task(&server, "Write a long log");
    server.wait_for_queue(&task, "provisional");
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go(&format!("/tasks/{task}/log"));
    browser.until("Number(document.getElementById('log').dataset.ownRead) > 100000");
    let time = best(|| slowest_frame(&browser, "document.getElementById('log')"));
    print("slowest frame", "a log of 100,000 lines", time);
}

fn print(what: &str, page: &str, ms: f64) {
    println!("{what:<14} {ms:>8.1} ms  {page}");
}

fn best(measure: impl Fn() -> f64) -> f64 {
    (0..ROUNDS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

fn first_paint(browser: &Browser, path: &str) -> f64 {
    browser.go(path);
    let paint = browser.until("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
    paint.as_f64().unwrap()
}

/// Scrolls from top to bottom; the longest time between two frames.
fn slowest_frame(browser: &Browser, scroller: &str) -> f64 {
    browser.js(&format!(
        "const scroller = {scroller};
         scroller.scrollTop = 0; window.slowest = 0; window.isOver = false;
         let last, step = 0;
         const frame = (now) => {{
           window.slowest = Math.max(window.slowest, now - last); last = now; step += 1;
           scroller.scrollTop = scroller.scrollHeight * step / {FRAMES};
           if (step < {FRAMES}) requestAnimationFrame(frame); else window.isOver = true;
         }};
         requestAnimationFrame((now) => {{ last = now; requestAnimationFrame(frame); }});"
    ));
    browser.until("window.isOver");
    browser.js("return window.slowest").as_f64().unwrap()
}
