//! Tasks that are too large are recycled into a breakdown and replaced by its plan.

use serde_json::{Value, json};

use super::test_repo::TestRepo;

/// Uses turns as the title says; the parts of a plan commit work.
const AGENT: &str = r##"case "$prompt" in
*"# One commit at 50"*) work; test "$BATON_ATTEMPT_NUMBER" != 1 || turns 50 ;;
*"# 39 turns"*) turns 39; echo Tried. ;;
*"# 40 turns"*) turns 40; echo Tried. ;;
*"# Too large"* | *"# Still too large"*) turns 50; echo Tried. ;;
*"# Never finished"*) turns 3; echo Tried. ;;
*) turns 2; work ;;
esac"##;

/// Breakdowns wait for a person.
const PLAN_BY_PERSON: &str = "recycle = { plan = \"person\" }";

fn mark(repo: &TestRepo, task: &str) -> String {
    repo.show(task)["state"]["mark"]["mark"].as_str().unwrap_or_default().to_owned()
}

/// The breakdown of a recycled task.
fn breakdown_of(repo: &TestRepo, task: &str) -> String {
    assert_eq!(repo.queue(task), "recycled");
    let breakdowns = repo.json(&["breakdown", "list"])["breakdowns"].take();
    let [only] = breakdowns.as_array().unwrap().as_slice() else { panic!("{breakdowns:#}") };
    only["task_id"].as_str().unwrap().to_owned()
}

/// Submits a plan and approves it; returns the subtasks.
fn plan(repo: &TestRepo, breakdown: &str, items: &Value) -> Vec<String> {
    let file = repo.home.join("plan.json");
    std::fs::write(&file, json!({ "items": items }).to_string()).unwrap();
    repo.stdout(&["breakdown", "edit", breakdown, file.to_str().unwrap()]);
    let parts = repo.json(&["breakdown", "approve", breakdown])["subtasks"].take();
    parts.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn depends_on(repo: &TestRepo, task: &str) -> Vec<String> {
    let waits = repo.show(task)["depends_on"].take();
    let mut waits: Vec<String> =
        waits.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    waits.sort();
    waits
}

#[test]
fn burned_out_means_40_of_50_turns_without_a_commit() {
    let repo = TestRepo::with_agent(AGENT, "recycle = \"manual\"");
    let [less, enough, commit] =
        ["39 turns", "40 turns", "One commit at 50"].map(|title| repo.add(title, &[]));
    let up = repo.up();
    repo.until_queue(&enough, "provisional");
    repo.until_queue(&commit, "provisional");
    // With 39 turns it is not burned out: a person says whether what it wrote is enough.
    repo.until("a question", || repo.status(&less) == "AWAITING_RESPONSE");
    up.end();
    assert_eq!(repo.attempts(&less).len(), 1);
    assert_eq!((mark(&repo, &enough).as_str(), repo.attempts(&enough).len()), ("burned_out", 1));
    assert_eq!((mark(&repo, &commit).as_str(), repo.attempts(&commit).len()), ("ready", 2));
}

#[test]
fn a_burned_out_task_is_recycled_and_its_breakdown_gets_the_context() {
    let repo = TestRepo::with_agent(
        "printf %s \"$prompt\" > \"$(dirname \"$0\")/prompt-$BATON_TASK_ID\"
        case \"$prompt\" in
        *'# Re-Breakdown'*) echo '{\"baton\":\"plan\",\"items\":[{\"title\":\"Only part\"}]}' ;;
        *) turns 50 ;;
        esac",
        &format!("fence = \"off\"\n{PLAN_BY_PERSON}"),
    );
    let arguments = ["task", "add", "Rewrite everything", "--description", "All of it, in one go."];
    let task = repo.json(&arguments)["task_id"].as_str().unwrap().to_owned();
    let up = repo.up();
    repo.until_queue(&task, "recycled");
    let breakdown = breakdown_of(&repo, &task);
    assert_eq!(repo.queue(&breakdown), "breakdown", "a person starts it");
    repo.stdout(&["breakdown", "run", &breakdown]);
    repo.until_queue(&breakdown, "provisional");
    up.end();
    let prompt = repo.prompt(&breakdown);
    for part in
        ["Rewrite everything", "All of it, in one go.", "# Re-Breakdown", "50 turns used, of 50", &task]
    {
        assert!(prompt.contains(part), "\"{part}\" is missing from:\n{prompt}");
    }
    assert!(repo.stdout(&["breakdown", "show", &breakdown]).contains("Only part"));
}

