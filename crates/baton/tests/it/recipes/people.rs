//! Messages to a run, exiting and starting runs, and a kill during a step.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::fixture::{RecipeFixture, good_agent, looping, outcome, script};
use crate::gate::Gate;

/// Waits at the gate in its first run, then ends as its prompt says.
fn waiting_agent(flags: &str, gate: &Gate, then: &str) -> String {
    format!(
        "prompt=$(cat)\ntouch {flags}/started\n\
         case \"$prompt\" in *'The human says'*) {then} ;; *) {wait}\n\
         echo '{{\"baton\":\"outcome\",\"outcome\":\"again\"}}' ;; esac\n",
        wait = gate.wait()
    )
}

#[test]
fn a_message_during_a_run_reaches_the_agent_before_the_next_step() {
    let mut fixture = RecipeFixture::shell("");
    let flags = fixture.folder.join("flags").display().to_string();
    let gate = Gate::closed(fixture.flag("gate"));
    let then = "echo \"I heard you.\"; echo '{\"baton\":\"outcome\",\"outcome\":\"stop\"}'";
    fs::write(fixture.folder.join("agent.sh"), waiting_agent(&flags, &gate, then)).unwrap();
    fixture.recipe("round.yml", &looping("round", "{}", "{ next_step: one }"));
    let task = fixture.start("round");
    fixture.up();
    fixture.wait("the agent works", || fixture.flag("started").exists().then_some(()));
    fixture.json(&["recipe", "say", "Use the other door."]);
    gate.open();
    fixture.wait_for_queue(&task, "done");
    // The report before the message was ignored.
    insta::assert_snapshot!(fixture.summary(), @"
    started round
      one (1)
    exited stopped [completed]: Completed: stopped
    ");
    let prompts = fixture.prompts(&task);
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].1.contains("Use the other door."), "{}", prompts[1].1);
}

#[test]
fn exit_ends_the_process_tree_and_keeps_the_work() {
    let mut fixture = RecipeFixture::shell("");
    let flags = fixture.folder.join("flags").display().to_string();
    let agent = format!(
        "cat > /dev/null\necho half > half.txt\ngit add -A\n\
         git -c user.name=a -c user.email=a@example.org commit -q -m Half\n\
         tail -f /dev/null &\necho $! > {flags}/child\necho $$ > {flags}/agent\ntouch {flags}/started\nwait\n"
    );
    fs::write(fixture.folder.join("agent.sh"), agent).unwrap();
    fixture.recipe("round.yml", &looping("round", "{}", "{ next_step: one }"));
    let task = fixture.start("round");
    fixture.up();
    fixture.wait("the agent works", || fixture.flag("started").exists().then_some(()));
    let pids =
        ["child", "agent"].map(|name| fs::read_to_string(fixture.flag(name)).unwrap().trim().to_owned());
    fixture.json(&["recipe", "exit"]);
    let exit = fixture.exit_message();
    assert_eq!(
        (exit["reason"].as_str(), exit["category"].as_str()),
        (Some("user-requested"), Some("completed"))
    );
    for pid in pids {
        // A zombie counts as ended.
        let stat = fs::read_to_string(Path::new("/proc").join(&pid).join("stat"));
        assert!(stat.is_err() || stat.unwrap().contains(") Z "), "process {pid} is still there");
    }
    // The commit is kept and can be accepted.
    assert_eq!(fixture.wait_for_queue(&task, "provisional")["verified"]["commits"], 1);
    let again = fixture.run(&["recipe", "exit"]);
    assert_eq!(again.status.code(), Some(4));
}

#[test]
fn exiting_a_run_that_has_not_begun_ends_it_at_once() {
    let fixture = RecipeFixture::scripted(&script(&good_agent()));
    let queued = fixture.json(&["task", "add", "Fix the login"])["task_id"].as_str().unwrap().to_owned();
    fixture.start("implement-and-review");
    assert_eq!(fixture.json(&["recipe", "exit"])["has_exited"], true);
    assert_eq!(fixture.task(&queued)["queue"], "incoming", "the queue's own task stays");
    let carrier = fixture.start("retrospective");
    fixture.json(&["recipe", "exit"]);
    assert_eq!(fixture.task(&carrier)["queue"], "rejected");
}

#[test]
fn a_second_start_on_a_session_is_refused_by_name() {
    let fixture = RecipeFixture::scripted(&script(&good_agent()));
    fixture.start("retrospective");
    let refused = fixture.run(&["recipe", "start", "rebase"]);
    assert_eq!(refused.status.code(), Some(4));
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("the session cli already runs retrospective"), "{error}");
    assert!(fixture.run(&["recipe", "start", "rebase", "--session", "other"]).status.success());
}

