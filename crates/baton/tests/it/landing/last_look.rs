//! A person takes a commit back after the checks have passed, in the last moment before the branch moves.

use std::os::unix::fs::PermissionsExt;

use super::person_branch::{CHECK, commit, land_one, next};
use super::withdrawn::{AS_TOLD, has};
use super::{adding_agent, assert_green, set_settings};
use crate::engine::test_repo::{TestRepo, read};

/// A repository whose check says when it has run in a lane.
fn with_watched_check() -> TestRepo {
    let repo = adding_agent(CHECK, AS_TOLD);
    let settings = read(repo.folder.join(".agent/baton.toml"));
    let passed = repo.home.join("passed").display().to_string();
    let check = format!(r#"{CHECK} && case "$PWD" in *worktrees*) ;; *) touch {passed} ;; esac"#);
    set_settings(&repo, &settings.replace(CHECK, &check));
    land_one(&repo, "Add a.txt");
    repo
}

/// From now on Baton's git takes the person's last commit back, once, when the passed work is built again to land.
fn take_back_at_the_end(repo: &mut TestRepo) {
    let path = std::env::var("PATH").unwrap();
    let real =
        path.split(':').map(|folder| format!("{folder}/git")).find(|git| std::fs::exists(git).unwrap());
    let (real, home, folder) = (real.unwrap(), repo.home.display(), repo.folder.display());
    let script = format!(
        r#"#!/bin/sh
case " $* " in *" merge-tree "*)
  if test -e {home}/passed && mkdir {home}/taken-back 2> /dev/null; then
    env -i HOME={home} PATH="$PATH" {real} -C {folder} reset -q --hard HEAD~1
  fi ;;
esac
exec {real} "$@"
"#
    );
    let bin = repo.home.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("git"), script).unwrap();
    std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let _ = std::fs::remove_file(repo.home.join("passed"));
    repo.variables.push(("PATH".to_owned(), format!("{}:{path}", bin.display())));
}

#[test]
fn i18_a_commit_that_is_taken_back_in_the_last_moment_does_not_land_with_the_work() {
    let mut repo = with_watched_check();
    repo.git(&["merge", "-q", "baton/next"]);
    commit(&repo, "dropped.txt");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let before = next(&repo);
    take_back_at_the_end(&mut repo);
    let output = repo.output(&["accept", &task]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(repo.home.join("taken-back").exists(), "{printed}");
    assert!(printed.contains(&format!("{task}  sent back: it contains ")), "{printed}");
    assert_eq!(next(&repo), before, "nothing has landed");
}

#[test]
fn i18_a_commit_that_is_taken_back_in_the_last_moment_does_not_come_in_beside_the_work() {
    let mut repo = with_watched_check();
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    repo.git(&["merge", "-q", "baton/next"]);
    commit(&repo, "dropped.txt");
    take_back_at_the_end(&mut repo);
    let printed = repo.stdout(&["accept", &task]);
    assert!(repo.home.join("taken-back").exists(), "{printed}");
    assert!(printed.contains(&format!("{task}  landed")), "{printed}");
    assert!(has(&repo, "baton/next", "b.txt") && !has(&repo, "baton/next", "dropped.txt"));
    assert_green(&repo, CHECK);
}
