//! Set-ups and hooks that take long or hang: other projects go on.

use serde_json::json;

use super::project_settings::{add, project};
use crate::engine::test_repo::TestRepo;
use crate::gate::Gate;

/// A project whose set-up waits until the gate opens.
fn slow_project(repo: &TestRepo, gate: &Gate, more: &str) -> String {
    let (folder, id) = project(repo, "slow", &format!("[worktree]\nsetup = \"prepare\"\n{more}"));
    let script = folder.join("prepare.sh");
    std::fs::write(&script, gate.wait()).unwrap();
    let taskfile = format!("version: '3'\ntasks: {{prepare: {{cmds: ['sh {}']}}}}\n", script.display());
    std::fs::write(folder.join(".agent/Taskfile.yml"), taskfile).unwrap();
    id
}

#[test]
fn a_set_up_that_hangs_keeps_no_other_project_waiting() {
    let repo = TestRepo::with_working_agent("max_agents = 2");
    let gate = Gate::closed(repo.home.join("gate"));
    let slow = slow_project(&repo, &gate, "");
    let waiting: Vec<String> = (0..4).map(|number| add(&repo, &format!("Slow {number}"), &slow)).collect();
    let up = repo.up();
    repo.until("one is being set up", || waiting.iter().any(|task| repo.status(task) == "RUNNING"));
    let home: Vec<String> = (0..3).map(|number| repo.add(&format!("At home {number}"), &[])).collect();
    for task in &home {
        repo.until_queue(task, "provisional");
    }
    repo.until("the others say why they wait", || {
        let reason = |task: &String| repo.show(task)["not_started"]["code"].clone();
        waiting.iter().filter(|task| reason(task) == "project_in_setup").count() == 3
    });
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    gate.open();
    for task in &waiting {
        repo.until_queue(task, "provisional");
    }
    up.end();
}

#[test]
fn a_set_up_that_takes_longer_than_it_may_is_a_question_about_its_project() {
    let repo = TestRepo::with_working_agent("max_agents = 1");
    let gate = Gate::closed(repo.home.join("gate"));
    let slow = slow_project(&repo, &gate, "setup_seconds = 1\n");
    let task = add(&repo, "Slow", &slow);
    let home = repo.add("At home", &[]);
    let up = repo.up();
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("The set-up of this project fails"), "{asked}");
    repo.until_queue(&home, "provisional");
    gate.open();
    up.end();
}

#[test]
fn a_hook_before_landing_that_hangs_keeps_no_other_project_from_landing() {
    let repo = TestRepo::with_working_agent("");
    let gate = Gate::closed(repo.home.join("gate"));
    let settings = "accept_when = \"green\"\nchecks = { fine = [\"true\"] }\n";
    let begun = repo.home.join("begun");
    let script = format!("touch {}; {}", begun.display(), gate.wait());
    let hook = format!(
        "[hooks]\nrun_as = \"person\"\nseconds = 3600\nbefore_landing = [\"sh\", \"-c\", \"{script}\"]\n"
    );
    let (_, hangs) = project(&repo, "hangs", &format!("{settings}{hook}"));
    let (_, sound) = project(&repo, "sound", settings);
    let slow = add(&repo, "Slow", &hangs);
    let up = repo.up();
    repo.until("the hook hangs", || begun.exists());
    let other = add(&repo, "Other", &sound);
    repo.until_queue(&other, "done");
    assert_eq!(repo.queue(&slow), "provisional");
    gate.open();
    repo.until_queue(&slow, "done");
    up.end();
}
