//! What `baton accept` says: before, meanwhile and afterwards.

use std::process::Stdio;

use super::{adding_agent, commit_on_branch, set_settings};
use crate::engine::test_repo::TestRepo;

fn finished(check: &str) -> (TestRepo, String) {
    let repo = adding_agent(check, "exit 1");
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    (repo, task)
}

fn said(repo: &TestRepo, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = repo.output(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn assert_narrated(repo: &TestRepo, task: &str) {
    let (printed, narrated, code) = said(repo, &["accept", task]);
    assert_eq!(
        (printed.as_str(), code),
        (format!("{task}  landed  Add a.txt\n").as_str(), Some(0)),
        "{narrated}"
    );
    let at = |what: &str| narrated.find(what).unwrap_or_else(|| panic!("{what}: {narrated}"));
    let queued = at(&format!("{task}  queued: next to land on baton/next"));
    let checking = at(&format!("checking {task} on baton/next ("));
    let landed = at(&format!("{task}  landed at "));
    assert!(queued < checking && checking < landed, "{narrated}");
}

#[test]
fn accepting_says_what_happens_while_it_waits() {
    let (repo, task) = finished("true");
    assert_narrated(&repo, &task);

    let (repo, task) = finished("true");
    let up = repo.up();
    assert_narrated(&repo, &task);
    up.end();

    let (repo, task) = finished("true");
    let (printed, narrated, _) = said(&repo, &["--json", "accept", &task]);
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["accepted"][0], task, "{printed:#}");
    assert_eq!(narrated, "", "nothing but the document");
}

#[test]
fn a_verdict_names_its_checks_and_where_they_came_from() {
    let (repo, task) = finished("true");
    repo.stdout(&["accept", &task]);
    let landing = repo.show(&task)["landing"].clone();
    let evidence = &landing["evidence"];
    assert_eq!(landing["state"], "landed", "{landing:#}");
    assert_eq!(evidence["base"], repo.git(&["rev-parse", "main"]), "{landing:#}");
    assert_eq!(evidence["commit"], repo.git(&["rev-parse", "baton/next"]), "{landing:#}");
    assert_eq!(evidence["checks"][0]["name"], "rules", "{landing:#}");
    let suite = evidence["suite"].as_str().unwrap();
    let verdicts = repo.json(&["landing"])["verdicts"].clone();
    assert_eq!(
        (&verdicts[0]["suite"], &verdicts[0]["environment"]),
        (&suite.into(), &evidence["environment"])
    );
    let shown = repo.stdout(&["task", "show", &task]);
    assert!(shown.contains(&format!("suite {}", &suite[..12])), "{shown}");
    assert!(repo.stdout(&["landing"]).contains(&format!("suite {}", &suite[..12])));
}

#[test]
fn a_dry_run_meets_what_the_real_run_meets() {
    let (repo, task) = finished("true");
    repo.git(&["checkout", "-q", "baton/next"]);
    let preview = repo.stdout(&["accept", &task, "--dry-run"]);
    let (_, refused, code) = said(&repo, &["accept", &task]);
    assert_ne!(code, Some(0), "{refused}");
    for text in [&preview, &refused] {
        assert!(text.contains("the branch baton/next is checked out in"), "{text}");
        assert!(text.contains("switch --detach"), "what to do: {text}");
    }
    assert_eq!(repo.json(&["accept", &task, "--dry-run"])["preview"][0]["would_be"], "refused");
    repo.git(&["checkout", "-q", "main"]);

    // Another git holds the branch for longer than it needs to move it.
    let up = repo.up();
    up.wait_for_line("Listening on http://");
    let lock = repo.folder.join(".git/refs/heads/baton/next.lock");
    std::fs::write(&lock, "").unwrap();
    let preview = || repo.json(&["accept", &task, "--dry-run"])["preview"][0]["would_be"].clone();
    repo.until("the dry run meets the lock", || preview() == "refused");
    let (_, refused, code) = said(&repo, &["accept", &task]);
    assert_ne!(code, Some(0), "{refused}");
    assert!(refused.contains("next.lock"), "{refused}");
    std::fs::remove_file(&lock).unwrap();
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.queue(&task), "done");
    up.end();
}

