use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use baton_engine::git::{FILE_BYTES_MAX, GitError, IGNORED_BYTES_MAX};

use crate::repo::{TestRepo, attempt, ready, spec, write};

const VAULT: &str = "refs/baton/vault/ATT-0000000000000001";

#[tokio::test]
async fn i17_everything_is_kept_before_it_is_removed_and_comes_back() {
    let (repo, room, checkout) = ready().await;
    let committed = repo.commit(&checkout.folder, ".gitignore", "*.secret\n");
    write(&checkout.folder.join("README"), "changed");
    write(&checkout.folder.join("new/file"), "new");
    write(&checkout.folder.join("a.secret"), "ignored");
    write(&checkout.folder.join("crlf.txt"), "a\r\nb\r\n");
    write(&checkout.folder.join(".gitattributes"), "*.txt text eol=lf\n");
    fs::create_dir(checkout.folder.join("empty")).unwrap();
    let index = checkout.folder.join(".git/index");
    let before = fs::read(&index).unwrap();
    let vaulted = room.vault(checkout.attempt).await.unwrap();
    assert!(vaulted.faults.is_empty() && vaulted.left_out.is_empty());
    assert_eq!(fs::read(&index).unwrap(), before);
    assert_eq!(repo.tip(VAULT), Some(vaulted.commit.clone()));
    assert_eq!(repo.tip(&format!("{VAULT}^1")), Some(committed));

    let retired = room.retire(checkout.attempt).await.unwrap();
    assert!(retired.removed && !checkout.folder.exists());
    assert_eq!(repo.git(&repo.main, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    let back = repo.root.join("some/where/back");
    let restored = room.restore(checkout.attempt, &back).await.unwrap();
    assert_eq!(restored.files, 6);
    for (file, text) in
        [("README", "changed"), ("new/file", "new"), ("a.secret", "ignored"), ("crlf.txt", "a\r\nb\r\n")]
    {
        assert_eq!(fs::read(back.join(file)).unwrap(), text.as_bytes(), "{file}");
    }
    assert!(back.join("empty").is_dir());
    assert!(!back.join(".git").exists());
    assert_eq!(repo.fsck(), "");
}

#[tokio::test]
async fn keeping_twice_keeps_once_and_a_change_keeps_both_states() {
    let (repo, room, checkout) = ready().await;
    write(&checkout.folder.join("a"), "one");
    repo.git(&checkout.folder, &["add", "a"]);
    write(&checkout.folder.join("a"), "two");
    let first = room.vault(checkout.attempt).await.unwrap().commit;
    assert_eq!(room.vault(checkout.attempt).await.unwrap().commit, first);
    write(&checkout.folder.join("a"), "three");
    let second = room.vault(checkout.attempt).await.unwrap().commit;
    assert_ne!(first, second);
    assert_eq!(repo.git(&repo.main, &["show", &format!("{second}:a")]), "three");
    assert_eq!(repo.git(&repo.main, &["show", &format!("{first}:a")]), "two");
    repo.git(&repo.main, &["merge-base", "--is-ancestor", first.as_str(), second.as_str()]);
}

#[tokio::test]
async fn other_kinds_of_repositories_work_too() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let repo = TestRepo::empty();
        fs::remove_dir_all(repo.main.join(".git")).unwrap();
        let (is_known, _) = repo.try_git(&repo.main, &["init", "--quiet", format]);
        if !is_known {
            // An older git, within those we take, does not have it.
            continue;
        }
        repo.commit(&repo.main, "README", "hello\n");
        let room = repo.room().await;
        let checkout = room.create(&spec(1, 1)).await.unwrap();
        let lost = repo.commit(&checkout.folder, "a", "a");
        repo.git(&checkout.folder, &["reset", "--quiet", "--hard", "HEAD~1"]);
        write(&checkout.folder.join("b"), "b");
        assert!(room.settle(&checkout).await.unwrap().uncommitted_changes, "{format}");
        room.retire(checkout.attempt).await.unwrap();
        repo.git(&repo.main, &["gc", "--quiet", "--prune=now"]);
        assert_eq!(repo.git(&repo.main, &["show", &format!("{lost}:a")]), "a", "{format}");
        room.restore(checkout.attempt, &repo.root.join("back")).await.unwrap();
        assert_eq!(fs::read(repo.root.join("back/b")).unwrap(), b"b");
    }
}

