use std::fs;
use std::os::unix::fs::symlink;

use baton_core::task::finding::WorkFinding;
use baton_engine::git::{CheckoutBase, GitError, Worktrees};

use crate::repo::{TestRepo, attempt, branch, ready, spec, task_branch, task_place, write};

#[tokio::test]
async fn a_worktree_stands_on_its_tasks_branch_and_the_humans_checkout_is_untouched() {
    let repo = TestRepo::new();
    write(&repo.main.join("README"), "dirty\n");
    write(&repo.main.join("untracked"), "mine\n");
    let status = repo.git(&repo.main, &["status", "--porcelain"]);
    let checkout = repo.room().await.create(&spec(1, 1)).await.unwrap();
    assert_eq!(checkout.folder, repo.folder(1));
    assert_eq!(repo.git(&checkout.folder, &["branch", "--show-current"]), "baton/TASK-00000001");
    assert_eq!(repo.git(&checkout.folder, &["status", "--porcelain"]), "");
    assert_eq!(fs::read(checkout.folder.join("README")).unwrap(), b"hello\n");
    assert_eq!(checkout.base, repo.head(&repo.main));
    assert_eq!(repo.git(&repo.main, &["status", "--porcelain"]), status);
    assert_eq!(repo.git(&repo.main, &["branch", "--show-current"]), "main");
}

#[tokio::test]
async fn housekeeping_in_the_persons_repository_does_not_break_a_clone() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, "a", "a");
    repo.git(&repo.main, &["commit", "--quiet", "--amend", "--allow-empty", "-m", "Rewritten"]);
    repo.git(&repo.main, &["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&repo.main, &["gc", "--quiet", "--prune=now"]);
    repo.git(&checkout.folder, &["fsck", "--no-dangling", "--no-progress"]);
    assert_eq!(room.settle(&checkout).await.unwrap().measured.commits, 1);
}

#[tokio::test]
async fn i20_nothing_an_attempt_does_in_its_clone_changes_the_persons_repository() {
    let (repo, room, checkout) = ready().await;
    let config = fs::read(repo.main.join(".git/config")).unwrap();
    let refs = repo.git(&repo.main, &["for-each-ref"]);
    repo.commit(&checkout.folder, "a", "a");
    repo.git(&checkout.folder, &["update-ref", "refs/heads/main", "HEAD"]);
    repo.git(&checkout.folder, &["config", "core.fsmonitor", "/bin/false"]);
    repo.git(&checkout.folder, &["tag", "v1"]);
    assert_eq!(repo.git(&repo.main, &["for-each-ref"]), refs);
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!(settled.findings, [WorkFinding::BranchMoved { name: "refs/heads/main".to_owned() }]);
    assert_eq!(repo.tip("refs/heads/main"), Some(checkout.base));
    assert_eq!(repo.tip("refs/tags/v1"), None);
    assert_eq!(fs::read(repo.main.join(".git/config")).unwrap(), config);
}

#[tokio::test]
async fn making_it_twice_makes_it_once() {
    let (repo, room, first) = ready().await;
    write(&first.folder.join("work"), "in progress");
    repo.commit(&first.folder, "a", "a");
    let again = room.create(&spec(1, 1)).await.unwrap();
    assert_eq!(again, first);
    assert_eq!(fs::read(first.folder.join("work")).unwrap(), b"in progress");
    assert_eq!(room.open(attempt(1), task_place(1)).await.unwrap(), Some(first));
    assert_eq!(room.open(attempt(2), task_place(1)).await.unwrap(), None);
}

#[tokio::test]
async fn a_new_attempt_goes_on_from_the_tasks_branch_while_the_old_worktree_still_stands() {
    let (repo, room, first) = ready().await;
    let done = repo.commit(&first.folder, "a", "a");
    write(&first.folder.join("uncommitted"), "x");
    repo.commit(&repo.main, "meanwhile", "x");
    room.bring(&first).await.unwrap();
    let second = room.create(&spec(2, 1)).await.unwrap();
    assert_eq!(second.base, first.base, "what the first one committed is merged with it, and counts");
    assert_eq!(repo.git(&second.folder, &["branch", "--show-current"]), task_branch(1).as_str());
    assert!(second.folder.join("a").exists() && !second.folder.join("uncommitted").exists());
    // The old one keeps its files and its own branch.
    assert_eq!(repo.head(&first.folder), done);
    assert_eq!(repo.git(&first.folder, &["status", "--porcelain"]), "?? uncommitted");
}

#[tokio::test]
async fn an_attempt_that_resumes_keeps_the_folder_and_counts_from_where_the_first_one_did() {
    let (repo, room, first) = ready().await;
    repo.commit(&first.folder, "a", "a");
    let mut resumed = spec(2, 1);
    resumed.resumes = Some(attempt(1));
    let second = room.create(&resumed).await.unwrap();
    assert_eq!((&second.folder, &second.base), (&first.folder, &first.base));
    assert_eq!(room.create(&resumed).await.unwrap(), second);
    let error = room.create(&spec(1, 1)).await.unwrap_err();
    assert!(matches!(error, GitError::HandedOn { by, .. } if by == attempt(2)), "{error}");
    let error = room.retire(attempt(1)).await.unwrap_err();
    assert!(matches!(error, GitError::HandedOn { .. }), "{error}");
    assert_eq!(room.measure(&second).await.unwrap().commits, 1);
    room.settle(&second).await.unwrap();
    room.retire(attempt(2)).await.unwrap();
    // Nothing stands any more: the next one gets a fresh worktree on the branch.
    resumed.attempt = attempt(3);
    resumed.resumes = Some(attempt(2));
    let third = room.create(&resumed).await.unwrap();
    assert_eq!((third.folder, third.base), (repo.folder(3), first.base));
}

#[tokio::test]
async fn a_breakdown_stands_on_its_branch_and_does_not_move_the_persons() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    let mut reading = spec(1, 1);
    reading.place = CheckoutBase::Reading { branch: branch("main") };
    let checkout = room.create(&reading).await.unwrap();
    assert_eq!(repo.head(&checkout.folder), checkout.base);
    assert_eq!(repo.git(&checkout.folder, &["status", "-sb"]), "## main");
    repo.commit(&checkout.folder, "note", "x");
    write(&checkout.folder.join("scratch"), "x");
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, settled.uncommitted_changes), (1, true));
    assert_eq!(repo.tip("refs/heads/main"), Some(checkout.base));
}

