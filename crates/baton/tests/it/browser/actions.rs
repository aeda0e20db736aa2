//! Actions on the pages: start and stop a recipe, decide about a plan, run a user task.

use serde_json::json;

use super::driver::Browser;
use super::scene::add_task;
use crate::server::test_server::TestServer;

#[test]
fn a_recipe_is_started_and_stopped_on_the_page() {
    let mut server = TestServer::new(&json!([])).start();
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/recipes");
    browser.click("#implement-and-review details:last-of-type summary");
    browser.write("#message-implement-and-review", "Paint the shed");
    browser.click("#implement-and-review details:last-of-type button.primary");
    // It opens the conversation of the run.
    browser.until("location.pathname.startsWith('/chat/run-')");
    browser.until("document.querySelector('#main').innerText.includes('Paint the shed')");
    browser.go("/recipes");
    browser.wait_until_live();
    browser.until(
        "document.querySelector('#implement-and-review .notice')?.innerText.includes('running at implement')",
    );
    let lit = browser.until("document.querySelector('#implement-and-review .lit')?.textContent");
    assert!(lit.as_str().unwrap().contains("implement"), "{lit}");
    browser.click("#implement-and-review .notice button");
    browser.until("!document.querySelector('#implement-and-review .notice')");
    assert!(browser.js("return document.querySelector('#implement-and-review .lit')").is_null());
    assert_eq!(browser.path(), "/recipes");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
    server.stop();
}

#[test]
fn a_plan_is_rejected_edited_and_approved_on_the_page() {
    let script = json!([
        { "when": "submit_breakdown", "steps": [{ "turns": 6 }, { "plan": [
            { "title": "Add the German greeting" },
            { "title": "Add the Spanish greeting", "depends_on": [1] },
        ]}]},
        { "when": "Add every language", "steps": [{ "turns": 60 }] },
    ]);
    let mut server = TestServer::new(&script);
    let settings = server.folder.join(".agent/baton.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("{text}[recycle]\nplan = \"person\"\n")).unwrap();
    server = server.start();
    let large = add_task(&server, "Add every language");
    let recycled = server.wait_for_queue(&large, "recycled");
    let breakdown = recycled["state"]["replaced_by"]["planning"].as_str().unwrap().to_owned();
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/breakdowns");
    assert!(browser.text("#main").contains("Add every language"));
    browser.go(&format!("/breakdowns/{breakdown}"));
    browser.wait_until_live();
    // An agent makes a plan, which is rejected; the page updates.
    browser.click("form[action$='/run'] button");
    browser.click("details:has(form[action$='/reject']) summary");
    browser.write("#plan-reason", "Begin with the Spanish one.");
    browser.click("form[action$='/reject'] button");
    browser.until("document.querySelector('form[action$=\"/run\"]')");
    // Edited by hand: one title changed, one item removed, one added.
    browser.js("document.querySelector('details:has(form.plan)').open = true; return 1");
    let set = |field: &str, value: &str| {
        browser.js(&format!("document.getElementById({}).value = {}; return 1", json!(field), json!(value)));
    };
    set("title-1", "Add the Spanish greeting");
    set("title-2", "Add the Basque greeting");
    set("after-2", "1");
    set("criteria-2", "a speaker of Basque has read it");
    browser.click("form.plan button.primary");
    browser.until("document.querySelector('ol.plan')?.innerText.includes('Add the Basque greeting')");
    let plan = browser.text("ol.plan");
    assert!(plan.contains("after 1") && plan.contains("a speaker of Basque has read it"), "{plan}");
    assert!(!plan.contains("German"), "{plan}");
    browser.click("form[action$='/approve'] button");
    browser.until("location.pathname === '/board'");
    browser.until("document.querySelector('#board').innerText.includes('Add the Basque greeting')");
    let replaced = server.task(&large)["state"]["replaced_by"].clone();
    assert_eq!(replaced["tasks"].as_array().map(Vec::len), Some(2), "{replaced}");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
    server.stop();
}

