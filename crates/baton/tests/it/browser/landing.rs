//! The landing page: a check is watched while it runs, and its work lands or goes back.

use serde_json::{Value, json};

use super::driver::Browser;
use super::scene::add_task;
use crate::gate::Gate;
use crate::server::test_server::TestServer;

/// Two tasks that pass the check alone and fail it together. The check waits at the gate.
fn server() -> (TestServer, std::path::PathBuf) {
    let work = |name: &str| -> Value {
        json!({ "when": format!("# Add {name}"), "attempt": 1, "steps": [
            { "turns": 1 }, { "write": { "path": name, "text": "x\n" } }, { "commit": format!("Add {name}") },
            { "result": { "status": "COMPLETE", "output": "Done." } },
        ]})
    };
    let server = TestServer::new(&json!([work("a.txt"), work("b.txt")]));
    let gate = server.folder.parent().unwrap().join("gate");
    let check = format!(
        "echo looking; flock --shared {} true; if test -e a.txt && test -e b.txt; then echo both exist; exit 3; fi",
        gate.display()
    );
    let file = server.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{settings}[checks]\nrules = [\"sh\", \"-c\", '''{check}''']\n")).unwrap();
    (server.start(), gate)
}

#[test]
fn the_landing_page_shows_a_check_while_it_runs_and_what_became_of_the_work() {
    let (server, path) = server();
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/landing");
    assert!(browser.text("#main").contains("Nothing waits to land"), "{}", browser.text("#main"));
    assert!(browser.text("#nav [aria-current]").contains("Landing"));
    browser.wait_until_live();
    let (one, other) = (add_task(&server, "Add a.txt"), add_task(&server, "Add b.txt"));
    for task in [&one, &other] {
        server.wait_for_queue(task, "provisional");
    }
    let gate = Gate::closed(path);
    server.post(&format!("/api/tasks/{one}/accept"), &json!({}));
    browser.until("document.querySelector('.tail')?.innerText.includes('looking')");
    server.post(&format!("/api/tasks/{other}/accept"), &json!({}));
    browser.until(&format!(
        "document.querySelector('#candidate-{other}')?.innerText.includes('waits behind {one}')"
    ));
    let lane = browser.text("#lane-0");
    assert!(lane.contains("baton/next") && lane.contains("being checked"), "{lane}");

    // The task leads here.
    browser.go(&format!("/tasks/{other}"));
    browser.click(&format!("a[href='/landing#candidate-{other}']"));
    browser
        .until(&format!("location.pathname === '/landing' && document.querySelector('#candidate-{other}')"));
    browser.wait_until_live();

    gate.open();
    browser.until(&format!("[...document.querySelectorAll('#recent li')].some((each) => each.innerText.includes('returned') && each.innerText.includes('{other}') && each.innerText.includes('together with {one}'))"));
    browser.until(&format!("[...document.querySelectorAll('#recent li')].some((each) => each.innerText.includes('landed') && each.innerText.includes('{one}'))"));
    let verdicts = browser.text("#verdicts");
    assert!(
        verdicts.contains("passed") && verdicts.contains("failed") && verdicts.contains("exit code 3"),
        "{verdicts}"
    );
    browser.js(
        "document.querySelectorAll('#verdicts details').forEach((each) => { each.open = true; }); return 1",
    );
    assert!(browser.text("#verdicts").contains("both exist"), "{}", browser.text("#verdicts"));
    assert_eq!(browser.console_errors(), Vec::<String>::new());
    // Nothing is wider than a phone.
    browser.size(390, 844);
    let width = browser.until("document.documentElement.scrollWidth");
    assert!(width.as_u64().unwrap() <= 390, "{width}");
}
