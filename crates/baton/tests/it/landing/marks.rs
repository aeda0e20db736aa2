//! Every mark that needs a person keeps work out of its branch, whatever the policy.

use std::os::unix::fs::PermissionsExt;

use super::{has_event, own_history};
use crate::engine::test_repo::TestRepo;

/// The title of a task, what its agent does, and what Baton says about it.
const MARKS: [(&str, &str, &str); 9] = [
    (
        "Markers",
        r"printf '<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs\n' > notes; git add -A; git commit -q -m Notes",
        "conflict markers in notes",
    ),
    (
        "Merge",
        r#"git switch -q -c side; echo side > s.txt; git add -A; git commit -qm side
           git switch -q "baton/$BATON_TASK_ID"; echo ours > s.txt; git add -A; git commit -qm ours; git merge side || true"#,
        "left a merge unfinished",
    ),
    (
        "Link",
        "ln -s /etc/passwd out; git add -A; git commit -q -m Link",
        "out is a link out of the repository",
    ),
    (
        "Submodule",
        "git init -q part; git -C part commit -q --allow-empty -m Part; git add part; git commit -q -m Part",
        "the submodule part changed",
    ),
    ("Large", "head -c 1500000 /dev/zero > big; git add big; git commit -q -m Big", "big has 1.5 MB"),
    (
        "Protected",
        "mkdir tests; echo 1 > tests/x; git add -A; git commit -q -m Tests",
        "it changes protected files: tests/x",
    ),
    ("History", "git commit -q --amend --allow-empty -m Other; work", "rewrote the history it started from"),
    ("Hook", "work; echo 1 > left", "without the pre-commit hook"),
    ("Turns", "turns 50", ""),
];

#[test]
fn every_mark_waits_for_a_person_under_every_policy() {
    let cases: Vec<String> =
        MARKS.iter().map(|(title, program, _)| format!("*\"# {title}\"*) {program} ;;\n")).collect();
    let repo = TestRepo::with_agent(
        &format!("case \"$prompt\" in\n{}*) work ;;\nesac", cases.concat()),
        "accept_when = \"green\"\nrecycle = \"manual\"\nmax_agents = 4\nlarge_file_megabytes = 1\n\
         protect = [\"tests/**\"]\nchecks = { rules = [\"true\"] }",
    );
    let hook = repo.folder.join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();

    let tasks = MARKS.map(|(title, ..)| repo.add(title, &[]));
    let plain = repo.add("Plain", &[]);
    let up = repo.up();
    repo.until_queue(&plain, "done");
    for task in &tasks {
        repo.until_queue(task, "provisional");
    }
    for (task, (title, _, reason)) in tasks.iter().zip(MARKS) {
        let view = repo.show(task);
        assert!(view["needs_review"].to_string().contains(reason), "{title}: {view:#}");
        assert!(!has_event(&repo, task, "task_landing"), "{title}: no policy has accepted it");
        let refused = repo.output(&["accept", task]);
        assert_ne!(refused.status.code(), Some(0), "{title}: not by accident");
        assert_eq!(repo.queue(task), "provisional", "{title}");
    }
    up.end();
    assert_eq!(own_history(&repo).len(), 1, "only the plain one has landed");
}