#[test]
fn dependents_are_rewired_to_the_last_part_of_a_chain_and_wait_for_it() {
    let repo = TestRepo::with_agent(AGENT, PLAN_BY_PERSON);
    let big = repo.add("Too large", &[]);
    let after = repo.add("After it", &[&big]);
    repo.work_until(&[(&big, "recycled")]);
    assert_eq!(depends_on(&repo, &after), std::slice::from_ref(&big));
    let parts = plan(
        &repo,
        &breakdown_of(&repo, &big),
        &json!([
            { "title": "First half" }, { "title": "Second half", "depends_on": [1] },
        ]),
    );
    assert_eq!(depends_on(&repo, &after), parts[1..]);
    let up = repo.up();
    for part in &parts {
        repo.until_queue(part, "provisional");
        assert_eq!(repo.queue(&after), "incoming", "I13: not before every part is done");
        repo.stdout(&["accept", part]);
    }
    repo.until_queue(&after, "provisional");
    up.end();
}

#[test]
fn dependents_are_rewired_to_every_leaf_of_a_plan() {
    let repo = TestRepo::with_agent(AGENT, PLAN_BY_PERSON);
    let big = repo.add("Too large", &[]);
    let after = repo.add("After it", &[&big]);
    repo.work_until(&[(&big, "recycled")]);
    let parts = plan(
        &repo,
        &breakdown_of(&repo, &big),
        &json!([
            { "title": "Ground" }, { "title": "Left", "depends_on": [1] }, { "title": "Right", "depends_on": [1] },
        ]),
    );
    let mut leaves = parts[1..].to_vec();
    leaves.sort();
    assert_eq!(depends_on(&repo, &after), leaves);
    let up = repo.up();
    repo.until_queue(&parts[0], "provisional");
    repo.stdout(&["accept", &parts[0]]);
    repo.until_queue(&parts[1], "provisional");
    repo.until_queue(&parts[2], "provisional");
    repo.stdout(&["accept", &parts[1]]);
    assert_eq!((repo.queue(&after), repo.attempts(&after).len()), ("incoming".to_owned(), 0), "I13");
    repo.stdout(&["accept", &parts[2]]);
    repo.until_queue(&after, "provisional");
    up.end();
}

#[test]
fn i13_a_dependent_waits_for_every_part_after_a_dependency_between_them_is_removed() {
    let repo = TestRepo::with_agent(AGENT, PLAN_BY_PERSON);
    let big = repo.add("Too large", &[]);
    let after = repo.add("After it", &[&big]);
    repo.work_until(&[(&big, "recycled")]);
    let items = json!([{ "title": "Ground" }, { "title": "Left" }, { "title": "Right", "depends_on": [1] }]);
    let parts = plan(&repo, &breakdown_of(&repo, &big), &items);
    let said = repo.stdout(&["task", "edit", &parts[2], "--not-after", &parts[0]]);
    assert!(said.contains(&format!("{after} now waits on {}", parts[0])), "{said}");
    let mut all = parts.clone();
    all.sort();
    assert_eq!(depends_on(&repo, &after), all);
    assert_eq!(depends_on(&repo, &parts[2]), Vec::<String>::new());
    let up = repo.up();
    for part in [&parts[1], &parts[2], &parts[0]] {
        repo.until_queue(part, "provisional");
        assert_eq!((repo.queue(&after), repo.attempts(&after).len()), ("incoming".to_owned(), 0), "I13");
        repo.stdout(&["accept", part]);
    }
    repo.until_queue(&after, "provisional");
    up.end();
}