#[test]
fn kill_9_in_the_middle_of_a_step_dispatches_it_again_once() {
    let mut fixture = RecipeFixture::shell("");
    let flags = fixture.folder.join("flags").display().to_string();
    let agent = format!(
        "cat > /dev/null\nif [ \"$BATON_STEP\" = two ] && [ ! -e {flags}/hung ]; then touch {flags}/hung; tail -f /dev/null; fi\n\
         case $BATON_STEP in one) o=on ;; *) o=stop ;; esac\n\
         echo \"{{\\\"baton\\\":\\\"outcome\\\",\\\"outcome\\\":\\\"$o\\\"}}\"\n"
    );
    fs::write(fixture.folder.join("agent.sh"), agent).unwrap();
    fixture.recipe(
        "two.yml",
        "id: two\nlabel: Two\ndescription: Two steps\ninitial_step: one\nsteps:\n  one:\n    prompt: First.\n    \
         outcomes: [on]\n    on_outcome: { on: { next_step: two } }\n  two:\n    prompt: Second.\n    outcomes: [stop]\n    \
         on_outcome: { stop: { exit: stopped } }\n",
    );
    let task = fixture.start("two");
    fixture.up();
    fixture.wait("the second step hangs", || fixture.flag("hung").exists().then_some(()));
    fixture.kill();
    fixture.up();
    fixture.wait_for_queue(&task, "done");
    insta::assert_snapshot!(fixture.summary(), @"
    started two
      one (1)
      one → two
      two (2)
    exited stopped [completed]: Completed: stopped
    ");
    let names: Vec<String> = fixture.prompts(&task).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["001-one.md", "002-two.md", "001-two.md"], "the first step is not done twice");
}

#[test]
fn a_recipe_edited_while_it_runs_is_followed_as_it_was_even_after_kill_9() {
    let mut fixture = RecipeFixture::shell("");
    let flags = fixture.folder.join("flags").display().to_string();
    let agent = format!(
        "cat > /dev/null\nif [ \"$BATON_STEP\" = one ] && [ ! -e {flags}/hung ]; then touch {flags}/hung; tail -f /dev/null; fi\n\
         case $BATON_STEP in one) o=on ;; *) o=stop ;; esac\n\
         echo \"{{\\\"baton\\\":\\\"outcome\\\",\\\"outcome\\\":\\\"$o\\\"}}\"\n"
    );
    fs::write(fixture.folder.join("agent.sh"), agent).unwrap();
    let recipe = |version: &str| {
        format!(
            "id: two\nlabel: Two\ndescription: Two steps\ninitial_step: one\nsteps:\n  one:\n    prompt: First of {version}.\n    \
             outcomes: [on]\n    on_outcome: {{ on: {{ next_step: two }} }}\n  two:\n    prompt: Second of {version}.\n    \
             outcomes: [stop]\n    on_outcome: {{ stop: {{ exit: stopped }} }}\n"
        )
    };
    fixture.recipe("two.yml", &recipe("version 1"));
    let task = fixture.start("two");
    fixture.up();
    fixture.wait("the first step hangs", || fixture.flag("hung").exists().then_some(()));
    fixture.kill();
    fixture.recipe("two.yml", &recipe("version 2"));
    fixture.up();
    fixture.wait_for_queue(&task, "done");
    let prompts = fixture.prompts(&task);
    assert_eq!(prompts.len(), 3, "{prompts:?}");
    for (name, text) in prompts {
        assert!(text.contains("of version 1.") && !text.contains("version 2"), "{name}: {text}");
    }
    // The next run follows the new text.
    let next = fixture.start("two");
    fixture.wait_for_queue(&next, "done");
    assert!(fixture.prompts(&next).iter().all(|(_, text)| text.contains("of version 2.")));
}

/// A step of another role is another agent's: what it said is not told as one's own words.
#[test]
fn an_agent_is_told_who_said_what_in_an_earlier_step() {
    let mut scenes = good_agent();
    scenes.retain(|scene| scene["step"] != "code-review");
    let issues =
        json!({ "outcome": { "outcome": "issues-found", "description": "login.rs:3: it is wrong" } });
    scenes.push(json!({ "step": "code-review", "when": "more", "steps": [outcome("no-issues")] }));
    scenes.push(json!({ "step": "code-review", "steps": [{ "say": "I read it all." }, issues] }));
    scenes.push(json!({ "step": "fix", "steps": [
        { "append": { "path": "{{task}}.txt", "text": "more\n" } }, outcome("complete")] }));
    let mut fixture = RecipeFixture::scripted(&script(&scenes));
    fixture.json(&["task", "add", "Fix the login"]);
    let task = fixture.start("implement-and-review");
    fixture.up();
    fixture.exit_message();
    let prompts = fixture.prompts(&task);
    let fix = &prompts.iter().find(|(name, _)| name.ends_with("-fix.md")).unwrap().1;
    assert!(fix.contains("login.rs:3: it is wrong"), "{fix}");
    assert!(!fix.contains("You said in the step \"code-review\""), "{fix}");
}
