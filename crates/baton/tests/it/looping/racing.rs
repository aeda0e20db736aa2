//! What depends on what in a plan, and two loops that come upon the same thing at once.

use serde_json::{Value, json};

use super::round::{ONE_ROUND, Round, discovered, rubric, talk};

fn planning(items: &Value) -> Value {
    json!({ "scripts": [
        { "when": "# Plan:", "steps": [
            { "say": rubric("clear") },
            { "plan": items },
            { "result": { "status": "COMPLETE", "output": "Planned." } },
        ] },
        { "when": "# Review:", "steps": [
            { "say": discovered(&["Add docs", "Paint the fence"]) },
            { "result": { "status": "COMPLETE", "output": "Found two things." } },
        ] },
    ], "otherwise": [
        { "write": { "path": "out/{{task}}.txt", "text": "{{task}}\n" } },
        { "commit": "Work on {{task}}" },
        { "result": { "status": "COMPLETE", "output": "Written." } },
    ] })
}

#[test]
fn the_dependencies_of_a_plan_are_dependencies_of_its_tasks() {
    let items = json!([
        { "title": "Dig" },
        { "title": "Pour", "depends_on": [1] },
        { "title": "Sweep", "depends_on": [1] },
        { "title": "Build", "depends_on": [2] },
    ]);
    let round = Round::with(&planning(&items), "");
    let subject = round.add("A house");
    let waiting = round.shop.add("Move in", &[&subject]);
    let output = round.answered(&[], &["YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    assert!(talk(&output).contains("2. Pour (after 1)"), "{}", talk(&output));
    let id = |title: &str| round.titled(title)["task_id"].clone();
    let depends = |title: &str| {
        let id = id(title);
        round.shop.show(id.as_str().unwrap())["depends_on"].clone()
    };
    assert_eq!(depends("Dig"), json!([]));
    assert_eq!(depends("Pour"), json!([id("Dig")]));
    assert_eq!(depends("Sweep"), json!([id("Dig")]));
    assert_eq!(depends("Build"), json!([id("Pour")]));
    assert_eq!(
        round.shop.show(id("Pour").as_str().unwrap())["came_of"],
        json!(subject),
        "it says whose plan it is of"
    );
    // Who waited on the whole waits on what nothing else waits on.
    let mut leaves = round.shop.show(&waiting)["depends_on"].as_array().unwrap().clone();
    let mut expected = vec![id("Sweep"), id("Build")];
    leaves.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(leaves, expected);
}

#[test]
fn what_needs_something_that_was_left_out_is_not_asked_about() {
    let items = json!([{ "title": "Dig" }, { "title": "Pour", "depends_on": [1] }, { "title": "Sweep" }]);
    let round = Round::with(&planning(&items), "");
    round.add("A house");
    // Dig is declined, Pour passed over; Sweep runs. NO at the gate asks about both others again, and now both run.
    let output = round.answered(&[], &["YES", "NO", "YES", "YES", "NO", "YES", "YES", "YES", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    let dig = round.titled("Dig")["task_id"].as_str().unwrap().to_owned();
    assert!(said.contains(&format!("Pour: skipped, as it needs {dig} Dig")), "{said}");
    let asked: Vec<&str> = said.lines().filter(|line| line.contains("Execute: ")).map(str::trim).collect();
    assert_eq!(
        asked,
        ["Dig", "Sweep", "Dig", "Pour"].map(|title| format!("Execute: {title}? [YES/NO/HELP]")),
        "{said}"
    );
    assert_eq!(round.titled("Pour")["queue"], "done");
}

/// I9: two loops say YES to the same two tasks at the same moment; each task is created once.
#[test]
fn i9_two_loops_that_discover_the_same_at_once_create_it_once() {
    let round = Round::with(&planning(&json!([{ "title": "Only part" }])), "");
    for pair in 0..3 {
        let sessions = [format!("left-{pair}"), format!("right-{pair}")];
        for session in &sessions {
            round.add(&format!("For {session}"));
            let output = round.answered(&["--session", session], &ONE_ROUND[..4]);
            assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
        }
        let is_asked =
            |question: &Value| question["text"].as_str().unwrap().starts_with("Add discovered tasks?");
        let asked: Vec<Value> = round.questions().into_iter().filter(is_asked).collect();
        assert_eq!(asked.len(), 2, "{asked:?}");
        let answer = |question: &Value| {
            round.shop.baton(&["answer", question["id"].as_str().unwrap(), "YES"]).spawn().unwrap()
        };
        let answering: Vec<_> = asked.iter().map(answer).collect();
        for mut answer in answering {
            assert!(answer.wait().unwrap().success());
        }
        for title in ["Add docs", "Paint the fence"] {
            let tasks = round.tasks();
            let open: Vec<&Value> =
                tasks.iter().filter(|task| task["title"] == title && task["queue"] == "incoming").collect();
            assert_eq!(open.len(), 1, "{title}: {open:?}");
            // Over and done with, so that the next review may come upon it again.
            round.shop.says(&["task", "cancel", open[0]["task_id"].as_str().unwrap()]);
        }
    }
}

#[test]
fn what_was_discovered_and_is_being_done_in_parts_is_not_discovered_again() {
    let round = Round::with(&planning(&json!([{ "title": "Only part" }])), "");
    round.add("Build it");
    let mut answers: Vec<&str> = vec!["YES", "YES", "YES", "YES", "YES", "YES"];
    // The second round plans "Add docs", which is then replaced by its part; that part is left out, and so still open.
    answers.extend(["YES", "NO", "YES"]);
    answers.push("NO");
    let output = round.answered(&[], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let docs: Vec<Value> = round.tasks().into_iter().filter(|task| task["title"] == "Add docs").collect();
    assert_eq!(docs.len(), 1, "{docs:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Duplicates skipped: 2"), "{output:?}");
}
