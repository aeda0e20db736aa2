//! I20: what a hostile agent does in its clone stays there, and is seen.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use baton_core::task::finding::WorkFinding;
use baton_engine::git::{LEFTOVER_BYTES_MAX, Worktrees};

use crate::repo::{TestRepo, attempt, branch, ready, spec, task_branch, write};

fn script(path: &Path, text: &str) {
    write(path, format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn programs_planted_in_a_clone_do_not_run() {
    let (repo, room, checkout) = ready().await;
    let ran = repo.root.join("ran");
    let evil = repo.root.join("evil");
    script(&evil, &format!("touch '{}'; cat", ran.display()));
    repo.commit(&checkout.folder, "a", "a");
    let evil = evil.to_str().unwrap();
    for (key, value) in [
        ("filter.ev.clean", evil),
        ("filter.ev.smudge", evil),
        ("merge.ev.driver", evil),
        ("diff.ev.textconv", evil),
        ("core.fsmonitor", evil),
        ("core.sshCommand", evil),
        ("uploadpack.packObjectsHook", evil),
        ("core.hooksPath", repo.root.to_str().unwrap()),
    ] {
        repo.git(&checkout.folder, &["config", key, value]);
    }
    write(&checkout.folder.join(".git/info/attributes"), "* filter=ev merge=ev diff=ev\n");
    write(&checkout.folder.join(".gitattributes"), "* filter=ev merge=ev diff=ev\n");
    write(&checkout.folder.join("b"), "b");
    let settled = room.settle(&checkout).await.unwrap();
    assert!(settled.uncommitted_changes);
    room.trace(&checkout).await.unwrap();
    room.create(&spec(1, 1)).await.unwrap();
    room.retire(checkout.attempt).await.unwrap();
    room.create(&spec(2, 1)).await.unwrap();
    assert!(!ran.exists());
    assert_eq!(repo.fsck(), "");
}

#[tokio::test]
async fn objects_that_git_refuses_do_not_come_over() {
    let (repo, room, checkout) = ready().await;
    let objects = repo.git(&repo.main, &["count-objects"]);
    let blob = repo.git(&checkout.folder, &["hash-object", "-w", "README"]);
    let list = repo.root.join("list");
    fs::write(&list, format!("100644 blob {blob}\t.GIT\n")).unwrap();
    let make = format!("git mktree < '{}'", list.display());
    let alias = format!("alias.evil=!{make}");
    let tree = repo.git(&checkout.folder, &["-c", &alias, "evil"]);
    let commit = repo.git(&checkout.folder, &["commit-tree", &tree, "-p", "HEAD", "-m", "evil"]);
    repo.git(&checkout.folder, &["update-ref", "refs/heads/baton/TASK-00000001", &commit]);
    let settled = room.settle(&checkout).await.unwrap();
    assert!(
        matches!(settled.findings.as_slice(), [WorkFinding::RepositoryBroken { .. }]),
        "{:?}",
        settled.findings
    );
    assert_eq!((settled.measured.head, settled.measured.commits), (checkout.base, 0));
    assert_eq!(repo.tip(&commit), None);
    assert_eq!(repo.git(&repo.main, &["count-objects"]), objects);
    room.retire(checkout.attempt).await.unwrap();
    assert_eq!(repo.fsck(), "");
}

#[tokio::test]
async fn borrowed_objects_of_the_agents_choice_are_not_read() {
    let (repo, room, checkout) = ready().await;
    let secret = TestRepo::new();
    let stolen = secret.commit(&secret.main, "secret", "s");
    let alternates = checkout.folder.join(".git/objects/info/alternates");
    let borrowed = fs::read_to_string(&alternates).unwrap();
    write(&alternates, format!("{borrowed}{}\n", secret.main.join(".git/objects").display()));
    write(&checkout.folder.join(".git/refs/heads/baton/TASK-00000001"), format!("{stolen}\n"));
    let settled = room.settle(&checkout).await.unwrap();
    assert!(matches!(settled.findings.as_slice(), [WorkFinding::RepositoryBroken { .. }]));
    assert_eq!(repo.tip(stolen.as_str()), None);
    // The same through a folder of objects that is a link.
    write(&alternates, borrowed);
    let fan_out = &stolen.as_str()[..2];
    let _ = fs::remove_dir_all(checkout.folder.join(".git/objects").join(fan_out));
    symlink(
        secret.main.join(".git/objects").join(fan_out),
        checkout.folder.join(".git/objects").join(fan_out),
    )
    .unwrap();
    let settled = room.settle(&checkout).await.unwrap();
    assert!(matches!(settled.findings.as_slice(), [WorkFinding::RepositoryBroken { .. }]));
    assert_eq!(repo.tip(stolen.as_str()), None);
}

#[tokio::test]
async fn an_unfinished_merge_and_its_markers_are_found() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, "README", "ours\n");
    let theirs = repo.commit(&repo.main, "README", "theirs\n");
    let (merged, _) = repo.try_git(&checkout.folder, &["merge", theirs.as_str()]);
    assert!(!merged);
    let settled = room.settle(&checkout).await.unwrap();
    let unfinished = WorkFinding::Unfinished { operation: "merge".to_owned() };
    let markers = WorkFinding::ConflictMarkers { files: vec!["README".to_owned()] };
    assert_eq!(settled.findings, [unfinished, markers.clone()]);
    assert!(markers.needs_person());
}

