//! What a worktree has beside its code: folders that are reused, values of its own, and a clean-up.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

use super::test_repo::{TestRepo, read};

/// With a place of its own for what tasks have on this machine.
fn repo(agent: &str, settings: &str, taskfile: &str) -> TestRepo {
    let mut repo = TestRepo::with_agent(agent, settings);
    repo.variables.push(("XDG_STATE_HOME".to_owned(), repo.home.join("state").display().to_string()));
    fs::write(repo.folder.join(".agent/Taskfile.yml"), taskfile).unwrap();
    repo
}

fn environment(repo: &TestRepo, task: &str) -> Value {
    repo.show(task)["environment"].clone()
}

const NO_TASKS: &str = "version: '3'\n";

#[test]
fn folders_of_the_checkout_are_there_and_are_not_the_agents_work() {
    let agent = "cat modules/pad.js > seen.txt; echo changed > modules/pad.js; work";
    let repo = repo(agent, "[worktree]\nreuse = [\"modules\", \"not/there\"]", NO_TASKS);
    fs::create_dir(repo.folder.join("modules")).unwrap();
    fs::write(repo.folder.join("modules/pad.js"), "pad\n").unwrap();
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let folder = &environment(&repo, &task)["reused"][0];
    assert_eq!(
        (&folder["path"], &folder["files"], &folder["bytes"]),
        (&json!("modules"), &json!(1), &json!(4))
    );
    assert!(["reflink", "copy"].contains(&folder["way"].as_str().unwrap()), "{folder}");
    assert!(repo.stdout(&["task", "show", &task]).contains("Reused: modules by "));
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.git(&["show", "baton/next:seen.txt"]), "pad");
    assert!(!repo.try_git(&["show", "baton/next:modules/pad.js"]).0, "it is not committed, ignored or not");
    assert_eq!(read(repo.folder.join("modules/pad.js")), "pad\n", "your checkout is as it was");
}

#[test]
fn a_person_may_have_reused_files_linked() {
    let script = "stat -c %i modules/pad.js > inode.txt; work";
    let repo = repo(script, "[worktree]\nreuse = [\"modules\"]\nreuse_links = true", NO_TASKS);
    fs::create_dir(repo.folder.join("modules")).unwrap();
    let file = repo.folder.join("modules/pad.js");
    fs::write(&file, "pad\n").unwrap();
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let way = environment(&repo, &task)["reused"][0]["way"].as_str().unwrap().to_owned();
    let inode = repo.git(&["show", &format!("baton/{task}:inode.txt")]);
    let is_same = inode.trim() == fs::metadata(file).unwrap().ino().to_string();
    assert_eq!(is_same, way == "hard_link", "{way}");
    assert_ne!(way, "copy");
}

/// Every command that runs for a task writes what it got.
fn values_settings(home: &Path) -> String {
    let log = |name: &str| format!("echo {name} $PORT $DB >> {}/seen", home.display());
    format!(
        "checks = {{seen = [\"sh\", \"-c\", \"{}\"]}}\n[worktree]\nsetup = \"prepare\"\ncleanup = \"drop\"\n\
         [worktree.values]\nPORT = {{ port = 43000 }}\nDB = {{ name = \"app\" }}\n[hooks]\nrun_as = \"person\"\n\
         before_attempt = [\"sh\", \"-c\", \"{}\"]\n",
        log("check"),
        log("hook")
    )
}

fn values_repo(agent: &str) -> TestRepo {
    let repo = repo(agent, "", NO_TASKS);
    let path = repo.folder.join(".agent/baton.toml");
    let text = read(&path);
    let (head, agents) = text.split_once("[agents.mine]").unwrap();
    fs::write(&path, format!("{head}{}[agents.mine]{agents}", values_settings(&repo.home))).unwrap();
    let log = |name: &str| format!("echo {name} $PORT $DB >> {}/seen", repo.home.display());
    let tasks = format!(
        "version: '3'\ntasks:\n  prepare: {{cmds: ['{}'], silent: true}}\n  drop: {{cmds: ['{}'], silent: true}}\n",
        log("setup"),
        log("cleanup")
    );
    fs::write(repo.folder.join(".agent/Taskfile.yml"), tasks).unwrap();
    repo
}

fn seen(repo: &TestRepo) -> Vec<String> {
    let text = fs::read_to_string(repo.home.join("seen")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_task_has_values_of_its_own_everywhere_and_until_it_ends() {
    let asks = r#"echo agent $PORT $DB >> "$SEEN"
if [ -z "${BATON_RESUME:-}" ]; then echo '{"baton":"ask","question":"Which colour?"}'; else turns 1; work; fi"#;
    let repo = values_repo("");
    repo.set_agent(&format!("SEEN={}/seen\n{asks}", repo.home.display()));
    let (one, other) = (repo.add("One", &[]), repo.add("Other", &[]));
    let up = repo.up();
    for task in [&one, &other] {
        repo.until("it asks", || repo.status(task) == "AWAITING_RESPONSE");
    }
    let (mine, theirs) =
        (environment(&repo, &one)["values"].clone(), environment(&repo, &other)["values"].clone());
    for name in ["PORT", "DB"] {
        assert!(mine[name].is_string() && mine[name] != theirs[name], "{mine} {theirs}");
    }
    let words = format!("{} {}", mine["PORT"].as_str().unwrap(), mine["DB"].as_str().unwrap());
    // Killed and resumed: the values stay.
    up.kill();
    let up = repo.up();
    repo.stdout(&["task", "reply", &one, "Green"]);
    repo.until_queue(&one, "provisional");
    repo.stdout(&["accept", &one]);
    repo.until_queue(&one, "done");
    repo.until("the clean-up", || seen(&repo).contains(&format!("cleanup {words}")));
    let all = seen(&repo);
    let count = |who: &str| all.iter().filter(|line| **line == format!("{who} {words}")).count();
    assert_eq!((count("setup"), count("agent"), count("hook")), (1, 2, 2), "{all:#?}");
    // Of a run over accepted work, the checks have values that no task has.
    assert_eq!(count("check"), 1, "{all:#?}");
    // Free again, and the other task's are not.
    let third = repo.add("Third", &[]);
    repo.until("it asks", || repo.status(&third) == "AWAITING_RESPONSE");
    up.end();
    assert_eq!(environment(&repo, &third)["values"]["DB"], mine["DB"]);
    let values = read(repo.home.join("state/baton/values.json"));
    assert!(values.contains(&other) && !values.contains(&one), "{values}");
}

#[test]
fn a_worktree_stays_while_its_clean_up_fails() {
    let repo = values_repo("turns 1; work");
    let broken = "version: '3'\ntasks:\n  prepare: {cmds: ['true']}\n  drop: {cmds: ['test -e ../../../../../may-go'], silent: true}\n";
    fs::write(repo.folder.join(".agent/Taskfile.yml"), broken).unwrap();
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let folder = repo.state().join("worktrees").join(repo.last_attempt(&task));
    repo.stdout(&["accept", &task]);
    repo.until_queue(&task, "done");
    repo.until("the failure is told", || {
        repo.stdout(&["task", "show", &task]).contains("cannot clean up the worktree")
    });
    assert!(folder.is_dir());
    fs::write(repo.home.join("may-go"), "").unwrap();
    repo.until("the worktree is removed", || !folder.exists());
    up.end();
}
