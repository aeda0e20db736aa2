use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use baton_engine::git::{Git, GitError};

use crate::repo::{TestRepo, spec};

fn fake_git(repo: &TestRepo, script: &str) -> std::path::PathBuf {
    let path = repo.root.join("fake-git");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn an_old_git_is_refused_with_the_version_it_needs() {
    let repo = TestRepo::empty();
    let error = Git::new(fake_git(&repo, "echo git version 2.37.9"), Vec::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "git 2.37 is too old: Baton needs 2.38 or newer");
    assert_eq!(error.hint(), "install git 2.38 or newer");
}

#[tokio::test]
async fn a_missing_git_and_a_strange_one_are_told_apart() {
    let repo = TestRepo::empty();
    let error = Git::new(Path::new("/nowhere/git"), Vec::new()).await.unwrap_err();
    assert!(matches!(error, GitError::Missing { .. }), "{error}");
    let error = Git::new(fake_git(&repo, "echo I am no git"), Vec::new()).await.unwrap_err();
    assert!(matches!(error, GitError::Garbled { .. }), "{error}");
    let error = Git::new(fake_git(&repo, "echo broken >&2; exit 3"), Vec::new()).await.unwrap_err();
    assert!(matches!(error, GitError::Failed { code: Some(3), .. }), "{error}");
    assert!(error.to_string().ends_with("broken"), "{error}");
}

#[tokio::test]
async fn the_humans_hooks_and_signing_do_not_run_for_batons_own_work() {
    let repo = TestRepo::new();
    let hooks = repo.root.join("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in ["pre-commit", "post-checkout", "reference-transaction", "commit-msg"] {
        let path = hooks.join(hook);
        fs::write(&path, format!("#!/bin/sh\ntouch '{}'\nexit 1\n", repo.root.join("ran").display()))
            .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    repo.git(&repo.main, &["config", "core.hooksPath", hooks.to_str().unwrap()]);
    repo.git(&repo.main, &["config", "commit.gpgSign", "true"]);
    repo.git(&repo.main, &["config", "gpg.program", "/bin/false"]);
    let room = repo.room().await;
    let checkout = room.create(&spec(1, 1)).await.unwrap();
    crate::repo::write(&checkout.folder.join("left"), "x");
    room.settle(&checkout).await.unwrap();
    room.retire(checkout.attempt).await.unwrap();
    assert!(!repo.root.join("ran").exists());
}

#[tokio::test]
async fn batons_commits_are_batons_and_the_configuration_is_left_alone() {
    let repo = TestRepo::new();
    let before = fs::read(repo.main.join(".git/config")).unwrap();
    let room = repo.room().await;
    let checkout = room.create(&spec(1, 1)).await.unwrap();
    crate::repo::write(&checkout.folder.join("left"), "x");
    let settled = room.settle(&checkout).await.unwrap();
    let who = repo.git(&repo.main, &["show", "-s", "--format=%an %ae %cn", settled.measured.head.as_str()]);
    assert_eq!(who, "Baton baton@localhost Baton");
    assert_eq!(fs::read(repo.main.join(".git/config")).unwrap(), before);
}