#[test]
fn items_of_a_plan_are_added_moved_and_removed_on_the_page() {
    let server = TestServer::without_agents().start();
    let made = server.post("/api/breakdowns", &json!({ "title": "Add every language" })).json();
    let id = made["breakdown"]["task_id"].as_str().unwrap().to_owned();
    let Some(browser) = Browser::at(&server.address) else { return };
    // All rows in sight: a banner stays at the top of the window.
    browser.size(1280, 2400);
    browser.go(&format!("/breakdowns/{id}"));
    browser.wait_until_live();
    browser.write("#title-1", "German");
    browser.click("form.plan button[value=add]");
    browser.write("#title-2", "Spanish");
    browser.write("#after-2", "1");
    browser.click("form.plan button[value=add]");
    browser.write("#title-3", "Basque");
    browser.write("#after-3", "1, 2");
    // The dependencies follow their items.
    browser.click("form.plan button[value=up-2]");
    assert_eq!([browser.value("#title-1"), browser.value("#after-1")], ["Spanish", "2"]);
    assert_eq!(browser.value("#after-3"), "2, 1");
    browser.click("form.plan button[value=remove-1]");
    assert_eq!([browser.value("#title-2"), browser.value("#after-2")], ["Basque", "1"]);
    // A reload loses nothing, and neither does what happens elsewhere.
    browser.go(&format!("/breakdowns/{id}"));
    browser.wait_until_live();
    browser.until("document.querySelectorAll('form.plan fieldset').length === 2");
    assert_eq!([browser.value("#title-1"), browser.value("#title-2")], ["German", "Basque"]);
    server.post(&format!("/api/tasks/{id}/messages"), &json!({ "content": "Mind the accents." }));
    browser.click("form.plan button.primary");
    browser.until("document.querySelector('ol.plan')?.innerText.includes('Basque')");
    assert!(browser.text("ol.plan").contains("after 1"), "{}", browser.text("ol.plan"));
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn a_user_task_is_run_with_arguments_and_shows_its_output() {
    let server = TestServer::without_agents();
    let taskfile = "version: '3'\ntasks:\n  greet:\n    desc: Greet somebody\n    cmds: ['echo \"Hello, {{.CLI_ARGS}}!\"']\n  \
                    fail:\n    desc: Fail\n    cmds: ['echo \"it broke\" >&2; exit 3']\n";
    std::fs::write(server.folder.join(".agent/Taskfile.yml"), taskfile).unwrap();
    let server = server.start();
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/user-tasks");
    assert!(browser.text("#user-task-greet").contains("Greet somebody"));
    browser.write("#args-greet", "<b>Mia</b> & Max");
    browser.click("#user-task-greet button");
    browser.until("document.querySelector('#output')");
    let output = browser.text("#output");
    assert!(output.contains("completed") && output.contains("Mia"), "{output}");
    assert_eq!(browser.js("return document.querySelector('#output b')"), json!(null), "{output}");
    // The arguments stay in the field.
    assert_eq!(browser.value("#args-greet"), "<b>Mia</b> & Max");
    browser.click("#user-task-fail button");
    browser.until("document.querySelector('#output')?.innerText.includes('exit code')");
    let output = browser.text("#output");
    assert!(output.contains("failed, exit code") && output.contains("it broke"), "{output}");
}

#[test]
fn a_file_is_sent_with_a_message() {
    let server = TestServer::without_agents().start();
    let Some(browser) = Browser::at(&server.address) else { return };
    browser.go("/chat/mine");
    browser.until("document.querySelector('[data-files]').checkVisibility()");
    browser.js("const all = new DataTransfer();
         all.items.add(new File([new Uint8Array([0, 255, 137])], 'shot.png', { type: 'image/png' }));
         document.querySelector('input[type=file]').files = all.files;");
    browser.write("#message", "Look at this");
    browser.click(".composer button.primary");
    browser.until("document.body.innerText.includes('(image/png, 3 bytes)')");
    let tasks = server.read("/api/tasks?session_id=mine");
    assert_eq!(tasks["tasks"][0]["title"], "Look at this", "{tasks}");
}
