//! The demo in a browser: the test clicks what the guide asks for until the demo ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::driver::Browser;

/// A few more clicks than the demo needs.
const CLICKS_MAX: usize = 300;

struct Demo {
    child: Child,
    lines: Box<dyn Iterator<Item = String>>,
    address: String,
    _folder: TempDir,
}

impl Demo {
    fn start(patience_ms: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_baton"))
            .env("BATON_FENCE", "off")
            .args(["demo", "--no-open", "--agent-ms", "50", "--patience-ms", patience_ms, "--folder"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let printed = lines.by_ref().find(|line| line.contains("Demo: http://")).unwrap();
        let address = printed.rsplit("http://").next().unwrap().to_owned();
        Self { child, lines: Box::new(lines), address, _folder: folder }
    }

    /// Its exit code and the rest of its output.
    fn rest(mut self) -> (Option<i32>, String) {
        let printed: Vec<String> = self.lines.by_ref().collect();
        (self.child.wait().unwrap().code(), printed.join("\n"))
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It has usually ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Does what the guide asks for and returns the guide's current part.
fn follow(browser: &Browser) -> String {
    // Part and link are read at once, because the guide may change between two reads.
    let look = "(() => { const guide = document.getElementById('guide');
        return guide && [guide.dataset.part, guide.querySelector('a.button')?.getAttribute('href')]; })()";
    let seen = browser.until(look);
    let part = seen[0].as_str().unwrap().to_owned();
    // While agents work, the person watches the board until the guide changes.
    if part == "work" {
        browser.until("document.getElementById('guide')?.dataset.part !== 'work'");
        return part;
    }
    if part == "end" {
        return part;
    }
    browser.go(seen[1].as_str().unwrap_or_else(|| panic!("{part} has no link")));
    match part.as_str() {
        "question" => {
            browser.click(".question:not(.closed) [data-option='1']");
            browser.until("document.querySelector('.question.closed')");
        }
        "accept" => {
            let reviewed = browser.path();
            browser.until("document.querySelector('.heading.task')");
            // The guide may still speak of work that was accepted just now.
            if browser.js("return document.querySelector('.review-bar') === null") == true {
                browser.go("/board");
                return part;
            }
            browser.click(".review-bar form[action$='/do/accept'] button");
            // The next review opens, or the list; leaving that page sends the decision.
            browser.until(&format!("location.pathname !== '{reviewed}'"));
            browser.go("/board");
        }
        "comment" => {
            browser.wait_until_live();
            if browser.js("return document.querySelector('.review-bar') === null") == true {
                browser.go("/board");
                return part;
            }
            browser.click("tr[data-line='1'] button");
            browser.press("Name the languages");
            browser.click("#reject button");
            browser.until("document.getElementById('guide')?.dataset.part !== 'comment'");
        }
        "breakdown" => {
            browser.click("form[action$='/run'] button");
            browser.until("!document.querySelector(\"form[action$='/run']\")");
        }
        "plan" => {
            browser.click("form[action$='/approve'] button");
            browser.until("!document.querySelector(\"form[action$='/approve']\")");
        }
        other => panic!("the guide speaks of {other}"),
    }
    part
}

#[test]
fn following_the_guide_completes_the_demo() {
    // Long enough that the demo never decides by itself.
    let demo = Demo::start("600000");
    let Some(browser) = Browser::at(&demo.address) else { return };
    browser.go("/board");
    let mut parts: Vec<String> = Vec::new();
    while parts.last().is_none_or(|part| part != "end") {
        parts.push(follow(&browser));
        assert!(parts.len() < CLICKS_MAX, "{parts:?}");
    }
    for wanted in ["work", "question", "accept", "breakdown", "plan", "comment", "end"] {
        assert!(parts.iter().any(|part| part == wanted), "{wanted}: {parts:?}");
    }
    let guide = browser.text("#guide");
    assert!(guide.contains("10 of 10 tasks finished") && guide.contains("baton init"), "{guide}");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
    browser.go("/");
    assert_eq!(browser.until("document.getElementById('guide').dataset.part"), "end", "it is on every page");

    let pid = demo.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let (code, printed) = demo.rest();
    assert_eq!(code, Some(0), "{printed}");
    for wanted in ["! you: formal", "Everything is merged", "10 tasks", "baton init, then baton up"] {
        assert!(printed.contains(wanted), "{wanted}: {printed}");
    }
    assert!(!printed.contains("the demo:"), "the demo decided by itself: {printed}");
}

#[test]
fn without_clicks_the_demo_runs_to_its_end() {
    let demo = Demo::start("50");
    let (code, printed) = demo.rest();
    assert_eq!(code, Some(0), "{printed}");
    for wanted in [
        "! the demo: formal",
        "passed its checks alone and fails them together with",
        "“Write the guide”: rejected: Name the languages",
        "Everything is merged",
        "10 tasks",
        "baton init, then baton up",
    ] {
        assert!(printed.contains(wanted), "{wanted}: {printed}");
    }
}

#[test]
fn an_interrupted_demo_says_how_to_continue() {
    let demo = Demo::start("600000");
    let pid = demo.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let (code, printed) = demo.rest();
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("Continue it: baton demo --folder"), "{printed}");
}
