//! Tasks that were too large: found, sent to a breakdown with all the context, replaced by a plan.

use serde_json::{Value, json};

use super::shop::Shop;

/// Uses turns by the title of the task; the parts of a plan do their work.
const AGENT: &str = r##"case "$prompt" in
*"# One commit at 50"*) work; test "$BATON_ATTEMPT_NUMBER" != 1 || turns 50 ;;
*"# 39 turns"*) turns 39; echo Tried. ;;
*"# 40 turns"*) turns 40; echo Tried. ;;
*"# Too large"* | *"# Still too large"*) turns 50; echo Tried. ;;
*"# Comes to nothing"*) turns 3; echo Tried. ;;
*) turns 2; work ;;
esac"##;

fn mark(shop: &Shop, task: &str) -> String {
    shop.show(task)["state"]["mark"]["mark"].as_str().unwrap_or_default().to_owned()
}

/// The breakdown that works out what replaces a recycled task.
fn breakdown_of(shop: &Shop, task: &str) -> String {
    assert_eq!(shop.queue(task), "recycled");
    let breakdowns = shop.json(&["breakdown", "list"])["breakdowns"].take();
    let [only] = breakdowns.as_array().unwrap().as_slice() else { panic!("{breakdowns:#}") };
    only["task_id"].as_str().unwrap().to_owned()
}

/// Hands in a plan and approves it; returns the parts.
fn plan(shop: &Shop, breakdown: &str, items: &Value) -> Vec<String> {
    let file = shop.home.join("plan.json");
    std::fs::write(&file, json!({ "items": items }).to_string()).unwrap();
    shop.says(&["breakdown", "edit", breakdown, file.to_str().unwrap()]);
    let parts = shop.json(&["breakdown", "approve", breakdown])["subtasks"].take();
    parts.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn depends_on(shop: &Shop, task: &str) -> Vec<String> {
    let waits = shop.show(task)["depends_on"].take();
    let mut waits: Vec<String> =
        waits.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    waits.sort();
    waits
}

#[test]
fn burned_out_is_0_commits_and_40_of_50_turns_not_39_and_not_with_a_commit_at_50() {
    let shop = Shop::with_agent(AGENT, "recycle = \"manual\"");
    let [less, enough, commit] =
        ["39 turns", "40 turns", "One commit at 50"].map(|title| shop.add(title, &[]));
    shop.work_until(&[(&less, "provisional"), (&enough, "provisional"), (&commit, "provisional")]);
    // At 39 it is tried again, and only the third time it is not converging.
    assert_eq!((mark(&shop, &less).as_str(), shop.attempts(&less).len()), ("not_converging", 3));
    assert_eq!((mark(&shop, &enough).as_str(), shop.attempts(&enough).len()), ("burned_out", 1));
    assert_eq!((mark(&shop, &commit).as_str(), shop.attempts(&commit).len()), ("ready", 2));
}

#[test]
fn the_recycler_finds_it_by_itself_and_a_task_without_a_project_gets_its_context_too() {
    let shop = Shop::with_agent(
        "printf %s \"$prompt\" > \"$(dirname \"$0\")/prompt-$BATON_TASK_ID\"
        case \"$prompt\" in
        *'# Re-Breakdown'*) echo '{\"baton\":\"plan\",\"items\":[{\"title\":\"Only part\"}]}' ;;
        *) turns 50 ;;
        esac",
        "",
    );
    let arguments = ["task", "add", "Rewrite everything", "--description", "All of it, in one go."];
    let task = shop.json(&arguments)["task_id"].as_str().unwrap().to_owned();
    let up = shop.up();
    shop.until_queue(&task, "recycled");
    let breakdown = breakdown_of(&shop, &task);
    assert_eq!(shop.queue(&breakdown), "breakdown", "a human starts it");
    shop.says(&["breakdown", "run", &breakdown]);
    shop.until_queue(&breakdown, "provisional");
    up.end();
    let prompt = shop.prompt(&breakdown);
    for part in
        ["Rewrite everything", "All of it, in one go.", "# Re-Breakdown", "50 turns used, of 50", &task]
    {
        assert!(prompt.contains(part), "\"{part}\" is missing from:\n{prompt}");
    }
    assert!(shop.says(&["breakdown", "show", &breakdown]).contains("Only part"));
}