#[tokio::test]
async fn large_files_links_out_and_a_rewritten_base_are_found() {
    let (repo, room, checkout) = ready().await;
    let huge = fs::File::create(checkout.folder.join("huge")).unwrap();
    huge.set_len(LEFTOVER_BYTES_MAX + 1).unwrap();
    symlink("/etc/passwd", checkout.folder.join("out")).unwrap();
    symlink("README", checkout.folder.join("in")).unwrap();
    let settled = room.settle(&checkout).await.unwrap();
    let bytes = LEFTOVER_BYTES_MAX + 1;
    let not_committed = WorkFinding::FileNotCommitted { path: "huge".to_owned(), bytes };
    let link = WorkFinding::LinkOutside { path: "out".to_owned(), target: "/etc/passwd".to_owned() };
    assert_eq!(settled.findings, [not_committed, link]);
    assert!(checkout.folder.join("huge").exists());
    repo.git(&checkout.folder, &["switch", "--quiet", "--orphan", "fresh"]);
    repo.commit(&checkout.folder, "b", "b");
    assert!(room.settle(&checkout).await.unwrap().findings.contains(&WorkFinding::BaseRewritten));
}

#[tokio::test]
async fn a_folder_replaced_by_a_link_is_not_followed() {
    let (repo, room, checkout) = ready().await;
    let elsewhere = repo.root.join("elsewhere");
    write(&elsewhere.join("private"), "mine");
    fs::remove_dir_all(&checkout.folder).unwrap();
    symlink(&elsewhere, &checkout.folder).unwrap();
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!(settled.findings, [WorkFinding::FolderReplaced]);
    assert!(!settled.uncommitted_changes);
    room.create(&spec(1, 1)).await.unwrap();
    assert!(!fs::symlink_metadata(&checkout.folder).unwrap().is_symlink());
    assert_eq!(fs::read(elsewhere.join("private")).unwrap(), b"mine");
    let kept =
        repo.git(&repo.main, &["ls-tree", "-r", "--name-only", "refs/baton/vault/ATT-0000000000000001"]);
    assert!(!kept.contains("private"), "{kept}");
}

#[tokio::test]
async fn a_clone_has_the_persons_hooks_tags_and_identity() {
    let repo = TestRepo::new();
    let ran = repo.root.join("ran");
    script(&repo.main.join(".git/hooks/pre-commit"), &format!("touch '{}'", ran.display()));
    repo.git(&repo.main, &["tag", "v1"]);
    let checkout = repo.room().await.create(&spec(1, 1)).await.unwrap();
    assert!(!ran.exists());
    repo.commit(&checkout.folder, "a", "a");
    assert!(ran.exists());
    assert_eq!(repo.git(&checkout.folder, &["describe", "--tags", "HEAD~1"]), "v1");
    assert_eq!(repo.git(&checkout.folder, &["config", "--local", "user.name"]), "Human");
}