#[tokio::test]
async fn what_was_only_staged_is_kept() {
    let (repo, room, checkout) = ready().await;
    write(&checkout.folder.join("a"), "staged and then deleted");
    repo.git(&checkout.folder, &["add", "a"]);
    let blob = repo.git(&checkout.folder, &["rev-parse", ":a"]);
    fs::remove_file(checkout.folder.join("a")).unwrap();
    room.retire(checkout.attempt).await.unwrap();
    repo.git(&repo.main, &["gc", "--quiet", "--prune=now"]);
    assert_eq!(repo.git(&repo.main, &["cat-file", "blob", &blob]), "staged and then deleted");
}

#[tokio::test]
async fn a_conflict_in_the_middle_is_kept() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, "README", "ours\n");
    let theirs = repo.commit(&repo.main, "README", "theirs\n");
    let (merged, _) = repo.try_git(&checkout.folder, &["merge", theirs.as_str()]);
    assert!(!merged);
    room.retire(checkout.attempt).await.unwrap();
    assert!(repo.git(&repo.main, &["show", &format!("{VAULT}:README")]).contains("<<<<<<<"));
}

#[tokio::test]
async fn a_nested_repository_keeps_its_files_and_its_history() {
    let (repo, room, checkout) = ready().await;
    let inner = checkout.folder.join("inner");
    fs::create_dir(&inner).unwrap();
    repo.git(&inner, &["init", "--quiet"]);
    let commit = repo.commit(&inner, "a", "a");
    write(&inner.join("b"), "b");
    room.retire(checkout.attempt).await.unwrap();
    let listed = repo.git(&repo.main, &["ls-tree", "-r", VAULT]);
    assert!(!listed.contains("160000"), "{listed}");
    let back = repo.root.join("back");
    room.restore(checkout.attempt, &back).await.unwrap();
    assert_eq!(repo.head(&back.join("inner")), commit);
    assert_eq!(repo.git(&back.join("inner"), &["status", "--porcelain"]), "?? b");
    assert_eq!(repo.fsck(), "");
}

#[tokio::test]
async fn a_worktree_turned_into_a_repository_of_its_own_is_kept_with_its_history() {
    let (repo, room, checkout) = ready().await;
    fs::remove_dir_all(checkout.folder.join(".git")).unwrap();
    repo.git(&checkout.folder, &["init", "--quiet"]);
    let commit = repo.commit(&checkout.folder, "a", "a");
    // The next start of the same attempt needs a sound worktree; the strange one goes to the vault.
    let again = room.create(&spec(1, 1)).await.unwrap();
    assert!(!again.folder.join("a").exists());
    assert_eq!(repo.head(&again.folder), again.base);
    let back = repo.root.join("back");
    room.restore(checkout.attempt, &back).await.unwrap();
    assert_eq!(repo.head(&back), commit);
}

#[tokio::test]
async fn large_build_output_is_left_out_and_listed() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, ".gitignore", "target\nnode_modules\n.env\ncache\n");
    for folder in ["target", "node_modules", "cache"] {
        write(&checkout.folder.join(folder).join("big"), "");
        let file = fs::File::options().write(true).open(checkout.folder.join(folder).join("big")).unwrap();
        file.set_len(IGNORED_BYTES_MAX + 1).unwrap();
    }
    write(&checkout.folder.join("cache/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55");
    write(&checkout.folder.join(".env"), "SECRET=1");
    let retired = room.retire(checkout.attempt).await.unwrap();
    let left: Vec<_> = retired.vaulted.left_out.iter().map(|left| left.path.display().to_string()).collect();
    assert_eq!(left, ["cache", "node_modules", "target"]);
    let files = repo.git(&repo.main, &["ls-tree", "-r", "--name-only", VAULT]);
    assert_eq!(files, ".env\n.gitignore\nREADME");
}

#[tokio::test]
async fn small_build_output_is_kept_too() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, ".gitignore", "target\n");
    write(&checkout.folder.join("target/out"), "x");
    let retired = room.retire(checkout.attempt).await.unwrap();
    assert!(retired.vaulted.left_out.is_empty());
    assert_eq!(repo.git(&repo.main, &["show", &format!("{VAULT}:target/out")]), "x");
}

