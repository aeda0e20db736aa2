//! What a person says to a loop beyond the offered words, and what its agents are told.

use serde_json::{Value, json};

use super::fixture::{LoopFixture, ONE_ROUND, rubric, script, stderr};

/// The usual script, with scenes before it.
fn with_scenes(scenes: &[Value]) -> LoopFixture {
    let mut all = script();
    let usual = all["scripts"].as_array().unwrap().clone();
    all["scripts"] = scenes.iter().cloned().chain(usual).collect();
    LoopFixture::with(&all, "")
}

fn ends(status: &str, output: &str) -> Value {
    json!({ "result": { "status": status, "output": output } })
}

fn planned(titles: &[&str]) -> Value {
    let items: Vec<Value> = titles.iter().map(|title| json!({ "title": title })).collect();
    json!([{ "say": rubric("clear") }, { "plan": items }, ends("COMPLETE", "Planned.")])
}

#[test]
fn no_with_a_reason_plans_again_without_another_question() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let printed = stderr(&fixture.run_with_answers(&[], &["NO: Make it three parts."]));
    assert!(!printed.contains("What should be different"), "{printed}");
    assert_eq!(printed.matches("Ready to execute? [YES/NO]").count(), 2, "{printed}");
    assert!(printed.contains("Write the first file."), "the gate shows what the agents will do: {printed}");
    let again = fixture.prompts("Plan:").pop().unwrap();
    // The remark is about a plan, which the next planner has not seen.
    for told in ["Make it three parts.", "wants to be different", "1. First part", "Write the second file."] {
        assert!(again.contains(told), "{told}: {again}");
    }
}

#[test]
fn i22_no_and_not_now_start_no_planner() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    // NO to the plan, and NO to what should be different: the same plan is asked about again.
    let printed = stderr(&fixture.run_with_answers(&[], &["NO", "NO", "NO: not now"]));
    assert_eq!(printed.matches("Ready to execute? [YES/NO]").count(), 2, "{printed}");
    assert_eq!(printed.matches("What should be different").count(), 1, "{printed}");
    assert_eq!(fixture.prompts("Plan:").len(), 1, "{printed}");
    let run = &fixture.repo.json(&["recipe", "runs"])["runs"][0];
    assert_eq!(run["reason"], "user-requested", "not now ends the loop: {run}");
}

#[test]
fn i22_no_to_the_question_what_is_missing_starts_no_planner() {
    let vague = json!({ "when": "Plan:", "steps": [
        { "say": rubric("missing") }, { "plan": [{ "title": "Something" }] }, ends("COMPLETE", "Planned.") ] });
    let fixture = with_scenes(&[vague]);
    fixture.add("Build it");
    let asked = stderr(&fixture.run_with_answers(&[], &[]));
    assert!(asked.contains("SKIP takes the plan as it is; STOP ends the loop"), "{asked}");
    let question = fixture.repo.json(&["questions"])["questions"][0]["id"].as_str().unwrap().to_owned();
    for no in ["no", "nothing", "nichts", "NO thanks"] {
        let refused = fixture.repo.output(&["answer", &question, no]);
        assert_eq!(refused.status.code(), Some(2), "{no}: {refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("SKIP, STOP"), "{refused:?}");
    }
    assert_eq!(fixture.prompts("Plan:").len(), 1);
    fixture.repo.json(&["answer", &question, "No, not now"]);
    let run = &fixture.repo.json(&["recipe", "runs"])["runs"][0];
    assert_eq!(run["reason"], "user-requested", "{run}");
}

#[test]
fn a_subtask_is_done_again_with_a_remark() {
    let again = json!({ "when": "Use tabs.", "steps": [
        { "write": { "path": "tabs.txt", "text": "\t\n" } }, { "commit": "Use tabs" }, ends("COMPLETE", "Tabs.") ] });
    let fixture = with_scenes(&[again]);
    fixture.add("Build it");
    let printed = stderr(&fixture.run_with_answers(&[], &["YES", "YES", "NO: Use tabs.", "YES", "NO"]));
    assert_eq!(printed.matches("Done: First part? [YES/NO/FAILED]").count(), 2, "{printed}");
    let prompts = fixture.prompts("First part");
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].contains("Use tabs."), "{}", prompts[1]);
    // The first agent knew the goal, the other subtasks and the decision.
    for told in ["The goal it is a part of: TASK-", "Build it", "Second part", "The human's decision: YES"] {
        assert!(prompts[0].contains(told), "{told}: {}", prompts[0]);
    }
    assert_eq!(fixture.task_titled("First part")["queue"], "done");
}