#[test]
fn waiting_alone_is_no_failure_and_a_time_limit_is_one() {
    let (repo, task) = finished("true");
    let (printed, _, code) = said(&repo, &["accept", &task, "--no-wait"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("waiting: next to land on baton/next"), "{printed}");

    let repo = TestRepo::with_agent(
        "work",
        "check_timeout_seconds = 600\n[checks]\nrules = { command = [\"sleep\", \"600\"], timeout_seconds = 1 }",
    );
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until("the check has failed", || repo.show(&task)["verified"]["checks"][0]["exit_code"] == -1);
    up.end();
    let output = repo.show(&task)["verified"]["checks"][0]["output_tail"].clone();
    assert!(output.as_str().unwrap().contains("did not end within 1 second"), "{output}");
}

#[test]
fn a_large_file_needs_a_person_from_the_size_that_the_settings_say() {
    let repo = TestRepo::with_agent(
        "head -c 1500000 /dev/zero > big; git add big; git commit -q -m Big; echo Done.",
        "large_file_megabytes = 1",
    );
    let task = repo.add("Add big", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let reasons = repo.show(&task)["needs_review"].to_string();
    assert!(reasons.contains("big"), "{reasons}");
}

#[test]
fn what_somebody_cancelled_meanwhile_is_not_said_to_be_sent_back() {
    let repo = TestRepo::with_agent("work", "[checks]\nrules = [\"true\"]");
    let gate = repo.home.join("go").display().to_string();
    let check =
        format!("case \"$PWD\" in *worktrees*) exit 0 ;; esac; until test -e {gate}; do sleep 0.1; done");
    let settings = std::fs::read_to_string(repo.folder.join(".agent/baton.toml")).unwrap();
    let settings = settings.replace("[\"true\"]", &format!("[\"sh\", \"-c\", '''{check}''']"));
    set_settings(&repo, &settings);
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let mut accepting = repo.baton(&["accept", &task]);
    let accepting = accepting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    repo.until("it is checked", || !repo.json(&["landing"])["lanes"][0]["checking"][0].is_null());
    repo.stdout(&["task", "cancel", &task]);
    let output = accepting.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(printed, format!("{task}  not landed: somebody has cancelled it\n"), "{errors}");
    assert!(
        errors.contains(&format!("error: not landed: {task}")) && !errors.contains("sent back"),
        "{errors}"
    );
    assert_eq!(output.status.code(), Some(1), "{errors}");
    std::fs::write(&gate, "").unwrap();
    up.end();
}

#[test]
fn nothing_but_the_refusal_is_said_where_everything_was_refused() {
    let (repo, task) = finished("true");
    repo.git(&["checkout", "-q", "baton/next"]);
    let (printed, refused, code) = said(&repo, &["accept", "--all"]);
    assert_eq!((printed.as_str(), code), ("", Some(4)), "{refused}");
    assert!(refused.contains(&format!("error: not accepted: {task}: ")), "{refused}");
    repo.git(&["checkout", "-q", "main"]);
    repo.stdout(&["accept", "--all"]);
    assert_eq!(said(&repo, &["accept", "--all"]).0, "Nothing to accept.\n");
}

#[test]
fn what_kept_a_lane_is_not_shown_any_more_once_somebody_forced_work_past_it() {
    let check = "test -e fixed.txt || ! test -e broken";
    let repo = adding_agent(check, "exit 1");
    let (waiting, repair) = (repo.add("Add a.txt", &[]), repo.add("Add fixed.txt", &[]));
    repo.work_until(&[(&waiting, "provisional"), (&repair, "provisional")]);
    commit_on_branch(&repo, "broken", "x\n");
    let up = repo.up();
    repo.stdout(&["accept", &waiting, "--no-wait"]);
    let error = || repo.json(&["landing"])["lanes"][0]["error"].clone();
    repo.until("the branch fails", || error().is_string());
    repo.stdout(&["accept", &repair, "--force"]);
    assert!(error().is_null(), "{}", error());
    repo.until_queue(&waiting, "done");
    up.end();
}
