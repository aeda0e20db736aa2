//! A server where every page has something to show, and screenshots of them for the documentation.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::driver::Browser;
use super::scene::{add_task, add_task_after};
use crate::server::test_server::TestServer;

/// The folder for the screenshots; without it none are taken. `scripts/screenshots` sets it.
const FOLDER: &str = "BATON_SCREENSHOTS";

pub(crate) struct Showcase {
    pub(crate) server: TestServer,
    session: String,
    accepted: String,
    asking: String,
    breakdown: String,
    question: String,
}

impl Showcase {
    /// The name and the path of every page.
    pub(crate) fn pages(&self) -> Vec<(&'static str, String)> {
        let Self { session, accepted, asking, breakdown, question, .. } = self;
        vec![
            ("inbox", "/".to_owned()),
            ("question", format!("/questions/{question}")),
            ("board", "/board".to_owned()),
            ("list", "/board?view=list".to_owned()),
            ("task", format!("/tasks/{accepted}")),
            ("task-asking", format!("/tasks/{asking}")),
            ("log", format!("/tasks/{accepted}/log")),
            ("changes", format!("/tasks/{accepted}/diff")),
            ("details", format!("/tasks/{accepted}/details")),
            ("details-of-plan", format!("/tasks/{breakdown}/details")),
            ("running", "/running".to_owned()),
            ("costs", "/costs".to_owned()),
            ("routines", "/routines".to_owned()),
            ("run-again", format!("/tasks/new?from={accepted}")),
            ("accept", format!("/tasks/{accepted}/do/accept")),
            ("new-task", "/tasks/new".to_owned()),
            ("chat", format!("/chat/{session}")),
            ("graph", "/graph".to_owned()),
            ("recipes", "/recipes?show=implement-and-review".to_owned()),
            ("breakdowns", "/breakdowns".to_owned()),
            ("breakdown", format!("/breakdowns/{breakdown}")),
            ("user-tasks", "/user-tasks".to_owned()),
            ("health", "/health".to_owned()),
            ("workers", "/workers".to_owned()),
            ("landing", "/landing".to_owned()),
            ("keys", "/help".to_owned()),
        ]
    }
}

impl Drop for Showcase {
    /// Stops the server, which ends the agent that hangs.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.server.stop();
        }
    }
}

fn script() -> Value {
    let work = |title: &str, path: &str, text: &str, printed: &str| {
        json!({ "when": title, "steps": [
            { "turns": 7 }, { "say": format!("\u{1b}[36m›\u{1b}[0m reading the repository") },
            { "log": "\u{1b}[32mok\u{1b}[0m 14 files looked at" },
            { "say": printed },
            { "write": { "path": path, "text": text } },
            { "usage": { "input_tokens": 48_200, "output_tokens": 3_100, "cost_usd": 0.34 } },
            { "commit": title },
            { "result": { "status": "COMPLETE", "output": printed } },
        ]})
    };
    json!([
        { "when": "submit_breakdown", "steps": [{ "turns": 6 }, { "plan": [
            { "title": "Add the German greeting", "description": "One file under `greetings/`.", "acceptance_criteria": ["ends with an exclamation mark"] },
            { "title": "Add the Spanish greeting", "description": "One file, both marks.", "depends_on": [1] },
            { "title": "List every language in the README", "depends_on": [1, 2], "verification": ["`scripts/check-readme` passes"] },
        ]}]},
        { "when": "Add the French greeting", "resumed": false, "steps": [{ "turns": 3 }, { "ask": {
            "question": "Should the French greeting be **formal** or **casual**?\n\nThe style guide says nothing about it; the German one is formal.",
            "options": ["formal", "casual", "both, by a flag"] } }]},
        { "when": "Move to the new parser", "steps": [{ "turns": 4 }, { "ask": { "question": "The old parser accepts trailing commas and the new one does not. May I break files that rely on it?" } }]},
        { "when": "Add every other language", "steps": [{ "turns": 60 }]},
        { "when": "Bump the toolchain", "steps": [{ "turns": 2 }, { "result": { "status": "ERROR", "output": "error[E0658]: `let` expressions in this position are unstable\n --> src/greet.rs:41:8" } }]},
        { "when": "Profile the start-up", "steps": [{ "turns": 2 }, { "say": "measuring, three runs each" }, "hang"]},
        work("Greet by name", "greetings/en.txt", "Hello, {name}!\nWelcome back.\nSee you soon.\n", "Greetings take a **name** now.\n\n- `greetings/en.txt` has the new form\n- the old form still works without one"),
        work("Set up the greeter", "greetings/README.md", "One file for each language.\n", "The folder is there, with a note on how to add a language."),
        work("Which languages", "notes.txt", "en\n", "English, so far. French waits for a decision."),
    ])
}

