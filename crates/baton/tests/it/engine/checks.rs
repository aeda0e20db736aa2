//! Checks of finished work are evidence; a failing one sends the task back.

use serde_json::json;

use super::test_repo::{TestRepo, processes};

#[test]
fn a_failing_check_sends_the_task_back_with_the_output_as_the_reason() {
    let script = json!({ "scripts": [
        { "when": "The sum is wrong", "steps": [
            { "write": { "path": "sum.txt", "text": "4\n" } }, { "commit": "Fix the sum" } ] },
    ], "otherwise": [
        { "write": { "path": "sum.txt", "text": "5\n" } }, { "commit": "Add the sum" },
    ]});
    let check =
        "if test -e sum.txt && ! grep -qx 4 sum.txt; then echo The sum is wrong: $(cat sum.txt); exit 3; fi";
    let repo = TestRepo::scripted(&script, &format!("[checks]\nsum = [\"sh\", \"-c\", \"{check}\"]"));
    let task = repo.add("Add two and two", &[]);
    repo.work_until(&[(&task, "provisional")]);

    let attempts = repo.attempts(&task);
    assert_eq!(attempts.len(), 2, "{attempts:#?}");
    let first = &attempts[0]["closing"]["end"]["verified"]["checks"][0];
    assert_eq!((&first["name"], &first["exit_code"]), (&json!("sum"), &json!(3)));
    assert_eq!(first["output_tail"], "The sum is wrong: 5\n");
    let view = repo.show(&task);
    assert_eq!(view["verified"]["checks"][0]["exit_code"], 0);
    assert!(view["notes"].to_string().contains("The sum is wrong: 5"), "{}", view["notes"]);
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.git(&["show", "baton/next:sum.txt"]), "4");
}

#[test]
fn a_check_sees_no_secrets_and_leaves_no_process() {
    // The child outlives the check unless the whole process tree is ended.
    let check = "tail -f /dev/null & env | sort; exit 0";
    let mut repo = TestRepo::with_working_agent(&format!("[checks]\nlook = [\"sh\", \"-c\", \"{check}\"]"));
    repo.variables.push(("MODEL_API_KEY".to_owned(), "hunter2".to_owned()));
    let task = repo.add("Anything", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let seen = repo.show(&task)["verified"]["checks"][0]["output_tail"].as_str().unwrap().to_owned();
    assert!(seen.contains("PATH=") && seen.contains("BATON_ATTEMPT_ID="), "{seen}");
    assert!(!seen.contains("hunter2") && !seen.contains("BATON_TOKEN"), "{seen}");
    assert_eq!(processes(&repo.last_attempt(&task)), Vec::<String>::new());
}

#[test]
fn long_check_output_keeps_its_beginning_and_its_end() {
    let check = "echo first line; yes 0123456789 | head -c 5000000; echo; echo last line; exit 1";
    let script = json!({ "scripts": [
        { "when": "failed:", "steps": [
            { "write": { "path": "quiet", "text": "" } }, { "commit": "Quieter" } ] },
    ], "otherwise": [{ "write": { "path": "x", "text": "x" } }, { "commit": "Loud" }]});
    let repo = TestRepo::scripted(
        &script,
        &format!("[checks]\nloud = [\"sh\", \"-c\", \"test -e quiet && exit 0; {check}\"]"),
    );
    let task = repo.add("Make noise", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let kept = repo.attempts(&task)[0]["closing"]["end"]["verified"]["checks"][0]["output_tail"].clone();
    let kept = kept.as_str().unwrap();
    assert!(kept.starts_with("first line\n") && kept.ends_with("last line\n"), "{kept}");
    assert!(kept.contains("bytes left out") && kept.len() < 9_000, "{} bytes", kept.len());
}

#[test]
fn cancelling_a_task_ends_its_running_check() {
    let repo = TestRepo::with_working_agent(
        "[checks]\nslow = [\"sh\", \"-c\", \"echo started > ../checking; tail -f /dev/null\"]",
    );
    let task = repo.add("Anything", &[]);
    let up = repo.up();
    let marker = repo.state().join("worktrees/checking");
    repo.until("the check runs", || std::fs::read_to_string(&marker).is_ok_and(|text| text == "started\n"));
    let attempt = repo.last_attempt(&task);
    assert!(!processes(&attempt).is_empty());
    repo.stdout(&["task", "cancel", &task]);
    repo.until("the check is ended", || processes(&attempt).is_empty());
    up.end();
    assert_eq!((repo.queue(&task), repo.attempts(&task).len()), ("rejected".to_owned(), 1));
}
