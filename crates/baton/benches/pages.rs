//! First paint, live updates and frame times of the web UI in a real browser, large beside small, and the processor time that
//! idle listeners take: `scripts/bench-pages`.
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
    long_diff();
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

/// The same pages of a small store and of a large one: what the tasks cost that nobody looks at.
fn many_tasks() {
    let [small, large] = [10, 10_000].map(|count| {
        let server = TestServer::without_agents();
        scene::fill_store(&server, count);
        server.start()
    });
    let Some(few) = Browser::at(&small.address) else { return };
    let Some(many) = Browser::at(&large.address) else { return };
    for path in ["/", "/board", "/board?view=list", "/board?q=number+7", "/costs"] {
        let [few, many] = [&few, &many].map(|browser| best(|| first_paint(browser, path)));
        compare("first paint", &format!("{path} of 10,000 tasks, over 10"), many, few);
    }
    let [few, many] =
        [(&few, &small), (&many, &large)].map(|(browser, server)| best(|| live_update(browser, server)));
    compare("live update", "/board of 10,000 tasks, over 10", many, few);
    let browser = Browser::at(&large.address).unwrap();
    // Every card that two columns can have.
    let path = "/board?more=queued,done";
    browser.go(path);
    print("slowest frame", path, best(|| slowest_frame(&browser, "document.scrollingElement")));
}

/// From the moment a task is added until an open board shows it.
fn live_update(browser: &Browser, server: &TestServer) -> f64 {
    browser.go("/board?q=arrives+now");
    browser.wait_until_live();
    let before = browser.js("return document.querySelectorAll('.card').length").as_u64().unwrap();
    let start = std::time::Instant::now();
    scene::add_task(server, "It arrives now");
    browser.until(&format!("document.querySelectorAll('.card').length > {before}"));
    start.elapsed().as_secs_f64() * 1_000.0
}

/// A long change beside a short one.
fn long_diff() {
    let lines = |count: u32| {
        (0..count).map(|line| format!("let value_{line} = {line};\n")).collect::<Vec<_>>().concat()
    };
    let work = |title: &str, count: u32| {
        json!({ "when": title, "steps": [
            { "write": { "path": format!("{count}.rs"), "text": lines(count) } },
            { "commit": title },
            { "result": { "status": "COMPLETE", "output": "done" } },
        ]})
    };
    let server = TestServer::new(&json!([work("Change little", 50), work("Change much", 5_000)])).start();
    let paths = ["Change little", "Change much"].map(|title| {
        let task = scene::add_task(&server, title);
        server.wait_for_queue(&task, "provisional");
        format!("/tasks/{task}/diff")
    });
    let Some(browser) = Browser::at(&server.address) else { return };
    let [short, long] = paths.map(|path| best(|| first_paint(&browser, &path)));
    compare("first paint", "a diff of 5,000 lines, over one of 50", long, short);
}

fn long_log() {
    let script = json!([
        { "when": "Write a short log", "steps": [{ "say": "one line" }, "hang"] },
        { "steps": [
            { "flood": 8_000_000 },
            { "write": { "path": "a.txt", "text": "a\n" } },
            { "commit": "Work" },
            { "result": { "status": "COMPLETE", "output": "done" } },
        ]},
    ]);
    let mut server = TestServer::new(&script).start();
    let task = scene::add_task(&server, "Write a long log");
    server.wait_for_queue(&task, "provisional");
    let short = scene::add_task(&server, "Write a short log");
    let Some(browser) = Browser::at(&server.address) else { return };
    for tab in ["", "/log"] {
        let [short, long] =
            [&short, &task].map(|task| best(|| first_paint(&browser, &format!("/tasks/{task}{tab}"))));
        let page = if tab.is_empty() { "activity" } else { "log" };
        compare("first paint", &format!("{page} of 100,000 lines, over one"), long, short);
    }
    browser.go(&format!("/tasks/{task}/log"));
    browser.until("Number(document.getElementById('log').dataset.ownRead) > 100000");
    let time = best(|| slowest_frame(&browser, "document.getElementById('log')"));
    print("slowest frame", "a log of 100,000 lines", time);
    server.stop();
}

/// A ratio says more than a time on a machine that others use, too.
fn compare(what: &str, page: &str, ms: f64, base_ms: f64) {
    println!("{what:<14} {ms:>8.1} ms  {:>5.2} ×  {page}", ms / base_ms);
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
