//! Each attempt in a control group of its own, where the system lets Baton make one.

use std::fs;
use std::path::{Path, PathBuf};

use super::store_choice::report_skipped;
use super::test_repo::{TestRepo, read};

/// Where Baton makes groups when it is started from here, or why it cannot.
fn base() -> Result<PathBuf, String> {
    let own = read("/proc/self/cgroup");
    let path = own.lines().find_map(|line| line.strip_prefix("0::/")).ok_or("no cgroup v2")?;
    let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(|mount| Path::new(mount).join(path));
    let base = mounts.into_iter().find(|folder| folder.join("cgroup.subtree_control").exists());
    let base = base.ok_or("cgroup v2 is not mounted")?;
    let tried = base.join(format!("baton-test-{}", std::process::id()));
    fs::create_dir(&tried).map_err(|error| format!("cannot make a group: {error}"))?;
    let can_kill = tried.join("cgroup.kill").exists();
    fs::remove_dir(tried).unwrap();
    if can_kill { Ok(base) } else { Err("groups cannot be killed as one".to_owned()) }
}

/// Writes where it runs, then works when it may.
fn repo(settings: &str) -> TestRepo {
    let repo = TestRepo::with_agent("", settings);
    let home = repo.home.display();
    repo.set_agent(&format!(
        "cat /proc/self/oom_score_adj > {home}/score\nsed -n 's/^0:://p' /proc/self/cgroup > {home}/new\n\
         env -i setsid sh -c 'echo $$ > {home}/escaped; exec tail -f /dev/null' < /dev/null > /dev/null 2>&1 &\n\
         until [ -s {home}/escaped ]; do sleep 0.1; done\nmv {home}/new {home}/group\n\
         until [ -e {home}/go ]; do sleep 0.1; done\nturns 1; work"
    ));
    repo
}

fn group(repo: &TestRepo, base: &Path) -> PathBuf {
    repo.until("the agent says where it runs", || repo.home.join("group").exists());
    let group = read(repo.home.join("group"));
    let name = group.trim().rsplit('/').next().unwrap().to_owned();
    let folder = base.join(name);
    assert!(folder.is_dir(), "{group}");
    folder
}

fn has_escaped(repo: &TestRepo) -> bool {
    Path::new("/proc").join(read(repo.home.join("escaped")).trim()).exists()
}

#[test]
fn an_attempt_has_a_group_which_ends_as_one_and_is_removed() {
    let base = match base() {
        Ok(base) => base,
        Err(reason) => return report_skipped(&reason),
    };
    let repo = repo("[room]\nattempt_memory_mb = 1600");
    let task = repo.add("Look around", &[]);
    let up = repo.up();
    let folder = group(&repo, &base);
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(name, format!("baton-{}-{}", up.pid(), repo.last_attempt(&task)));
    let escaped = read(repo.home.join("escaped"));
    assert!(read(folder.join("cgroup.procs")).contains(escaped.trim()), "it cannot leave by itself");
    if folder.join("memory.max").exists() {
        let megabytes = |name: &str| read(folder.join(name)).trim().parse::<u64>().unwrap() >> 20;
        assert_eq!((megabytes("memory.high"), megabytes("memory.max")), (1_700, 2_000));
    } else {
        report_skipped("the limits of memory, because that is not delegated here");
    }
    fs::write(repo.home.join("go"), "").unwrap();
    repo.until_queue(&task, "provisional");
    assert!(!folder.exists() && !has_escaped(&repo));
    up.end();
}

#[test]
fn the_group_of_a_killed_baton_is_ended_and_removed() {
    let base = match base() {
        Ok(base) => base,
        Err(reason) => return report_skipped(&reason),
    };
    let repo = repo("");
    let task = repo.add("Look around", &[]);
    let up = repo.up();
    let folder = group(&repo, &base);
    up.kill();
    fs::remove_file(repo.home.join("group")).unwrap();
    let up = repo.up();
    repo.until("what was left is gone", || !folder.exists());
    fs::write(repo.home.join("go"), "").unwrap();
    repo.until_queue(&task, "provisional");
    up.end();
}

#[test]
fn the_kernel_takes_agents_first_when_memory_runs_out() {
    let repo = repo("");
    fs::write(repo.home.join("go"), "").unwrap();
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(read(repo.home.join("score")), "500\n");
}