#[test]
fn a_review_is_sent_back_with_what_it_missed() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.extend(["AGAIN: What about the docs?", "NO", "DONE"]);
    let output = fixture.run_with_answers(&[], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let prompts = fixture.prompts("Review:");
    assert_eq!(prompts.len(), 2);
    for told in ["What about the docs?", "Two parts, one pattern."] {
        assert!(prompts[1].contains(told), "{}", prompts[1]);
    }
}

#[test]
fn a_subtask_that_crashed_cannot_be_called_done() {
    let crashes = json!({ "when": "# First part", "steps": [ends("ERROR", "It broke.")] });
    let fixture = with_scenes(&[crashes]);
    fixture.add("Build it");
    let printed = stderr(&fixture.run_with_answers(&[], &["YES", "YES", "YES", "FAILED", "NO", "NO"]));
    assert!(printed.contains("has nothing to merge: it is in failed"), "{printed}");
    assert!(printed.contains("First part: failed") && printed.contains("Second part: skipped"), "{printed}");
    // NO at the gate asks about the failed one again.
    assert_eq!(printed.matches("Execute: First part? [YES/NO/HELP]").count(), 2, "{printed}");
    assert!(!printed.contains("YES merges its work"), "there is none: {printed}");
}

#[test]
fn a_failure_that_is_not_tried_again_stays_one() {
    let crashes = json!({ "when": "# First part", "steps": [ends("ERROR", "It broke.")] });
    let fixture = with_scenes(&[crashes]);
    fixture.add("Build it");
    let answers = ["YES", "YES", "FAILED", "NO", "NO", "NO", "NO"];
    let printed = stderr(&fixture.run_with_answers(&[], &answers));
    assert_eq!(printed.matches("First part: failed").count(), 2, "at both gates: {printed}");
    assert_eq!(printed.matches("First part: skipped").count(), 0, "{printed}");
}

#[test]
fn done_ends_the_loop_wherever_it_is() {
    for (answers, phase) in [(vec!["DONE"], "plan"), (vec!["YES", "break loop"], "execute")] {
        let fixture = LoopFixture::new();
        fixture.add("Build it");
        let output = fixture.run_with_answers(&[], &answers);
        assert_eq!(output.status.code(), Some(0), "{phase}: {}", stderr(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("The loop is back in the hub."));
        let run = &fixture.repo.json(&["recipe", "runs"])["runs"][0];
        assert_eq!((&run["reason"], &run["current_step"]), (&json!("user-requested"), &json!(phase)));
        assert_eq!(fixture.questions(), Vec::<Value>::new());
    }
}

#[test]
fn a_planner_is_told_what_was_wrong_with_the_last_plan() {
    let fixed = json!({ "when": "The last plan could not be used", "steps": planned(&["Only part"]) });
    let wrong = json!({ "when": "# Plan:", "steps": [
        { "plan": [{ "title": "Only part" }] }, ends("COMPLETE", "Planned.") ] });
    let fixture = with_scenes(&[fixed, wrong]);
    fixture.add("Build it");
    let printed = stderr(&fixture.run_with_answers(&[], &[]));
    assert!(printed.contains("Ready to execute? [YES/NO]"), "{printed}");
    let told = &fixture.prompts("Plan:")[1];
    assert!(told.contains("\"baton\":\"vagueness\"") && told.contains("was missing"), "{told}");
}

#[test]
fn an_answer_to_a_planner_survives_the_next_plan() {
    let knows = json!({ "when": "do not ask them again", "steps": planned(&["Paint it"]) });
    let fixture = with_scenes(&[knows]);
    fixture.add("Ask first");
    let printed = stderr(&fixture.run_with_answers(&[], &["blue", "NO: One more part."]));
    assert_eq!(printed.matches("Which secret colour?").count(), 1, "{printed}");
    let last = fixture.prompts("Plan:").pop().unwrap();
    assert!(last.contains("Which secret colour?") && last.contains("→ blue"), "{last}");
}

#[test]
fn a_review_that_fails_is_for_the_human_to_decide() {
    let fails = json!({ "when": "# Review:", "steps": [ends("ERROR", "The disk is on fire.")] });
    let fixture = with_scenes(&[fails]);
    fixture.add("Build it");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.extend(["NO", "NO"]);
    let output = fixture.run_with_answers(&[], &answers);
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(
        printed.contains("Review again? [YES/NO]") && printed.contains("The disk is on fire."),
        "{printed}"
    );
    assert!(
        printed.contains("No review was made:") && printed.contains("Continue loop? [YES/NO]"),
        "{printed}"
    );
}

#[test]
fn a_long_or_faulty_list_of_discovered_tasks_is_not_lost() {
    let mut tasks: Vec<Value> = (1..=52).map(|number| json!({ "title": format!("Idea {number}") })).collect();
    tasks.insert(0, json!({ "title": "  " }));
    let found = json!({ "baton": "discovered", "tasks": tasks }).to_string();
    let review = json!({ "when": "# Review:", "steps": [{ "say": found }, ends("COMPLETE", "Many ideas.")] });
    let fixture = with_scenes(&[review]);
    fixture.add("Build it");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.extend(["EDIT", ":", "Idea 1: the best; Idea 2", "YES", "NO"]);
    let output = fixture.run_with_answers(&[], &answers);
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("New: 50.") && printed.contains("Idea 51; Idea 52"), "{printed}");
    assert!(printed.contains("that is no list of tasks"), "{printed}");
    assert_eq!(fixture.task_titled("Idea 1")["queue"], "incoming");
    fixture.task_titled("Idea 2");
}

