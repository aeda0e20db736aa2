//! I20: an agent cannot change the person's repository, and what it does to its own is seen.

use super::test_repo::TestRepo;

/// What `accept` says when it refuses.
fn refusal(repo: &TestRepo, task: &str) -> String {
    let output = repo.output(&["accept", task]);
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn an_agent_that_deletes_its_folder_counts_and_stops_nobody_else() {
    let agent = "case \"$prompt\" in *Poison*) here=$PWD; cd /; rm -rf \"$here\" ;; *) work ;; esac";
    let repo = TestRepo::with_agent(agent, "max_agents = 1");
    let poison = repo.add("Poison", &[]);
    let good = repo.add("Good", &[]);
    repo.work_until(&[(&good, "provisional"), (&poison, "recycled")]);
    let attempts = repo.attempts(&poison);
    assert!(attempts.len() <= 3, "{attempts:?}");
    let told = attempts[0].to_string();
    assert!(told.contains("folder_gone"), "{told}");
    assert!(repo.json(&["hold", "list"]).to_string().matches("mine").count() == 0);
}

#[test]
fn an_unfinished_merge_is_not_merged_unnoticed() {
    let agent = "git switch -q -c side; echo side > s.txt; git add -A; git commit -qm side
        git switch -q \"baton/$BATON_TASK_ID\"; echo ours > s.txt; git add -A; git commit -qm ours
        git merge side || true";
    let repo = TestRepo::with_agent(agent, "");
    let task = repo.add("Leave a merge", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let said = refusal(&repo, &task);
    assert!(said.contains("merge unfinished") && said.contains("conflict markers in s.txt"), "{said}");
    assert_eq!(repo.queue(&task), "provisional");
    repo.stdout(&["accept", &task, "--force"]);
    assert_eq!(repo.queue(&task), "done");
}

#[test]
fn an_agent_that_moves_branches_moves_only_its_own_copies() {
    let repo = TestRepo::with_agent(
        "work; git update-ref refs/heads/main HEAD; git update-ref refs/heads/baton/next HEAD; git config user.name evil",
        "",
    );
    let main = repo.git(&["rev-parse", "main"]);
    let config = std::fs::read(repo.folder.join(".git/config")).unwrap();
    let task = repo.add("Sneak", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(repo.git(&["rev-parse", "main"]), main);
    assert_eq!(repo.git(&["rev-parse", "baton/next"]), main);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(std::fs::read(repo.folder.join(".git/config")).unwrap(), config);
    let told = repo.attempts(&task)[0].to_string();
    assert!(told.contains("branch_moved") && told.contains("refs/heads/main"), "{told}");
}

#[test]
fn a_branch_that_moved_since_it_was_verified_is_not_merged() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let branch = format!("refs/heads/baton/{task}");
    let tree = format!("{branch}^{{tree}}");
    let evil = repo.git(&["commit-tree", "-p", &branch, "-m", "Evil", &tree]);
    repo.git(&["update-ref", &branch, &evil]);
    let said = refusal(&repo, &task);
    assert!(said.contains("moved since it was verified"), "{said}");
    assert!(!repo.try_git(&["merge-base", "--is-ancestor", &evil, "baton/next"]).0);
    assert_eq!(repo.queue(&task), "incoming");
}

#[test]
fn without_an_identity_commits_work_and_the_doctor_says_so() {
    let mut repo = TestRepo::with_agent(
        "unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL; work",
        "",
    );
    let config = repo.home.join("gitconfig");
    std::fs::write(&config, "").unwrap();
    repo.variables.push(("GIT_CONFIG_GLOBAL".to_owned(), config.display().to_string()));
    let task = repo.add("Commit", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let branch = format!("baton/{task}");
    assert_eq!(repo.git(&["log", "-1", "--format=%an <%ae>", &branch]), "Baton agent <agent@baton.invalid>");
    let said = String::from_utf8(repo.output(&["doctor"]).stdout).unwrap();
    assert!(said.contains("agents commit as Baton agent"), "{said}");
}

#[test]
fn a_hook_that_refuses_is_told_to_the_person() {
    let repo = TestRepo::with_agent("work || true", "");
    let hook = repo.folder.join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let task = repo.add("Commit", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let said = refusal(&repo, &task);
    assert!(said.contains("without the pre-commit hook"), "{said}");
}

#[test]
fn a_lock_left_by_a_dead_git_stops_no_task() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Work", &[]);
    let lock = repo.folder.join(format!(".git/refs/heads/baton/{task}.lock"));
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let file = std::fs::File::create(&lock).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_hours(1)).unwrap();
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(repo.attempts(&task).len(), 1);
    assert!(!lock.exists());
}
