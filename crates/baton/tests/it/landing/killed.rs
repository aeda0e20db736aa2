//! A killed Baton leaves the branch at a commit that passed, and the lane as it was.

use super::{adding_agent, assert_green, own_history};

#[test]
fn i18_killed_in_the_middle_of_a_check_it_goes_on_after_a_restart() {
    let repo = adding_agent("true", "exit 1");
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    // The first run hangs until it is killed with Baton.
    let (begun, go) = (repo.home.join("begun"), repo.home.join("go"));
    let check = format!("touch {}; test -e {} || exec tail -f /dev/null", begun.display(), go.display());
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, settings.replace("'''true'''", &format!("'''{check}'''"))).unwrap();

    let up = repo.up();
    let before = repo.git(&["rev-parse", "baton/next"]);
    repo.stdout(&["accept", &task, "--no-wait"]);
    repo.until("the check runs", || begun.exists());
    up.kill();
    assert_eq!(repo.git(&["rev-parse", "baton/next"]), before);
    assert_eq!(repo.queue(&task), "landing");

    std::fs::write(&go, "").unwrap();
    repo.work_until(&[(&task, "done")]);
    assert_eq!(own_history(&repo).len(), 1);
    assert_green(&repo, "test -e a.txt");
}
