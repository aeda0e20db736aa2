//! Several tabs, notifications, progress on cards, installation as an app, and dictated answers.

use serde_json::json;

use super::driver::Browser;
use super::scene::{add_task, add_waiting_task, asking_script};
use crate::server::test_server::TestServer;
use crate::wait;

/// More tabs than a browser allows connections to one server.
const TABS: usize = 8;

#[test]
fn eight_tabs_share_one_stream_all_stay_current_and_a_page_still_loads() {
    let server = TestServer::new(&asking_script()).start();
    let Some(browser) = Browser::at(&server.address) else { return };
    let mut tabs = vec![browser.current_tab()];
    tabs.extend((1..TABS).map(|_| browser.tab()));
    for tab in &tabs {
        browser.switch(tab);
        browser.go("/board");
        browser.wait_until_live();
    }
    until_one_stream(&server);
    let task = add_task(&server, "Add a greeting");
    for tab in &tabs {
        browser.switch(tab);
        browser.until(&format!("document.querySelector('#asking #card-{task}')"));
    }
    // The tab with the stream is closed; another one takes over without missing events.
    browser.switch(&tabs[0]);
    browser.go("about:blank");
    server.post(&format!("/api/tasks/{task}/reply"), &json!({ "reply": "formal" }));
    for tab in &tabs[1..] {
        browser.switch(tab);
        browser.until(&format!("document.querySelector('#review #card-{task}')"));
        browser.wait_until_live();
    }
    until_one_stream(&server);
    browser.go("/graph");
    browser.wait_until_live();
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// The stream of a tab that is gone ends a moment after it.
fn until_one_stream(server: &TestServer) {
    let patience = std::time::Duration::from_mins(2);
    wait::until(patience, || streams(server) == 1, || format!("{} streams are open", streams(server)));
}

/// The number of open event streams.
fn streams(server: &TestServer) -> u64 {
    let text = server.get("/metrics").body;
    let line =
        text.lines().find(|line| line.starts_with("baton_event_streams")).unwrap_or_default().to_owned();
    line.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn the_card_of_a_task_at_work_counts_its_turns() {
    let script = json!([{ "steps": [{ "turns": 2 }, { "turns": 5 }, "hang"] }]);
    let mut server = TestServer::new(&script).start();
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/board");
    browser.wait_until_live();
    let task = add_task(&server, "Look around");
    browser
        .until(&format!("document.querySelector('#working #card-{task}')?.innerText.includes('7/50 turns')"));
    server.stop();
}

#[test]
fn a_question_notifies_a_person_who_looks_elsewhere() {
    let server = TestServer::new(&asking_script()).start();
    let Some(browser) = Browser::at(&server.address) else { return };
    let permission = json!({ "permissions": ["notifications"], "origin": browser.home });
    browser.command("Browser.grantPermissions", &permission);
    browser.before_each_page(
        "window.notices = []; window.isElsewhere = false;
         Object.defineProperty(document, 'hidden', { get: () => window.isElsewhere });
         window.Notification = class extends window.Notification {
           constructor(title, options) { super(title, options); window.notices.push([title, options.body, options.tag]); }
         };",
    );
    browser.go("/board");
    browser.wait_until_live();
    assert_eq!(browser.js("return Notification.permission"), "granted");
    // A visible page shows the question itself.
    let seen = add_waiting_task(&server, "Add a greeting");
    browser.until(&format!("document.querySelector('#asking #card-{seen}')"));
    assert_eq!(browser.js("return [document.hidden, window.notices]"), json!([false, []]));
    // A headless browser reports every tab as visible, so the test overrides that.
    browser.js("window.isElsewhere = true; return 1");
    let task = add_waiting_task(&server, "Add a second greeting");
    let notices = browser.until("window.notices.length && window.notices");
    let address = format!("/questions/{}", super::scene::question_id(&server, &task));
    assert_eq!(notices, json!([["Question", "Should the greeting be formal?", address]]));
}

#[test]
fn the_page_can_be_installed() {
    let server = TestServer::without_agents().start();
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/");
    let manifest = browser.command("Page.getAppManifest", &json!({}));
    assert_eq!(manifest["errors"], json!([]), "{manifest}");
    let found: serde_json::Value = serde_json::from_str(manifest["data"].as_str().unwrap()).unwrap();
    assert_eq!((&found["start_url"], &found["display"]), (&json!("/"), &json!("standalone")));
    let faults = browser.command("Page.getInstallabilityErrors", &json!({}));
    assert_eq!(faults["installabilityErrors"], json!([]), "{faults}");
    // Icons have the declared sizes, and shortcuts exist.
    browser.js(&format!(
        "const url = {}, manifest = {}; window.icons = null;
         const size = (icon) => new Promise((done) => {{
           const image = new Image(); image.onload = () => done(`${{image.naturalWidth}}x${{image.naturalHeight}}` === icon.sizes);
           image.onerror = () => done(false); image.src = new URL(icon.src, url);
         }});
         const leads = (each) => fetch(new URL(each.url, url)).then((answer) => answer.ok);
         Promise.all([...manifest.icons.map(size), ...manifest.shortcuts.map(leads)]).then((all) => {{ window.icons = all; }}); return 1",
        manifest["url"], found
    ));
    let all = browser.until("window.icons");
    assert!(
        all.as_array().unwrap().len() >= 4 && all.as_array().unwrap().iter().all(|fine| fine == true),
        "{all}"
    );
}

#[test]
fn an_answer_can_be_spoken() {
    let server = TestServer::new(&asking_script()).start();
    let task = add_waiting_task(&server, "Add a greeting");
    let Some(browser) = Browser::at(&server.address) else { return };
    // A fake speech recognition that delivers a sentence in two parts.
    browser.before_each_page(
        "window.SpeechRecognition = class {
           start() {
             const say = (...pieces) => this.onresult({ results: pieces.map((transcript) => [{ transcript }]) });
             setTimeout(() => say('as formal'), 10);
             setTimeout(() => say('as formal', ' as can be'), 20);
           }
           stop() { setTimeout(() => this.onend(), 10); }
         };",
    );
    browser.go(&format!("/tasks/{task}"));
    browser.write(".question textarea", "Well,");
    browser.click("[data-do=voice]");
    browser.until("document.querySelector('.question textarea').value === 'Well, as formal as can be'");
    assert_eq!(browser.text("[data-do=voice]"), "Stop");
    browser.click("[data-do=voice]");
    browser.until("document.querySelector('[data-do=voice]').textContent === 'Dictate'");
    browser.click(".question button.primary");
    assert_eq!(server.wait_for_queue(&task, "provisional")["output"], "It is Well, as formal as can be now.");
}