#[tokio::test]
async fn a_large_ignored_file_that_nothing_rebuilds_keeps_the_worktree() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, ".gitignore", "*.db\n");
    let file = fs::File::create(checkout.folder.join("work.db")).unwrap();
    file.set_len(IGNORED_BYTES_MAX + 1).unwrap();
    let error = room.retire(checkout.attempt).await.unwrap_err();
    assert!(matches!(&error, GitError::NotKept { .. }), "{error}");
    assert!(error.to_string().contains("work.db"), "{error}");
    assert!(checkout.folder.join("work.db").exists());
    fs::remove_file(checkout.folder.join("work.db")).unwrap();
    room.retire(checkout.attempt).await.unwrap();
}

#[tokio::test]
async fn a_file_too_large_for_git_keeps_the_worktree() {
    let (_repo, room, checkout) = ready().await;
    fs::File::create(checkout.folder.join("huge")).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
    let vaulted = room.vault(checkout.attempt).await.unwrap();
    assert_eq!(vaulted.faults.len(), 1);
    room.retire(checkout.attempt).await.unwrap_err();
    assert!(checkout.folder.join("huge").exists());
}

#[tokio::test]
async fn a_file_that_cannot_be_read_keeps_the_worktree() {
    let (_repo, room, checkout) = ready().await;
    let closed = checkout.folder.join("closed");
    write(&closed, "x");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&closed).is_ok() {
        // Root reads everything; the two tests above show the same door with other faults.
        return;
    }
    let error = room.retire(checkout.attempt).await.unwrap_err();
    assert!(error.to_string().contains("closed"), "{error}");
    assert!(closed.exists());
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o600)).unwrap();
    room.retire(checkout.attempt).await.unwrap();
}

#[tokio::test]
async fn folders_without_write_permission_pipes_and_sockets_are_removed() {
    let (_repo, room, checkout) = ready().await;
    write(&checkout.folder.join("module/cache"), "x");
    fs::set_permissions(checkout.folder.join("module"), fs::Permissions::from_mode(0o555)).unwrap();
    assert!(Command::new("mkfifo").arg(checkout.folder.join("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(checkout.folder.join("sock")).unwrap();
    room.retire(checkout.attempt).await.unwrap();
    assert!(!checkout.folder.exists());
}

#[tokio::test]
async fn a_crash_between_the_steps_of_a_removal_loses_nothing() {
    let (repo, room, checkout) = ready().await;
    write(&checkout.folder.join("work"), "x");
    room.vault(checkout.attempt).await.unwrap();
    // Killed after the folder was moved aside and before git forgot it.
    fs::rename(&checkout.folder, repo.state.join("trash/ATT-0000000000000001")).unwrap();
    let retired = room.retire(checkout.attempt).await.unwrap();
    assert!(retired.removed);
    assert!(!repo.state.join("trash/ATT-0000000000000001").exists());
    assert_eq!(repo.git(&repo.main, &["show", &format!("{VAULT}:work")]), "x");
    let again = room.retire(checkout.attempt).await.unwrap();
    assert!(!again.removed);
    assert_eq!(again.vaulted.commit, retired.vaulted.commit);
}

#[tokio::test]
async fn a_vault_survives_the_branch_and_gc() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, "a", "a");
    write(&checkout.folder.join("b"), "b");
    room.retire(checkout.attempt).await.unwrap();
    repo.git(&repo.main, &["branch", "--quiet", "-D", "baton/TASK-00000001"]);
    repo.git(&repo.main, &["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&repo.main, &["gc", "--quiet", "--prune=now"]);
    let back = repo.root.join("back");
    assert_eq!(room.restore(checkout.attempt, &back).await.unwrap().files, 3);
}

#[tokio::test]
async fn restoring_needs_a_vault_and_a_new_folder() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    let error = room.restore(attempt(1), &repo.root.join("back")).await.unwrap_err();
    assert!(matches!(error, GitError::NoVault { .. }), "{error}");
    room.create(&spec(1, 1)).await.unwrap();
    room.vault(attempt(1)).await.unwrap();
    let error = room.restore(attempt(1), &repo.main).await.unwrap_err();
    assert!(matches!(error, GitError::Exists { .. }), "{error}");
    let error = room.vault(attempt(2)).await.unwrap_err();
    assert!(matches!(error, GitError::NoWorktree { .. }), "{error}");
}