#[test]
fn a_part_that_burns_out_is_escalated_and_never_accepted() {
    let repo = TestRepo::with_agent(AGENT, PLAN_BY_PERSON);
    let big = repo.add("Too large", &[]);
    repo.work_until(&[(&big, "recycled")]);
    let parts = plan(&repo, &breakdown_of(&repo, &big), &json!([{ "title": "Still too large" }]));
    repo.work_until(&[(&parts[0], "escalated")]);
    assert_eq!(repo.json(&["breakdown", "list"])["breakdowns"], json!([]), "I14: no second breakdown");
    let question = repo.json(&["questions"])["questions"][0].clone();
    assert_eq!(question["options"], json!(["SPLIT", "RETRY", "CANCEL"]), "{question}");
    for arguments in [&["accept", parts[0].as_str()][..], &["accept", &parts[0], "--force"]] {
        assert_eq!(repo.output(arguments).status.code(), Some(4), "{arguments:?}");
    }
    repo.stdout(&["accept", "--all", "--force"]);
    assert_eq!(repo.queue(&parts[0]), "escalated");
}

#[test]
fn i22_an_escalation_that_is_put_off_holds_the_task() {
    let repo = TestRepo::with_agent(AGENT, PLAN_BY_PERSON);
    let big = repo.add("Too large", &[]);
    repo.work_until(&[(&big, "recycled")]);
    let items = json!([{ "title": "Still too large" }, { "title": "Still too large too" }]);
    let parts = plan(&repo, &breakdown_of(&repo, &big), &items);
    repo.work_until(&[(&parts[0], "escalated"), (&parts[1], "escalated")]);
    for (part, answer) in [(&parts[0], "not now"), (&parts[1], "NO")] {
        let attempts = repo.attempts(part).len();
        repo.stdout(&["task", "reply", part, answer]);
        let held = repo.show(part);
        assert_eq!((&held["held_because"], repo.attempts(part).len()), (&json!("stopped by you"), attempts));
        let listed = repo.stdout(&["questions"]);
        assert!(listed.contains(&format!("baton task release {part}")), "{listed}");
    }
    // "Cancel" is one of the choices.
    repo.stdout(&["task", "release", &parts[1]]);
    repo.work_until(&[(&parts[1], "escalated")]);
    repo.stdout(&["task", "reply", &parts[1], "cancel it"]);
    assert_eq!(repo.queue(&parts[1]), "rejected");
}

#[test]
fn three_rejections_recycle_a_task_and_words_without_work_do_not() {
    let repo = TestRepo::with_agent(AGENT, PLAN_BY_PERSON);
    let words = repo.add("Never finished", &[]);
    let rejected = repo.add("Good work", &[]);
    let up = repo.up();
    for round in 1..=3 {
        repo.until_queue(&rejected, "provisional");
        assert_eq!(repo.attempts(&rejected).len(), round);
        repo.stdout(&["reject", &rejected, "--reason", "Not good enough."]);
    }
    repo.until_queue(&rejected, "recycled");
    repo.until("a question", || repo.status(&words) == "AWAITING_RESPONSE");
    up.end();
    assert_eq!(repo.attempts(&words).len(), 1);
}

#[test]
fn an_agent_that_ends_without_words_or_work_is_tried_three_times_and_then_a_person_is_asked() {
    let repo = TestRepo::with_agent("true", "");
    let silent = repo.add("Silent", &[]);
    let up = repo.up();
    repo.until("a question", || repo.status(&silent) == "AWAITING_RESPONSE");
    up.end();
    let task = repo.show(&silent);
    assert_eq!((repo.attempts(&silent).len(), &task["question"]["kind"]), (3, &json!("clarification")));
    let asked = task["question"]["text"].as_str().unwrap();
    assert!(
        asked.contains("ended 3 times") && !asked.contains("ENOUGH"),
        "there is no answer to judge: {asked}"
    );
    assert_eq!(repo.json(&["breakdown", "list"])["breakdowns"], json!([]), "it was not too large");
}
