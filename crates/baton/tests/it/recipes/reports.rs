//! Reports that are malformed or contradict what Baton sees.

use serde_json::json;

use super::fixture::{RecipeFixture, good_agent, looping, outcome, script};

#[test]
fn a_malformed_outcome_gets_one_reminder_and_then_ends_the_run() {
    let mut fixture = RecipeFixture::scripted(&script(&[
        json!({ "step": "one", "steps": [{ "say": "I am done. {\"outcome\": \"stop\"" }] }),
    ]));
    fixture.recipe("round.yml", &looping("round", "{}", "{ next_step: one }"));
    let task = fixture.start("round");
    fixture.up();
    let exit = fixture.exit_message();
    assert_eq!(
        (exit["reason"].as_str(), exit["category"].as_str()),
        (Some("orchestration-error"), Some("error"))
    );
    assert!(exit["error"].as_str().unwrap().contains("not valid JSON"), "{exit}");
    fixture.wait_for_queue(&task, "failed");
    insta::assert_snapshot!(fixture.summary(), @r#"
    started round
      one (1)
      retry: the outcome object in your message is not valid JSON: {"outcome": "stop"
    exited orchestration-error [error]: The agent did not report a usable outcome
    "#);
    let prompts = fixture.prompts(&task);
    assert_eq!(prompts.len(), 2);
    assert!(!prompts[0].1.contains("Your last answer") && prompts[1].1.contains("Your last answer"));
}

#[test]
fn each_of_the_five_mistakes_gets_its_own_reminder() {
    let mistakes = [
        ("none", "I am done.", "has no JSON object with an \"outcome\" key"),
        ("malformed", "{\"outcome\": \"stop\"", "is not valid JSON"),
        ("number", "{\"outcome\": 3}", "must be a string, and you sent a number"),
        (
            "unknown",
            "{\"outcome\": \"stopp\"}",
            "\"stopp\" is not an outcome of this step (did you mean \"stop\"?)",
        ),
        ("silent", "{\"outcome\": \"other\"}", "needs a description in your own words"),
    ];
    let mut scenes = vec![json!({ "when": "Your last answer", "steps": [outcome("stop")] })];
    scenes.extend(mistakes.map(
        |(name, printed, _)| json!({ "when": format!("mistake {name}"), "steps": [{ "say": printed }] }),
    ));
    let mut fixture = RecipeFixture::scripted(&script(&scenes));
    let recipe = looping("round", "{}", "{ next_step: one }")
        .replace("[again, stop]", "[again, stop, other]")
        + "      other: { exit: user-provided-other }\n";
    fixture.recipe("round.yml", &recipe);
    let mut tasks = Vec::new();
    for (name, _, _) in mistakes {
        let message = format!("mistake {name}");
        let started = fixture.json(&["recipe", "start", "round", "--session", name, "--message", &message]);
        tasks.push(started["task_id"].as_str().unwrap().to_owned());
    }
    fixture.up();
    for (task, (name, _, reminder)) in tasks.iter().zip(mistakes) {
        fixture.wait_for_queue(task, "done");
        let prompts = fixture.prompts(task);
        assert_eq!(prompts.len(), 2, "{name}");
        assert!(prompts[1].1.contains(reminder), "{name}: {}", prompts[1].1);
    }
    let retries =
        fixture.run_messages().into_iter().filter(|value| value["type"] == "orchestration_retry").count();
    assert_eq!(retries, 5);
}

#[test]
fn reporting_no_tasks_while_there_is_one_gets_a_retry() {
    let mut scenes = vec![
        json!({ "step": "implement", "when": "this run works on TASK-", "steps": [
            { "write": { "path": "login.txt", "text": "fixed\n" } }, outcome("complete") ] }),
        json!({ "step": "implement", "steps": [outcome("no-tasks")] }),
    ];
    scenes.extend(good_agent());
    let mut fixture = RecipeFixture::scripted(&script(&scenes));
    fixture.json(&["task", "add", "Fix the login"]);
    let task = fixture.start("implement-and-review");
    fixture.up();
    fixture.wait_for_queue(&task, "provisional");
    let summary = fixture.summary();
    assert!(summary.contains("retry: you reported \"no-tasks\""), "{summary}");
    assert!(summary.contains(&format!("but this run works on {task} Fix the login")), "{summary}");
    assert!(
        summary.ends_with("exited task-committed [completed]: Task implementation committed successfully\n")
    );
}

#[test]
fn reporting_missing_commits_gets_a_retry() {
    let mut scenes = vec![
        json!({ "step": "commit", "when": "the branch has no new commit", "steps": [
            { "commit": "Really" }, outcome("committed") ] }),
        json!({ "step": "commit", "steps": [outcome("committed")] }),
    ];
    scenes.extend(good_agent());
    let mut fixture = RecipeFixture::scripted(&script(&scenes));
    fixture.json(&["task", "add", "Fix the login"]);
    let task = fixture.start("implement-and-review");
    fixture.up();
    let view = fixture.wait_for_queue(&task, "provisional");
    assert_eq!(view["verified"]["commits"], 1);
    assert!(fixture.summary().contains(
        "retry: you reported \"committed\" (you committed the change), but the branch has no new commit"
    ));
}

/// `complete` in a recipe of one's own means what the recipe says. Where its steps have no word for "nothing to
/// change", an agent that changed nothing is not run again.
#[test]
fn a_step_that_need_not_change_anything_starts_its_agent_once() {
    let scene = json!({ "step": "look", "steps": [{ "say": "All is well." }, outcome("complete")] });
    let mut fixture = RecipeFixture::scripted(&script(&[scene]));
    fixture.recipe(
        "look.yml",
        "id: look\nlabel: Look\ndescription: Looks around\ninitial_step: look\nsteps:\n  look:\n    \
         prompt: Look around.\n    outcomes: [complete, other]\n    on_outcome:\n      \
         complete: { exit: looked }\n      other: { exit: user-provided-other }\n",
    );
    let task = fixture.start("look");
    fixture.up();
    assert_eq!(fixture.exit_message()["reason"], "looked");
    fixture.wait_for_queue(&task, "done");
    insta::assert_snapshot!(fixture.summary(), @"
    started look
      look (1)
    exited looked [completed]: Completed: looked
    ");
    assert_eq!(fixture.prompts(&task).len(), 1, "one start of the agent");
}