#[tokio::test]
async fn without_an_identity_agents_can_still_commit() {
    let repo = TestRepo::new();
    fs::write(repo.root.join("home/.gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
    let room = repo.room().await;
    assert!(room.repository().commit_identity().await.unwrap().is_fallback);
    let checkout = room.create(&spec(1, 1)).await.unwrap();
    repo.commit(&checkout.folder, "a", "a");
    assert_eq!(
        repo.git(&checkout.folder, &["log", "-1", "--format=%an <%ae>"]),
        "Baton agent <agent@baton.invalid>"
    );
}

#[tokio::test]
async fn a_lock_that_a_dead_git_left_is_cleared_and_a_new_one_is_not() {
    let (repo, room, checkout) = ready().await;
    let head = repo.commit(&checkout.folder, "a", "a");
    let lock = repo.main.join(".git/refs/heads/baton/TASK-00000001.lock");
    write(&lock, "");
    room.settle(&checkout).await.unwrap_err();
    let old = SystemTime::now() - Duration::from_hours(1);
    for path in [&lock, &repo.main.join(".git/packed-refs.lock")] {
        write(path, "");
        fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    }
    assert_eq!(room.settle(&checkout).await.unwrap().measured.head, head);
    assert!(!lock.exists());
}

#[tokio::test]
async fn a_worktree_of_an_earlier_version_is_found_settled_and_removed() {
    let repo = TestRepo::new();
    let base = repo.head(&repo.main);
    let folder = repo.folder(1);
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    repo.git(
        &repo.main,
        &["worktree", "add", "--quiet", "-b", task_branch(1).as_str(), folder.to_str().unwrap()],
    );
    let reason = "Baton keeps this worktree for ATT-0000000000000001";
    repo.git(&repo.main, &["worktree", "lock", "--reason", reason, folder.to_str().unwrap()]);
    let spare = repo.state.join("worktrees/spare-1");
    repo.git(&repo.main, &["worktree", "add", "--quiet", "--detach", spare.to_str().unwrap()]);
    repo.git(&repo.main, &["update-ref", "refs/baton/base/ATT-0000000000000001", base.as_str()]);
    let head = repo.commit(&folder, "a", "a");
    write(&folder.join("left"), "x");

    let room: Worktrees = repo.room().await;
    let mut next = spec(2, 1);
    next.resumes = Some(attempt(1));
    let checkout = room.create(&next).await.unwrap();
    assert_eq!((&checkout.folder, &checkout.base), (&folder, &base));
    assert_eq!(repo.head(&folder), head);
    assert_eq!(repo.git(&folder, &["status", "--porcelain"]), "?? left");
    assert_eq!(repo.git(&repo.main, &["worktree", "list"]).lines().count(), 1);
    assert!(!spare.exists());
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, settled.uncommitted_changes), (1, true));
    room.retire(attempt(2)).await.unwrap();
    assert!(!folder.exists());
    assert_eq!(room.stock(&branch("main"), 1).await.unwrap(), 1);
}

#[tokio::test]
async fn sparse_checkouts_are_kept_and_an_agents_own_is_no_deletion() {
    let repo = TestRepo::new();
    write(&repo.main.join("src/a"), "a");
    repo.commit(&repo.main, "docs/b", "b");
    let room = repo.room().await;
    let whole = room.create(&spec(1, 1)).await.unwrap();
    repo.git(&whole.folder, &["sparse-checkout", "set", "src"]);
    assert!(!whole.folder.join("docs/b").exists());
    write(&whole.folder.join("src/c"), "c");
    let settled = room.settle(&whole).await.unwrap();
    assert_eq!((settled.measured.files_changed, settled.measured.deletions), (1, 0));

    repo.git(&repo.main, &["sparse-checkout", "set", "docs"]);
    let sparse = room.create(&spec(2, 2)).await.unwrap();
    assert!(sparse.folder.join("docs/b").exists() && !sparse.folder.join("src/a").exists());
    assert_eq!(repo.git(&sparse.folder, &["status", "--porcelain"]), "");
    assert!(!room.settle(&sparse).await.unwrap().uncommitted_changes);
}
