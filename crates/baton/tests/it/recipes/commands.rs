//! The commands `baton recipe …`.

use serde_json::{Value, json};

use super::fixture::{RecipeFixture, good_agent, script};

fn transcript(fixture: &RecipeFixture, arguments: &[&str]) -> String {
    let output = fixture.run(arguments);
    let mut printed =
        format!("exit {}\n{}", output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap());
    if !output.stderr.is_empty() {
        printed = format!("{printed}--- stderr\n{}", String::from_utf8(output.stderr).unwrap());
    }
    printed
}

#[test]
fn recipes_are_listed_drawn_and_described() {
    let fixture = RecipeFixture::scripted(&script(&good_agent()));
    insta::assert_snapshot!(transcript(&fixture, &["recipe", "list"]), @"
    exit 0
    ID                        LABEL                    FROM      DESCRIPTION
    break-down-tasks          Break Down Tasks         built in  Turn a design document into tasks, and check the tasks against it
    document-design           Document Design          built in  Write a design document, review it, and commit it
    implement-and-review      Implement & Review       built in  Implement task, review code, fix issues, and commit
    implement-and-review-all  Implement & Review All   built in  Implement, review and commit one ready task after another, until none is left
    plan-execute-review       Plan → Execute → Review  built in  Plan the next task with you, execute it, review it, and repeat until you stop
    rebase                    Rebase                   built in  Rebase this branch onto the branch it will be merged into
    refine-design             Refine Design            built in  Review a design document and improve it until no important issue is left
    retrospective             Retrospective            built in  Review finished work and propose what to improve
    review-and-commit         Review & Commit          built in  Review the changes on this branch, fix issues, and commit
    work                      Work                     built in  Do the task in one step; Baton verifies the result
    ");
    insta::assert_snapshot!(transcript(&fixture, &["recipe", "show", "implement-and-review"]), @"
    exit 0
    implement-and-review  Implement & Review
    Implement task, review code, fix issues, and commit

    At most 3 visits per step and 100 steps in total.
    Works on the next ready task.

    implement (first)
      complete → code-review
      no-tasks → exit no-tasks-available: No tasks available to implement
      blocked  → exit implementation-blocked: Implementation blocked - cannot proceed
      other    → exit user-provided-other: Recipe exited by user choice

    code-review (fresh agent session, role review)
      no-issues    → commit
      issues-found → fix
      other        → exit user-provided-other: Recipe exited by user choice

    fix
      complete → code-review
      other    → exit user-provided-other: Recipe exited by user choice

    commit
      committed         → exit task-committed: Task implementation committed successfully
      nothing-to-commit → exit no-changes-to-commit: No changes to commit
      other             → exit user-provided-other: Recipe exited by user choice
    ");
    insta::assert_snapshot!(transcript(&fixture, &["recipe", "show", "plan-execute-review", "--mermaid"]), @r#"
    exit 0
    stateDiagram-v2
        [*] --> plan
        state "plan" as plan
        state "execute" as execute
        state "review" as review
        plan --> execute: planned (gate)
        plan --> [*]: no-tasks / no-tasks-available
        execute --> review: executed (gate)
        review --> plan: continue (gate)
        review --> [*]: stop (gate) / loop-complete
    "#);
    insta::assert_snapshot!(transcript(&fixture, &["recipe", "show", "implement-and-revue"]), @"
    exit 2
    --- stderr
    error: there is no recipe implement-and-revue (did you mean implement-and-review?)

    Hint: list the recipes: baton recipe list
    More: baton explain not_found
    ");
    let schema = fixture.json(&["recipe", "schema"]);
    assert_eq!(schema["required"], json!(["id", "label", "description", "initial_step", "steps"]));
    let task = fixture.json(&["task", "add", "Fix it", "--recipe", "rebase"]);
    assert!(fixture.run(&["task", "add", "Fix it", "--recipe", "rebas"]).status.code() == Some(2), "{task}");
}

#[test]
fn recipe_check_lists_every_error_with_its_position() {
    let fixture = RecipeFixture::scripted(&script(&good_agent()));
    insta::assert_snapshot!(transcript(&fixture, &["recipe", "check"]), @"
    exit 0
    0 recipes, no errors.
    ");
    fixture.recipe(
        "broken.yml",
        "id: Broken\nlabel: ''\ninitial_step: strat\ncolour: red\nguardrails: { max_step_visits: 0 }\nsteps:\n  start:\n    \
         prompt: Go.\n    outcomes: [done, done, other]\n    on_outcome:\n      done: { next_step: finnish }\n      \
         never: { exit: x }\n    gate: { question: Sure?, yes: dnoe }\n  finish:\n    prompt: [1]\n    outcomes: []\n    \
         on_outcome: { a: { next_step: start, exit: y } }\n    fresh: yes\n  start:\n    prompt: Again.\n",
    );
    fixture.recipe("worse.yml", "id: worse\nsteps: [\n");
    insta::assert_snapshot!(transcript(&fixture, &["recipe", "check"]), @r#"
    exit 1
    .agent/recipes/broken.yml:1:1: id: "Broken" cannot be a recipe's id: use lower-case letters, digits, - and _, a letter or digit first, at most 64 in all
    .agent/recipes/broken.yml:1:1: description: it is missing; write a text
    .agent/recipes/broken.yml:2:1: label: the text is blank; write at least one visible character
    .agent/recipes/broken.yml:3:1: initial_step: there is no step "strat" (did you mean start?)
    .agent/recipes/broken.yml:4:1: colour: "colour" is not a key here; the keys are id, label, description, initial_step, takes_task, steps, guardrails
    .agent/recipes/broken.yml:5:15: guardrails.max_step_visits: it is 0; write a whole number from 1 to 10000
    .agent/recipes/broken.yml:9:5: step start, outcomes: it is missing; write a list of outcomes
    .agent/recipes/broken.yml:9:22: step start, outcomes.1: the outcome "done" is listed twice
    .agent/recipes/broken.yml:10:5: step start, on_outcome: the outcome "other" has no transition; say where it leads
    .agent/recipes/broken.yml:10:5: step start, on_outcome: it is missing; write a mapping from outcomes to transitions
    .agent/recipes/broken.yml:11:15: step start, on_outcome.done.next_step: there is no step "finnish" (did you mean finish?)
    .agent/recipes/broken.yml:12:7: step start, on_outcome.never: "never" is not among the step's outcomes; list it or drop this
    .agent/recipes/broken.yml:13:30: step start, gate.yes: "dnoe" is not one of the step's outcomes (did you mean done?)
    .agent/recipes/broken.yml:15:5: step finish, prompt: it must be a text, and is a list
    .agent/recipes/broken.yml:16:5: step finish, outcomes: there is no outcome; write at least one
    .agent/recipes/broken.yml:17:19: step finish, on_outcome.a: it leads two ways; keep one of next_step, exit or restart_new_session: true
    .agent/recipes/broken.yml:18:5: step finish, fresh: it must be true or false, and is a text
    .agent/recipes/broken.yml:19:3: step start: the step is written twice
    .agent/recipes/worse.yml:3:1: while parsing a node, did not find expected node content
    --- stderr
    error: 19 errors in 2 files

    Hint: fix them; until then the previous version, or the built-in one, is used
    "#);
    let json = fixture.run(&["--json", "recipe", "check"]);
    let value: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((json.status.code(), value["files"].as_array().unwrap().len()), (Some(1), 2));
}

#[test]
fn recipe_check_finds_the_position_in_every_kind_of_file() {
    let fixture = RecipeFixture::scripted(&script(&good_agent()));
    fixture.recipe("alias.yml", "id: &a x\nlabel: *b\n");
    fixture.recipe("empty.yml", "");
    fixture.recipe("list.yml", "- a\n- b\n");
    fixture.recipe("tabs.yml", "id: tabs\nsteps:\n\tone: x\n");
    fixture.recipe("two.yml", "id: two\n---\nid: three\n");
    let recipes = fixture.folder.join(".agent/recipes");
    std::fs::write(recipes.join("latin.yml"), b"id: latin\nlabel: caf\xe9\n").unwrap();
    std::os::unix::fs::symlink("nowhere.yml", recipes.join("link.yml")).unwrap();
    // yes, no, on and off are strings; true and numbers are not.
    fixture.recipe(
        "words.yml",
        "id: words\nlabel: Words\ndescription: d\ninitial_step: one\nsteps:\n  one:\n    prompt: p\n    \
         outcomes: [yes, no, on, off, true, 3]\n    on_outcome:\n      yes: { exit: a }\n      no: { exit: b }\n      \
         on: { exit: c }\n      off: { exit: d }\n    gate: { question: q, Yes: yes, no: no }\n",
    );
    insta::assert_snapshot!(transcript(&fixture, &["recipe", "check"]), @r#"
    exit 1
    .agent/recipes/alias.yml:1:5: anchors (&name) are not supported here; write it out
    .agent/recipes/empty.yml:1:1: a recipe must be a mapping with id, label, description, initial_step and steps
    .agent/recipes/latin.yml:2:11: not UTF-8; save the file in that encoding
    .agent/recipes/link.yml:1:1: cannot read the file: No such file or directory (os error 2)
    .agent/recipes/list.yml:1:1: a recipe must be a mapping with id, label, description, initial_step and steps
    .agent/recipes/tabs.yml:3:2: tabs disallowed within this context (block indentation)
    .agent/recipes/two.yml:2:1: a second document begins here; one file holds one
    .agent/recipes/words.yml:8:34: step one, outcomes.4: it must be an outcome's name, and is a true or false
    .agent/recipes/words.yml:8:40: step one, outcomes.5: it must be an outcome's name, and is a number
    .agent/recipes/words.yml:14:5: step one, gate.yes: it is missing; write one of the step's outcomes
    .agent/recipes/words.yml:14:26: step one, gate.Yes: "Yes" is not a key here; the keys are question, yes, no (did you mean yes?)
    --- stderr
    error: 11 errors in 8 files

    Hint: fix them; until then the previous version, or the built-in one, is used
    "#);
}

#[test]
fn a_recipe_cannot_end_for_a_reason_that_only_baton_has() {
    let fixture = RecipeFixture::scripted(&script(&good_agent()));
    fixture.recipe(
        "mine.yml",
        "id: mine\nlabel: Mine\ndescription: Ends oddly.\ninitial_step: start\nsteps:\n  start:\n    prompt: Go.\n    \
         outcomes: [done]\n    on_outcome:\n      done: { exit: internal-error }\n",
    );
    let checked = fixture.run(&["recipe", "check"]);
    let printed = [checked.stdout, checked.stderr].concat();
    let printed = String::from_utf8(printed).unwrap();
    assert!(!checked.status.success() && printed.contains("internal-error"), "{printed}");
}
