//! User tasks that keep running beside an agent.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::test_repo::{TestRepo, read};
use crate::server::client::get;

/// The agent waits for the file `go`, then does its work.
const WAITS: &str = "until [ -e \"$GO\" ]; do sleep 0.1; done\nturns 1\nwork";

/// With a service that runs this command.
fn repo(command: &str) -> TestRepo {
    let settings =
        "[worktree]\nservices = [\"dev\"]\nreuse = [\"modules\"]\n[worktree.values]\nPORT = { port = 43500 }";
    let mut repo = TestRepo::with_agent("", settings);
    let go = repo.home.join("go").display().to_string();
    let prompts = repo.home.join("prompts").display().to_string();
    repo.set_agent(&format!("GO={go}\necho \"$prompt\" >> {prompts}\n{WAITS}"));
    repo.variables.push(("XDG_STATE_HOME".to_owned(), repo.home.join("state").display().to_string()));
    let command = command.replace("HOME_FOLDER", &repo.home.display().to_string());
    let tasks =
        format!("version: '3'\ntasks:\n  dev:\n    silent: true\n    cmds:\n      - |\n        {command}\n");
    fs::write(repo.folder.join(".agent/Taskfile.yml"), tasks).unwrap();
    fs::create_dir(repo.folder.join("modules")).unwrap();
    fs::write(repo.folder.join("modules/pad.js"), "pad\n").unwrap();
    repo
}

const RUNS: &str = "sh -c 'echo listening on $PORT; echo $$ > HOME_FOLDER/pid.new; mv HOME_FOLDER/pid.new HOME_FOLDER/pid; exec tail -f /dev/null'";

fn service(repo: &TestRepo, task: &str) -> Value {
    repo.show(task)["environment"]["services"][0].clone()
}

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid).join("environ").exists()
        && fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn pid(repo: &TestRepo) -> String {
    let file = repo.home.join("pid");
    repo.until("the service runs", || file.exists());
    read(file).trim().to_owned()
}

#[test]
fn a_service_runs_beside_the_agent_and_ends_with_its_attempt() {
    let repo = repo(RUNS);
    let task = repo.add("Look", &[]);
    let up = repo.up();
    let pid = pid(&repo);
    let shown = service(&repo, &task);
    assert!(shown["is_running"].as_bool().unwrap(), "{shown}");
    let port = repo.show(&task)["environment"]["values"]["PORT"].as_str().unwrap().to_owned();
    assert_eq!(shown["url"], format!("http://127.0.0.1:{port}"));
    assert!(repo.stdout(&["task", "show", &task]).contains("Service dev at http://127.0.0.1:"));
    let line = up.wait_for_line("Listening on http://");
    let address = line.split("http://").nth(1).unwrap().trim();
    let page = get(address, &format!("/tasks/{task}/details")).body;
    for part in [&format!("href=\"http://127.0.0.1:{port}\""), "<code>modules</code>", " MB, "] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(is_alive(&pid));
    fs::write(repo.home.join("go"), "").unwrap();
    repo.until_queue(&task, "provisional");
    repo.until("the service ends", || !is_alive(&pid));
    up.end();
    let shown = service(&repo, &task);
    assert_eq!((shown["is_running"].as_bool(), shown.get("ended")), (Some(false), None), "{shown}");
    let log = repo.state().join("attempts").join(repo.last_attempt(&task)).join("service-dev.log");
    assert_eq!(read(log), format!("listening on {port}\n"));
}

#[test]
fn a_service_ends_when_baton_is_killed() {
    let repo = repo(RUNS);
    let _task = repo.add("Look", &[]);
    let up = repo.up();
    let pid = pid(&repo);
    up.kill();
    repo.until("the service ends", || !is_alive(&pid));
}

#[test]
fn a_service_that_fails_is_shown_and_told_once_and_not_restarted() {
    let repo = repo("echo start >> HOME_FOLDER/starts; echo no database; exit 3");
    let task = repo.add("Look", &[]);
    let up = repo.up();
    repo.until("the end is shown", || service(&repo, &task)["ended"].is_string());
    let shown = service(&repo, &task)["ended"].as_str().unwrap().to_owned();
    assert!(shown.contains("exit code 3") && shown.contains("no database"), "{shown}");
    fs::write(repo.home.join("go"), "").unwrap();
    repo.until_queue(&task, "provisional");
    // An agent that has ended is not started again for it: the next prompt has it.
    let prompts = || read(repo.home.join("prompts"));
    assert_eq!((prompts().matches("# Look").count(), repo.attempts(&task).len()), (1, 1), "{}", prompts());
    repo.stdout(&["reject", &task, "--reason", "Use the database"]);
    repo.until("the second attempt is over", || {
        repo.queue(&task) == "provisional" && repo.attempts(&task).len() == 2
    });
    up.end();
    assert_eq!(read(repo.home.join("starts")).lines().count(), 2, "once for each attempt");
    assert_eq!(prompts().matches("has ended and is not started again").count(), 1, "{}", prompts());
    assert!(prompts().contains("## Baton says"), "{}", prompts());
}