const TASKFILE: &str = "version: '3'
tasks:
  test:
    desc: Run the tests
    cmds: ['echo \"14 passed\"']
  lint:
    desc: Check the style of every file
    cmds: ['true']
";

/// Tasks in every state: asking, finished, failed, running, waiting, broken down.
pub(crate) fn showcase() -> Showcase {
    let server = TestServer::new(&script());
    std::fs::create_dir_all(server.folder.join("greetings")).unwrap();
    std::fs::write(server.folder.join("greetings/en.txt"), "Hello!\nWelcome back.\n").unwrap();
    std::fs::write(server.folder.join(".agent/Taskfile.yml"), TASKFILE).unwrap();
    server.git(&["add", "-A"]);
    server.git(&["commit", "-q", "-m", "A greeting"]);
    let server = server.start();
    let project = server.project();
    let session = format!("sess_{project}");
    server
        .chat(&project, &json!({ "content": "Which languages can we greet in?", "task_type": "READ_INFO" }));

    let set_up = add_task(&server, "Set up the greeter");
    server.wait_for_queue(&set_up, "provisional");
    server.post(&format!("/api/tasks/{set_up}/accept"), &json!({}));
    let accepted = add_task_after(&server, "Greet by name", &[&set_up]);
    let french = add_task_after(&server, "Add the French greeting", &[&set_up]);
    let large = add_task_after(&server, "Add every other language", &[&set_up]);
    let parser = add_task(&server, "Move to the new parser");
    let failed = add_task(&server, "Bump the toolchain");
    add_task(&server, "Profile the start-up");
    let tests = add_task_after(&server, "Write the tests", &[&accepted, &french]);
    add_task_after(&server, "Write the guide", &[&tests, &large]);
    server.wait_for_queue(&accepted, "provisional");
    for asking in [&french, &parser] {
        server.wait_for_status(asking, "AWAITING_RESPONSE");
    }
    server.wait_for_status(&failed, "ERROR");
    let recycled = server.wait_for_queue(&large, "recycled");
    let breakdown = recycled["state"]["replaced_by"]["planning"].as_str().unwrap().to_owned();
    server.post(&format!("/api/breakdowns/{breakdown}/run"), &json!({}));
    server.wait_for_queue(&breakdown, "provisional");
    let question = super::scene::question_id(&server, &french);
    Showcase { server, session, accepted, asking: french, breakdown, question }
}

/// All pages, light and dark, on a desktop and on a phone.
#[test]
fn screenshots_of_every_page_are_taken_on_request() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let showcase = showcase();
    let Some(browser) = Browser::at(&showcase.server.address) else { return };
    for (screen, width, height) in [("desktop", 1280, 860), ("phone", 390, 844)] {
        browser.size(width, height);
        for light in ["light", "dark"] {
            browser.dark(light == "dark");
            for (name, path) in showcase.pages() {
                browser.go(&path);
                browser.wait_until_live();
                let file = folder.join(format!("{name}-{screen}-{light}.png"));
                std::fs::write(file, decode_base64(&browser.picture())).unwrap();
            }
        }
    }
}

/// Decodes base64.
fn decode_base64(text: &str) -> Vec<u8> {
    let six = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> = text.bytes().filter(|byte| *byte != b'=').map(six).collect();
    digits
        .chunks(4)
        .flat_map(|four| {
            let bits = four.iter().enumerate().fold(0, |bits, (at, six)| bits | six << (18 - 6 * at));
            bits.to_be_bytes()[1..four.len()].to_vec()
        })
        .collect()
}
