//! I22: the agent of an operation that may destroy something does nothing twice by itself.

use std::fs;

use serde_json::Value;

use super::fixture::RecipeFixture;

/// An agent that counts its runs, waits for the flag `go` if `wait` is there, and ends as the file `end` says.
fn counting(end: &str) -> RecipeFixture {
    let fixture = RecipeFixture::shell("");
    let flags = fixture.folder.join("flags").display().to_string();
    let agent = format!(
        "cat > /dev/null\necho run >> {flags}/runs\n\
         if [ -e {flags}/wait ]; then while [ ! -e {flags}/go ]; do sleep 0.05; done; fi\n\
         cat {flags}/end\n"
    );
    fs::write(fixture.folder.join("agent.sh"), agent).unwrap();
    fs::write(fixture.flag("end"), end).unwrap();
    fixture
}

fn runs(fixture: &RecipeFixture) -> usize {
    fs::read_to_string(fixture.flag("runs")).unwrap_or_default().lines().count()
}

fn add(fixture: &RecipeFixture, more: &[&str]) -> String {
    let added = fixture.json(&[&["task", "add", "Drop the tables"], more].concat());
    added["task_id"].as_str().unwrap().to_owned()
}

fn question_of(view: &Value) -> String {
    view["question"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn i22_a_report_that_cannot_be_used_is_a_question_and_not_another_run() {
    let mut fixture = counting("Dropped.\n{\"outcome\": \"flurb\"}\n");
    let task = add(&fixture, &["--type", "DANGEROUS_OP", "--recipe", "implement-and-review"]);
    fixture.up();
    let asked = question_of(&fixture.wait_for_question(&task));
    for told in ["May it go ahead?", "flurb", "YES lets it run again", "Dropped."] {
        assert!(asked.contains(told), "{told}: {asked}");
    }
    assert_eq!(runs(&fixture), 1);
    fs::write(fixture.flag("end"), "{\"outcome\": \"other\", \"description\": \"It was done before.\"}\n")
        .unwrap();
    fixture.json(&["task", "reply", &task, "YES"]);
    fixture.wait("the second run", || (runs(&fixture) == 2).then_some(()));
    fixture.wait_for_question(&task);
    let (_, prompt) = fixture.prompts(&task).pop().unwrap();
    for told in ["do nothing twice", "Your last answer", "do not do again what is done"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert_eq!(runs(&fixture), 2);
}

#[test]
fn i22_a_message_to_a_program_at_work_asks_before_it_runs_again() {
    let mut fixture = counting("{\"baton\":\"result\",\"status\":\"COMPLETE\",\"output\":\"Dropped.\"}\n");
    fs::write(fixture.flag("wait"), "").unwrap();
    let task = add(&fixture, &["--type", "DANGEROUS_OP"]);
    fixture.up();
    fixture.wait("the agent works", || (runs(&fixture) == 1).then_some(()));
    fixture.json(&["say", &task, "Also the backup."]);
    fs::write(fixture.flag("go"), "").unwrap();
    let asked = question_of(&fixture.wait_for_question(&task));
    assert!(asked.contains("somebody wrote to it while it worked"), "{asked}");
    assert_eq!(runs(&fixture), 1);
    fixture.json(&["task", "reply", &task, "YES"]);
    fixture.wait_for_queue(&task, "provisional");
    assert_eq!(runs(&fixture), 2);
    let (_, prompt) = fixture.prompts(&task).pop().unwrap();
    for told in ["Also the backup.", "do nothing twice"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
}

#[test]
fn a_message_that_comes_late_is_the_instruction_and_not_the_whole_task_again() {
    let mut fixture = counting("{\"baton\":\"result\",\"status\":\"COMPLETE\",\"output\":\"Written.\"}\n");
    fs::write(fixture.flag("wait"), "").unwrap();
    let task = add(&fixture, &["--type", "REPORT"]);
    fixture.up();
    fixture.wait("the agent works", || (runs(&fixture) == 1).then_some(()));
    fixture.json(&["say", &task, "In French, too."]);
    fs::write(fixture.flag("go"), "").unwrap();
    fixture.wait("both runs", || (runs(&fixture) == 2).then_some(()));
    fixture.wait_for_queue(&task, "done");
    let (_, prompt) = fixture.prompts(&task).pop().unwrap();
    let now = prompt.split("## What to do now").nth(1).unwrap();
    assert!(now.trim_start().starts_with("You have worked on this step and ended it"), "{prompt}");
    assert!(now.contains("In French, too."), "{prompt}");
}

#[test]
fn only_the_step_that_commits_is_told_to_commit() {
    let mut fixture = counting("{\"outcome\": \"blocked\", \"description\": \"Which tables?\"}\n");
    let task = add(&fixture, &["--type", "IMPLEMENTATION", "--recipe", "implement-and-review"]);
    fixture.up();
    fixture.wait_for_question(&task);
    let (_, prompt) = fixture.prompts(&task).pop().unwrap();
    assert!(prompt.contains("Do not commit yet"), "{prompt}");
    assert!(!prompt.contains("Commit your work here"), "{prompt}");
}

#[test]
fn runs_of_two_tasks_in_one_session_are_told_apart() {
    let mut fixture = counting("");
    fs::write(fixture.flag("wait"), "").unwrap();
    let settings = fixture.folder.join(".agent/baton.toml");
    let text = fs::read_to_string(&settings).unwrap().replace("max_agents = 1", "max_agents = 2");
    fs::write(&settings, text).unwrap();
    let recipe = ["--type", "IMPLEMENTATION", "--recipe", "implement-and-review"];
    let (first, second) = (add(&fixture, &recipe), add(&fixture, &recipe));
    fixture.up();
    fixture.wait("both work", || (runs(&fixture) == 2).then_some(()));
    let refused = fixture.run(&["recipe", "exit"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{said}");
    assert!(said.contains(&first) && said.contains(&second) && said.contains("baton stop TASK-"), "{said}");
    // What it says works.
    let stopped = String::from_utf8(fixture.run(&["stop", &first]).stdout).unwrap();
    assert!(stopped.contains(&format!("baton task release {first}")), "{stopped}");
    assert_eq!(fixture.task(&first)["held_because"], "stopped by you");
    let exited = fixture.json(&["recipe", "exit"]);
    assert_eq!(exited["task_id"], *second, "one is left, and it is meant: {exited}");
}

#[test]
fn stopping_a_recipe_with_work_says_what_can_be_done_with_it() {
    let mut fixture = counting("");
    let flags = fixture.folder.join("flags").display().to_string();
    let agent = format!(
        "cat > /dev/null\necho half > half.txt\ngit add -A\ngit commit -qm half\necho run >> {flags}/runs\ntail -f /dev/null\n"
    );
    fs::write(fixture.folder.join("agent.sh"), agent).unwrap();
    let task = add(&fixture, &["--type", "IMPLEMENTATION", "--recipe", "implement-and-review"]);
    fixture.up();
    fixture.wait("the agent works", || (runs(&fixture) == 1).then_some(()));
    let stopped = String::from_utf8(fixture.run(&["stop", &task]).stdout).unwrap();
    assert!(stopped.contains("not finished") && stopped.contains("baton reject"), "{stopped}");
    assert!(!stopped.contains("baton task release"), "{stopped}");
    fixture.json(&["reject", &task, "--reason", "Finish it."]);
    fixture.wait("it goes on", || (runs(&fixture) == 2).then_some(()));
}