#[test]
fn no_after_everything_is_executed_asks_for_more_work() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let printed =
        stderr(&fixture.run_with_answers(&[], &[&ONE_ROUND[..5], &["NO", "Write a third file"]].concat()));
    assert!(printed.contains("What else should be executed?"), "{printed}");
    assert!(printed.contains("Execute: Write a third file? [YES/NO/HELP]"), "{printed}");
}

#[test]
fn a_loop_can_be_given_its_goal() {
    let fixture = LoopFixture::new();
    let printed = stderr(&fixture.run_with_answers(&["Build a bridge"], &[]));
    assert!(printed.contains("Build a bridge has 2 subtasks"), "{printed}");
    let refused = fixture.run_with_answers(&["Another one"], &[]);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    let wrong = fixture.run_with_answers(&["A goal", "--from", "review", "--session", "other"], &[]);
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
}

#[test]
fn the_environment_names_the_phase() {
    let mut all = script();
    let usual = all["scripts"].as_array().unwrap().clone();
    all["scripts"] = json!([
        { "step": "plan", "steps": usual[2]["steps"] },
        { "step": "execute", "steps": all["otherwise"] },
        { "step": "review", "steps": usual[3]["steps"] },
    ]);
    all["otherwise"] = json!([ends("ERROR", "The phase is unknown.")]);
    let fixture = LoopFixture::with(&all, "");
    fixture.add("Build it");
    let output = fixture.run_with_answers(&[], &[&ONE_ROUND[..6], &["NO", "NO"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// A review that names no task says so at the gate; one whose tasks the human declined does not.
#[test]
fn a_review_without_tasks_asks_whether_the_work_is_done() {
    let clean = json!({ "when": "# Review:", "steps": [ends("COMPLETE", "All is well.")] });
    let fixture = with_scenes(&[clean]);
    fixture.add("Build it");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.push("NO");
    let output = fixture.run_with_answers(&[], &answers);
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    for said in ["No issues found: the review of iteration 1 names no task.", "NO marks the work done"] {
        assert!(printed.contains(said), "{said}: {printed}");
    }

    let declined = LoopFixture::new();
    declined.add("Build it");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.extend(["NO", "NO"]);
    let printed = stderr(&declined.run_with_answers(&[], &answers));
    assert!(printed.contains("Continue loop?") && !printed.contains("No issues found"), "{printed}");
}