#[tokio::test]
async fn a_branch_the_human_has_checked_out_is_refused_with_the_command_that_frees_it() {
    let repo = TestRepo::new();
    repo.git(&repo.main, &["switch", "--quiet", "-c", "baton/TASK-00000001"]);
    let error = repo.room().await.create(&spec(1, 1)).await.unwrap_err();
    assert!(matches!(&error, GitError::CheckedOut { at, .. } if *at == repo.main), "{error}");
    assert!(error.hint().contains("main checkout' switch --detach"), "{}", error.hint());
    assert!(!repo.folder(1).exists());
}

#[tokio::test]
async fn a_vanished_worktree_does_not_hold_its_branch() {
    let repo = TestRepo::new();
    let gone = repo.root.join("gone");
    repo.git(
        &repo.main,
        &["worktree", "add", "--quiet", "-b", "baton/TASK-00000001", gone.to_str().unwrap()],
    );
    fs::remove_dir_all(&gone).unwrap();
    repo.room().await.create(&spec(1, 1)).await.unwrap();
}

#[tokio::test]
async fn a_vanished_worktree_the_human_locked_is_left_alone() {
    let repo = TestRepo::new();
    let gone = repo.root.join("gone");
    repo.git(
        &repo.main,
        &["worktree", "add", "--quiet", "-b", "baton/TASK-00000001", gone.to_str().unwrap()],
    );
    repo.git(&repo.main, &["worktree", "lock", gone.to_str().unwrap()]);
    fs::remove_dir_all(&gone).unwrap();
    let error = repo.room().await.create(&spec(1, 1)).await.unwrap_err();
    assert!(matches!(error, GitError::CheckedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_folder_without_a_record_is_kept_and_replaced() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    write(&repo.folder(1).join("stray"), "precious");
    let checkout = room.create(&spec(1, 1)).await.unwrap();
    assert!(!checkout.folder.join("stray").exists());
    let back = repo.root.join("back");
    room.restore(attempt(1), &back).await.unwrap();
    assert_eq!(fs::read(back.join("stray")).unwrap(), b"precious");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_made_again_and_commits_brought_over_still_count() {
    let (repo, room, first) = ready().await;
    repo.commit(&first.folder, "a", "a");
    room.bring(&first).await.unwrap();
    fs::remove_dir_all(&first.folder).unwrap();
    let again = room.create(&spec(1, 1)).await.unwrap();
    assert_eq!(again.base, first.base);
    assert_eq!(room.measure(&again).await.unwrap().commits, 1);
    assert!(again.folder.join("a").exists());
}

#[tokio::test]
async fn a_half_made_worktree_is_made_anew() {
    let (repo, room, first) = ready().await;
    // Killed before the owner was written, with half of the files and git's lock left behind.
    fs::remove_file(repo.state.join("checkouts/ATT-0000000000000001/owner")).unwrap();
    fs::write(first.folder.join(".git/index.lock"), "").unwrap();
    fs::remove_file(first.folder.join("README")).unwrap();
    let again = room.create(&spec(1, 1)).await.unwrap();
    assert!(again.folder.join("README").exists());
    assert_eq!(repo.git(&again.folder, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn locks_left_behind_do_not_stop_an_adopted_worktree() {
    let (repo, room, first) = ready().await;
    let git_dir = first.folder.join(".git");
    fs::write(git_dir.join("index.lock"), "").unwrap();
    fs::write(git_dir.join("HEAD.lock"), "").unwrap();
    // A leftover lock file that no process holds.
    for entry in fs::read_dir(repo.state.join("locks")).unwrap() {
        assert!(entry.unwrap().path().exists());
    }
    room.create(&spec(1, 1)).await.unwrap();
    repo.commit(&first.folder, "a", "a");
}

#[tokio::test]
async fn a_lock_in_the_humans_repository_is_named_and_not_deleted() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    repo.git(&repo.main, &["config", "core.filesRefLockTimeout", "0"]);
    let lock = repo.main.join(".git/refs/heads/baton/TASK-00000001.lock");
    write(&lock, "");
    let error = room.create(&spec(1, 1)).await.unwrap_err();
    assert!(error.to_string().contains("TASK-00000001.lock"), "{error}");
    assert!(error.hint().contains("delete the .lock file"), "{}", error.hint());
    assert!(lock.exists());
    fs::remove_file(lock).unwrap();
    room.create(&spec(1, 1)).await.unwrap();
}

#[tokio::test]
async fn a_clone_without_its_repository_is_kept_and_made_again() {
    for replaced in [false, true] {
        let (repo, room, first) = ready().await;
        write(&first.folder.join("work"), "x");
        fs::remove_dir_all(first.folder.join(".git")).unwrap();
        if replaced {
            write(&first.folder.join(".git"), format!("gitdir: {}\n", repo.main.join(".git").display()));
        }
        assert_eq!(room.create(&spec(1, 1)).await.unwrap(), first);
        assert_eq!(repo.git(&first.folder, &["status", "-sb"]), format!("## {}", task_branch(1)));
        assert!(!first.folder.join("work").exists());
        room.restore(attempt(1), &repo.root.join("back")).await.unwrap();
        assert!(repo.root.join("back/work").exists());
    }
}

#[tokio::test]
async fn named_files_are_copied_in_and_do_not_count_as_work() {
    let repo = TestRepo::new();
    write(&repo.main.join(".env"), "SECRET=1\n");
    write(&repo.main.join("conf/local.toml"), "x\n");
    write(&repo.main.join("README"), "the human's edit\n");
    let mut with_copies = spec(1, 1);
    with_copies.setup.copy = [".env", "conf/local.toml", "README", "not there"].map(Into::into).to_vec();
    let room = repo.room().await;
    let checkout = room.create(&with_copies).await.unwrap();
    assert_eq!(fs::read(checkout.folder.join(".env")).unwrap(), b"SECRET=1\n");
    assert!(checkout.folder.join("conf/local.toml").exists());
    assert_eq!(fs::read(checkout.folder.join("README")).unwrap(), b"hello\n");
    assert_eq!(room.measure(&checkout).await.unwrap().uncommitted, 0);
    let settled = room.settle(&checkout).await.unwrap();
    assert!(!settled.uncommitted_changes);
    write(&checkout.folder.join("new"), "x");
    let settled = room.settle(&checkout).await.unwrap();
    let files = repo.git(&repo.main, &["ls-tree", "-r", "--name-only", settled.measured.head.as_str()]);
    assert_eq!(files, "README\nnew");
}

#[tokio::test]
async fn a_copy_stays_inside() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    for path in ["", "/etc/passwd", "../outside", "a/../../b", ".git/config", "sub/.GIT/x"] {
        let mut bad = spec(1, 1);
        bad.setup.copy = vec![path.into()];
        let error = room.create(&bad).await.unwrap_err();
        assert!(matches!(error, GitError::BadCopy { .. }), "{path}: {error}");
    }
    fs::create_dir(repo.root.join("outside")).unwrap();
    symlink(repo.root.join("outside"), repo.main.join("link")).unwrap();
    repo.git(&repo.main, &["add", "link"]);
    repo.git(&repo.main, &["commit", "--quiet", "-m", "link"]);
    write(&repo.root.join("outside/a"), "x");
    fs::rename(repo.main.join("link"), repo.main.join("was")).unwrap();
    write(&repo.main.join("link/b"), "x");
    let mut bad = spec(1, 1);
    bad.setup.copy = vec!["link/b".into()];
    let error = room.create(&bad).await.unwrap_err();
    assert!(error.to_string().contains("leads out"), "{error}");
    assert!(!repo.root.join("outside/b").exists());
}

#[tokio::test]
async fn submodules_come_only_when_asked_for_and_their_commits_are_kept() {
    let repo = TestRepo::new();
    let library = TestRepo::new();
    repo.git(&repo.main, &["submodule", "--quiet", "add", library.main.to_str().unwrap(), "lib"]);
    repo.git(&repo.main, &["commit", "--quiet", "-m", "lib"]);
    let room = repo.room().await;
    let without = room.create(&spec(1, 1)).await.unwrap();
    assert!(!without.folder.join("lib/README").exists());
    assert!(!room.settle(&without).await.unwrap().uncommitted_changes);
    room.retire(attempt(1)).await.unwrap();

    let mut asked = spec(2, 2);
    asked.setup.submodules = true;
    let with = room.create(&asked).await.unwrap();
    assert!(with.folder.join("lib/README").exists());
    let inner = repo.commit(&with.folder.join("lib"), "deep", "x");
    assert!(room.settle(&with).await.unwrap().uncommitted_changes);
    room.retire(attempt(2)).await.unwrap();
    let back = repo.root.join("back");
    room.restore(attempt(2), &back).await.unwrap();
    assert_eq!(fs::read(back.join("lib/deep")).unwrap(), b"x");
    let git_dir = format!("--git-dir={}", back.join("%baton-modules%/lib").display());
    repo.git(&repo.root, &[&git_dir, "--work-tree=.", "cat-file", "-e", inner.as_str()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_worktrees_at_once() {
    let repo = TestRepo::new();
    let opened = repo.open().await;
    let mut making = tokio::task::JoinSet::new();
    for number in 1..=20_u32 {
        // Each with a room of its own, as separate processes have.
        let room = Worktrees::new(opened.clone(), &repo.state).unwrap();
        making.spawn(async move { room.create(&spec(number.into(), number)).await.unwrap() });
    }
    let made = making.join_all().await;
    assert_eq!(made.len(), 20);
    for checkout in made {
        assert_eq!(repo.git(&checkout.folder, &["status", "--porcelain"]), "");
    }
    assert_eq!(repo.room().await.list().await.unwrap().len(), 20);
}