#[test]
fn dependents_are_rewired_to_the_last_part_of_a_chain_and_wait_for_it() {
    let shop = Shop::with_agent(AGENT, "");
    let big = shop.add("Too large", &[]);
    let after = shop.add("After it", &[&big]);
    shop.work_until(&[(&big, "recycled")]);
    assert_eq!(depends_on(&shop, &after), std::slice::from_ref(&big));
    let parts = plan(
        &shop,
        &breakdown_of(&shop, &big),
        &json!([
            { "title": "First half" }, { "title": "Second half", "depends_on": [1] },
        ]),
    );
    assert_eq!(depends_on(&shop, &after), parts[1..]);
    let up = shop.up();
    for part in &parts {
        shop.until_queue(part, "provisional");
        assert_eq!(shop.queue(&after), "incoming", "I13: not before every part is done");
        shop.says(&["accept", part]);
    }
    shop.until_queue(&after, "provisional");
    up.end();
}

#[test]
fn dependents_are_rewired_to_every_leaf_of_a_plan() {
    let shop = Shop::with_agent(AGENT, "");
    let big = shop.add("Too large", &[]);
    let after = shop.add("After it", &[&big]);
    shop.work_until(&[(&big, "recycled")]);
    let parts = plan(
        &shop,
        &breakdown_of(&shop, &big),
        &json!([
            { "title": "Ground" }, { "title": "Left", "depends_on": [1] }, { "title": "Right", "depends_on": [1] },
        ]),
    );
    let mut leaves = parts[1..].to_vec();
    leaves.sort();
    assert_eq!(depends_on(&shop, &after), leaves);
    let up = shop.up();
    shop.until_queue(&parts[0], "provisional");
    shop.says(&["accept", &parts[0]]);
    shop.until_queue(&parts[1], "provisional");
    shop.until_queue(&parts[2], "provisional");
    shop.says(&["accept", &parts[1]]);
    assert_eq!((shop.queue(&after), shop.attempts(&after).len()), ("incoming".to_owned(), 0), "I13");
    shop.says(&["accept", &parts[2]]);
    shop.until_queue(&after, "provisional");
    up.end();
}

#[test]
fn a_part_that_burns_out_is_escalated_and_never_accepted() {
    let shop = Shop::with_agent(AGENT, "");
    let big = shop.add("Too large", &[]);
    shop.work_until(&[(&big, "recycled")]);
    let parts = plan(&shop, &breakdown_of(&shop, &big), &json!([{ "title": "Still too large" }]));
    shop.work_until(&[(&parts[0], "escalated")]);
    assert_eq!(shop.json(&["breakdown", "list"])["breakdowns"], json!([]), "I14: no second breakdown");
    let question = shop.json(&["questions"])["questions"][0].clone();
    assert_eq!(question["options"], json!(["SPLIT", "RETRY", "CANCEL"]), "{question}");
    for arguments in [&["accept", parts[0].as_str()][..], &["accept", &parts[0], "--force"]] {
        assert_eq!(shop.output(arguments).status.code(), Some(4), "{arguments:?}");
    }
    shop.says(&["accept", "--all", "--force"]);
    assert_eq!(shop.queue(&parts[0]), "escalated");
}

#[test]
fn three_attempts_without_acceptance_are_recycled_too() {
    let shop = Shop::with_agent(AGENT, "");
    let nothing = shop.add("Comes to nothing", &[]);
    let rejected = shop.add("Good work", &[]);
    let up = shop.up();
    for round in 1..=3 {
        shop.until_queue(&rejected, "provisional");
        assert_eq!(shop.attempts(&rejected).len(), round);
        shop.says(&["reject", &rejected, "--reason", "Not good enough."]);
    }
    shop.until_queue(&nothing, "recycled");
    shop.until_queue(&rejected, "recycled");
    up.end();
    assert_eq!(shop.attempts(&nothing).len(), 3);
}
