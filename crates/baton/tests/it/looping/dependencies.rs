//! Dependencies in a plan, and tasks that several reviews discover.

use serde_json::{Value, json};

use super::fixture::{LoopFixture, ONE_ROUND, discovered, rubric, stderr};

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
    let fixture = LoopFixture::with(&planning(&items), "");
    let subject = fixture.add("A house");
    let waiting = fixture.repo.add("Move in", &[&subject]);
    let output = fixture.run_with_answers(&[], &["YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    assert!(stderr(&output).contains("2. Pour (after 1)"), "{}", stderr(&output));
    let id = |title: &str| fixture.task_titled(title)["task_id"].clone();
    let depends = |title: &str| {
        let id = id(title);
        fixture.repo.show(id.as_str().unwrap())["depends_on"].clone()
    };
    assert_eq!(depends("Dig"), json!([]));
    assert_eq!(depends("Pour"), json!([id("Dig")]));
    assert_eq!(depends("Sweep"), json!([id("Dig")]));
    assert_eq!(depends("Build"), json!([id("Pour")]));
    assert_eq!(
        fixture.repo.show(id("Pour").as_str().unwrap())["came_of"],
        json!(subject),
        "it names the task it is a part of"
    );
    // Tasks that depended on the whole depend on the leaves of the plan.
    let mut leaves = fixture.repo.show(&waiting)["depends_on"].as_array().unwrap().clone();
    let mut expected = vec![id("Sweep"), id("Build")];
    leaves.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(leaves, expected);
}

#[test]
fn a_task_whose_dependency_was_skipped_is_skipped() {
    let items = json!([{ "title": "Dig" }, { "title": "Pour", "depends_on": [1] }, { "title": "Sweep" }]);
    let fixture = LoopFixture::with(&planning(&items), "");
    fixture.add("A house");
    // Dig is declined and Pour skipped; Sweep runs. After NO at the gate both others are asked about again and run.
    let output =
        fixture.run_with_answers(&[], &["YES", "NO", "YES", "YES", "NO", "YES", "YES", "YES", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let printed = stderr(&output);
    let dig = fixture.task_titled("Dig")["task_id"].as_str().unwrap().to_owned();
    assert!(printed.contains(&format!("Pour: skipped, as it needs {dig} Dig")), "{printed}");
    let asked: Vec<&str> = printed.lines().filter(|line| line.contains("Execute: ")).map(str::trim).collect();
    assert_eq!(
        asked,
        ["Dig", "Sweep", "Dig", "Pour"].map(|title| format!("Execute: {title}? [YES/NO/HELP]")),
        "{printed}"
    );
    assert_eq!(fixture.task_titled("Pour")["queue"], "done");
}

/// I9: two loops say YES to the same two tasks at the same moment; each task is created once.
#[test]
fn i9_two_loops_that_discover_the_same_task_create_it_once() {
    let fixture = LoopFixture::with(&planning(&json!([{ "title": "Only part" }])), "");
    for pair in 0..3 {
        let sessions = [format!("left-{pair}"), format!("right-{pair}")];
        for session in &sessions {
            fixture.add(&format!("For {session}"));
            let output = fixture.run_with_answers(&["--session", session], &ONE_ROUND[..4]);
            assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
        }
        let is_asked =
            |question: &Value| question["text"].as_str().unwrap().starts_with("Add discovered tasks?");
        let asked: Vec<Value> = fixture.questions().into_iter().filter(is_asked).collect();
        assert_eq!(asked.len(), 2, "{asked:?}");
        let answer = |question: &Value| {
            fixture.repo.baton(&["answer", question["id"].as_str().unwrap(), "YES"]).spawn().unwrap()
        };
        let answering: Vec<_> = asked.iter().map(answer).collect();
        for mut answer in answering {
            assert!(answer.wait().unwrap().success());
        }
        for title in ["Add docs", "Paint the fence"] {
            let tasks = fixture.tasks();
            let open: Vec<&Value> =
                tasks.iter().filter(|task| task["title"] == title && task["queue"] == "incoming").collect();
            assert_eq!(open.len(), 1, "{title}: {open:?}");
            // Cancelled, so that the next review may discover it again.
            fixture.repo.stdout(&["task", "cancel", open[0]["task_id"].as_str().unwrap()]);
        }
    }
}

#[test]
fn a_discovered_task_that_was_broken_down_is_not_discovered_again() {
    let fixture = LoopFixture::with(&planning(&json!([{ "title": "Only part" }])), "");
    fixture.add("Build it");
    let mut answers: Vec<&str> = vec!["YES", "YES", "YES", "YES", "YES", "YES"];
    // The second iteration plans "Add docs" and replaces it by its part, which is skipped and stays open.
    answers.extend(["YES", "NO", "YES"]);
    answers.push("NO");
    let output = fixture.run_with_answers(&[], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let docs: Vec<Value> = fixture.tasks().into_iter().filter(|task| task["title"] == "Add docs").collect();
    assert_eq!(docs.len(), 1, "{docs:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Duplicates skipped: 2"), "{output:?}");
}
