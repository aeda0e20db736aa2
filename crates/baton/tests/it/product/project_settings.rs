//! Several projects under one `baton up`: each goes by its own settings, and a broken one disturbs no other.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::engine::test_repo::{SHELL_FUNCTIONS, TestRepo};

const PREPARE: &str = "version: '3'\ntasks: {prepare: {cmds: ['echo made > made.txt'], silent: true}}\n";

/// Another repository with these settings, and its project.
pub(super) fn project(repo: &TestRepo, name: &str, settings: &str) -> (PathBuf, String) {
    let folder = repo.home.join(name);
    std::fs::create_dir_all(folder.join(".agent")).unwrap();
    std::fs::write(folder.join(".agent/baton.toml"), settings).unwrap();
    let at = folder.display().to_string();
    repo.git(&["init", "-q", "-b", "main", &at]);
    repo.git(&["-C", &at, "add", "-A"]);
    repo.git(&["-C", &at, "commit", "-q", "-m", "Begin"]);
    let made = repo.json(&["project", "create", name, "--path", &at]);
    (folder, made["project_id"].as_str().unwrap().to_owned())
}

pub(super) fn add(repo: &TestRepo, title: &str, project: &str) -> String {
    let added = repo.json(&["task", "add", title, "--project", project]);
    added["task_id"].as_str().unwrap().to_owned()
}

fn checks(repo: &TestRepo, task: &str) -> Vec<Value> {
    let ended = repo.attempts(task).pop().unwrap();
    let checks = ended["closing"]["end"]["verified"]["checks"].as_array().cloned().unwrap_or_default();
    checks.into_iter().map(|check| check["name"].clone()).collect()
}

fn questions(repo: &TestRepo) -> Vec<Value> {
    repo.json(&["questions"])["questions"].as_array().unwrap().clone()
}

#[test]
fn each_project_goes_by_its_own_settings_and_a_broken_one_disturbs_no_other() {
    let repo = TestRepo::with_working_agent("accept_when = \"green\"\nchecks = {serving = [\"true\"]}");
    let (own, sound) = project(
        &repo,
        "sound",
        "checks = {own = [\"test\", \"-f\", \"made.txt\"]}\n[worktree]\nsetup = \"prepare\"\n",
    );
    std::fs::write(own.join(".agent/Taskfile.yml"), PREPARE).unwrap();
    let (folder, broken) = project(&repo, "broken", "[worktree]\nsetup = \"prepare\"\n");
    let (_, unreadable) = project(&repo, "unreadable", "chekcs = []\n");

    let waiting: Vec<String> =
        (0..3).map(|number| add(&repo, &format!("Broken {number}"), &broken)).collect();
    let unread = add(&repo, "Unread", &unreadable);
    let home = repo.add("At home", &[]);
    let working: Vec<String> = (0..3).map(|number| add(&repo, &format!("Sound {number}"), &sound)).collect();
    let up = repo.up();
    for task in &working {
        repo.until_queue(task, "provisional");
        assert_eq!(checks(&repo, task), [json!("own")], "{}", repo.show(task));
    }
    repo.until_queue(&home, "done");
    assert_eq!(checks(&repo, &home), [json!("serving")]);

    // One question for each broken project, and no agent on hold.
    repo.until("both questions", || questions(&repo).len() == 2);
    let asked = questions(&repo);
    let find = |word: &str| asked.iter().find(|one| one.to_string().contains(word)).unwrap();
    assert!(find("no .agent/Taskfile.yml").to_string().contains(&folder.display().to_string()), "{asked:#?}");
    assert_eq!(find("chekcs")["task_id"], unread.as_str());
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    let is_asking = |task: &&String| repo.status(task) == "AWAITING_RESPONSE";
    assert_eq!(waiting.iter().filter(is_asking).count(), 1);
    for task in waiting.iter().filter(|task| !is_asking(task)) {
        assert_eq!(repo.show(task)["not_started"]["code"], "project_held");
    }
    // I22: a no is no way to let the others start.
    let held_by = find("no .agent/Taskfile.yml")["id"].as_str().unwrap();
    for no in ["no", "not now", "stop", "Nein, noch nicht"] {
        let refused = repo.output(&["answer", held_by, no]);
        assert_eq!(refused.status.code(), Some(2), "{no}: {refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("YES"), "{refused:?}");
    }
    assert_eq!(waiting.iter().filter(is_asking).count(), 1);

    std::fs::write(folder.join(".agent/Taskfile.yml"), PREPARE).unwrap();
    let first = waiting.iter().find(is_asking).unwrap();
    repo.stdout(&["task", "reply", first, "YES"]);
    for task in &waiting {
        // A person accepts here, after no check: neither is the serving repository's business.
        repo.until_queue(task, "provisional");
        assert_eq!(checks(&repo, task), Vec::<Value>::new());
    }
    up.end();
}

#[test]
fn a_project_with_a_remote_goes_by_the_settings_of_the_remote_once_they_are_allowed() {
    let mut repo = TestRepo::with_working_agent("checks = {serving = [\"true\"]}");
    repo.variables.push(("XDG_CONFIG_HOME".to_owned(), repo.home.join("config").display().to_string()));
    let own = "checks = {own = [\"test\", \"-f\", \"made.txt\"]}\n[worktree]\nsetup = \"prepare\"\n";
    let folder = repo.home.join("app");
    std::fs::create_dir_all(folder.join(".agent")).unwrap();
    std::fs::write(folder.join(".agent/baton.toml"), own).unwrap();
    std::fs::write(folder.join(".agent/Taskfile.yml"), PREPARE).unwrap();
    let (at, remote) = (folder.display().to_string(), repo.home.join("app.git").display().to_string());
    repo.git(&["init", "-q", "-b", "main", &at]);
    repo.git(&["-C", &at, "add", "-A"]);
    repo.git(&["-C", &at, "commit", "-q", "-m", "Begin"]);
    repo.git(&["clone", "-q", "--bare", &at, &remote]);
    let made = repo.json(&["project", "create", "App", "--remote", &remote]);
    let task = add(&repo, "Work", made["project_id"].as_str().unwrap());
    let up = repo.up();
    // What came with it starts nothing before a person has allowed it.
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("checks.own: test -f made.txt"), "{asked}");
    let command = asked.split("then run: baton ").nth(1).unwrap().split(" trust").next().unwrap();
    let words: Vec<&str> = command.split(' ').chain(["trust"]).collect();
    assert!(repo.stdout(&words).contains("checks.own"), "{words:?}");
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");
    assert_eq!(checks(&repo, &task), [json!("own")], "{}", repo.show(&task));
    up.end();
}

#[test]
fn two_clones_of_one_repository_are_two_projects_that_both_work() {
    let repo = TestRepo::with_working_agent("");
    let (folder, first) = project(&repo, "first", "");
    let twin = repo.home.join("twin");
    let (from, to) = (folder.display().to_string(), twin.display().to_string());
    repo.git(&["clone", "-q", &from, &to]);
    let up = repo.up();
    let before = add(&repo, "In the first", &first);
    repo.until_queue(&before, "provisional");
    let made = repo.json(&["project", "create", "Twin", "--path", &to]);
    let task = add(&repo, "In the twin", made["project_id"].as_str().unwrap());
    repo.until_queue(&task, "provisional");
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    up.end();
}

#[test]
fn what_becomes_of_questions_is_said_by_the_project_that_asks() {
    let asks = r#"turns 1; echo '{"baton":"ask","question":"Which port?"}'"#;
    let repo = TestRepo::with_agent(asks, "[asking]\nunattended = \"fail\"");
    let (_, patient) = project(&repo, "patient", "");
    let (home, other) = (repo.add("At home", &[]), add(&repo, "Elsewhere", &patient));
    let up = repo.up();
    repo.until_queue(&home, "failed");
    repo.until("it asks", || repo.status(&other) == "AWAITING_RESPONSE");
    // The other one was asked about after this; whatever is answered without a person is answered by now.
    let later = add(&repo, "Later", &patient);
    repo.until("it asks, too", || repo.status(&later) == "AWAITING_RESPONSE");
    assert_eq!(repo.status(&other), "AWAITING_RESPONSE");
    up.end();
}

/// A repository whose agent tries to write outside of its worktree, and which decides nothing about other projects.
pub(super) fn fenced_repo() -> TestRepo {
    let mut repo = TestRepo::of(|home| {
        let script = format!(
            "set -eu\ncat > /dev/null\n{SHELL_FUNCTIONS}\necho x > {}/outside-$BATON_TASK_ID || true\nturns 1; work\n",
            home.display()
        );
        std::fs::write(home.join("agent.sh"), script).unwrap();
        let agent = home.join("agent.sh").display().to_string();
        format!(
            "default_agent = \"mine\"\n[agents.mine]\nkind = \"command\"\ncommand = [\"sh\", \"{agent}\"]\nfence = \"off\"\n\
                 fence_read = [\"{agent}\"]\n"
        )
    });
    repo.variables.retain(|(name, _)| name != "BATON_FENCE");
    repo
}

#[test]
fn i21_how_agents_are_confined_is_said_by_the_project() {
    let mut repo = fenced_repo();
    repo.variables.push(("BATON_FENCE".to_owned(), "strict".to_owned()));
    let (_, strict) = project(&repo, "strict", "");
    let (home, fenced) = (repo.add("At home", &[]), add(&repo, "Elsewhere", &strict));
    repo.work_until(&[(&home, "provisional"), (&fenced, "provisional")]);
    let has_written = |task: &str| repo.home.join(format!("outside-{task}")).exists();
    assert_eq!((has_written(&home), has_written(&fenced)), (true, false));
}

#[test]
fn how_long_questions_wait_is_said_by_the_project_that_asks() {
    let asks = r#"turns 1; echo '{"baton":"ask","question":"Which port?"}'"#;
    let repo = TestRepo::with_agent(asks, "[asking]\nexpires_after = 50000");
    let (_, patient) = project(&repo, "patient", "");
    let (_, hasty) = project(&repo, "hasty", "[asking]\nexpires_after = 90000\n");
    let tasks = [repo.add("At home", &[]), add(&repo, "Patient", &patient), add(&repo, "Hasty", &hasty)];
    let up = repo.up();
    repo.until("all of them ask", || questions(&repo).len() == tasks.len());
    let asked = questions(&repo);
    // In units of 10,000 seconds: whole ones, however long the question took to be written.
    let waits = tasks.map(|task| {
        let question = asked.iter().find(|one| one["task_id"] == task.as_str()).unwrap();
        let at = |key: &str| question[key].as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
        Some((at("expires_at")?.as_second() - at("asked_at")?.as_second() + 5_000) / 10_000)
    });
    assert_eq!(waits, [Some(5), None, Some(9)], "{asked:#?}");
    up.end();
}

#[test]
fn whether_commands_need_leave_is_said_by_the_project() {
    let own = "[worktree]\nsetup = \"prepare\"\n";
    let asks_first = format!("{own}[user_tasks]\ntrust = \"prompt\"\n");
    let repo = TestRepo::with_working_agent(&asks_first);
    std::fs::write(repo.folder.join(".agent/Taskfile.yml"), PREPARE).unwrap();
    let (easy, trusting) = project(&repo, "trusting", own);
    let (strict, wary) = project(&repo, "wary", &asks_first);
    for folder in [&easy, &strict] {
        std::fs::write(folder.join(".agent/Taskfile.yml"), PREPARE).unwrap();
    }
    let (home, free) = (repo.add("At home", &[]), add(&repo, "Free", &trusting));
    let asking = add(&repo, "Wary", &wary);
    let up = repo.up();
    repo.until_queue(&free, "provisional");
    for task in [&home, &asking] {
        repo.until("it asks", || repo.status(task) == "AWAITING_RESPONSE");
        let question = repo.show(task)["question"]["text"].to_string();
        assert!(question.contains("Taskfile.yml"), "{question}");
    }
    up.end();
}

#[test]
fn a_project_whose_repository_is_gone_holds_itself_only() {
    let repo = TestRepo::with_working_agent("");
    let (folder, gone) = project(&repo, "gone", "");
    let done = add(&repo, "Before", &gone);
    repo.work_until(&[(&done, "provisional")]);
    std::fs::rename(&folder, repo.home.join("elsewhere")).unwrap();
    let waiting: Vec<String> = (0..3).map(|number| add(&repo, &format!("Gone {number}"), &gone)).collect();
    let homes: Vec<String> = (0..2).map(|number| repo.add(&format!("At home {number}"), &[])).collect();
    let up = repo.up();
    for home in &homes {
        repo.until_queue(home, "provisional");
    }
    repo.until("the question", || questions(&repo).len() == 1);
    let asked = questions(&repo).pop().unwrap()["text"].to_string();
    assert!(asked.contains("is not a git repository") && asked.contains("No task of it starts"), "{asked}");
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]), "its agent is not blamed");
    let accepted = repo.output(&["accept", "--all"]);
    let said = String::from_utf8_lossy(&accepted.stderr).into_owned();
    assert!(!accepted.status.success() && said.contains(&format!("{done}: ")), "{said}");
    for home in &homes {
        assert_eq!(repo.queue(home), "done", "{said}");
    }
    assert_eq!(repo.queue(&done), "provisional");

    std::fs::rename(repo.home.join("elsewhere"), &folder).unwrap();
    let is_asking = |task: &&String| repo.status(task) == "AWAITING_RESPONSE";
    let asking = waiting.iter().find(is_asking).unwrap();
    repo.stdout(&["task", "reply", asking, "YES"]);
    for task in &waiting {
        repo.until_queue(task, "provisional");
    }
    assert_eq!(questions(&repo), Vec::<Value>::new());
    up.end();
}

#[test]
fn a_faulty_worktree_setting_holds_its_project_and_never_the_agent() {
    let repo = TestRepo::with_working_agent("");
    let wrong = [
        ("reuses-the-store", "[worktree]\nreuse = [\".agent/state\"]\n", "Baton's own store"),
        ("copies-the-store", "[worktree]\ncopy = [\".agent/state/team.db\"]\n", "Baton's own store"),
        ("reuses-settings", "[worktree]\nreuse = [\".agent\"]\n", "Baton's own store"),
        ("copies-from-outside", "[worktree]\ncopy = [\"../secret/.env\"]\n", "../secret/.env"),
        ("reuses-git", "[worktree]\nreuse = [\".git\"]\n", ".git"),
    ];
    let broken = wrong.map(|(name, settings, named)| {
        let (_, id) = project(&repo, name, settings);
        (add(&repo, name, &id), named)
    });
    let home = repo.add("At home", &[]);
    let up = repo.up();
    repo.until_queue(&home, "provisional");
    for (task, named) in &broken {
        repo.until("the question", || repo.status(task) == "AWAITING_RESPONSE");
        let asked = repo.show(task)["question"]["text"].as_str().unwrap().to_owned();
        assert!(asked.contains(named), "{asked}");
    }
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    up.end();
}

#[test]
fn a_project_whose_branch_was_deleted_holds_itself_only() {
    let repo = TestRepo::with_working_agent("");
    let (folder, id) = project(&repo, "app", "");
    let up = repo.up();
    let first = add(&repo, "First", &id);
    repo.until_queue(&first, "provisional");
    repo.stdout(&["accept", &first]);
    repo.git(&["-C", &folder.display().to_string(), "branch", "-q", "-D", "baton/next"]);
    // Nobody knows why it is gone, and what had landed on it.
    let second = add(&repo, "Second", &id);
    let home = repo.add("At home", &[]);
    repo.until_queue(&home, "provisional");
    repo.until("it goes on, or asks", || {
        repo.status(&second) == "AWAITING_RESPONSE" || repo.show(&second)["queue"] == "provisional"
    });
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    up.end();
}

/// Breaks a repository in one of the ways in which repositories break.
fn break_repository(repo: &TestRepo, folder: &std::path::Path, how: &str) {
    let at = folder.display().to_string();
    match how {
        "a file is missing" => {
            let object = repo.git(&["-C", &at, "rev-parse", "main^{tree}"]);
            let (folder_name, name) = object.trim().split_at(2);
            std::fs::remove_file(folder.join(".git/objects").join(folder_name).join(name)).unwrap();
        }
        "unreadable configuration" => std::fs::write(folder.join(".git/config"), "[core\nnonsense").unwrap(),
        "a branch in the way" => drop(repo.git(&["-C", &at, "branch", "baton"])),
        "no branch" => {
            repo.git(&["-C", &at, "checkout", "-q", "--detach"]);
            repo.git(&["-C", &at, "branch", "-q", "-D", "main"]);
        }
        "gone" => std::fs::remove_dir_all(folder.join(".git")).unwrap(),
        other => unreachable!("{other}"),
    }
}

/// Whoever holds it: a lock that is older than Baton, and nobody's, is removed.
#[test]
fn a_lock_of_a_branch_holds_its_project_and_never_the_agent() {
    let repo = TestRepo::with_working_agent("");
    let (folder, id) = project(&repo, "locked", "");
    let heads = folder.join(".git/refs/heads/baton");
    std::fs::create_dir_all(&heads).unwrap();
    let lock = std::fs::File::create_new(heads.join("next.lock")).unwrap();
    lock.set_modified(std::time::SystemTime::now() + std::time::Duration::from_hours(1)).unwrap();
    let task = add(&repo, "Locked", &id);
    let up = repo.up();
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("lock"), "{asked}");
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    let home = repo.add("At home", &[]);
    repo.until_queue(&home, "provisional");
    up.end();
}

#[test]
fn a_broken_repository_holds_its_project_and_never_the_agent() {
    let repo = TestRepo::with_working_agent("");
    let ways = ["a file is missing", "unreadable configuration", "a branch in the way", "no branch", "gone"];
    let broken: Vec<(&str, String)> = ways
        .iter()
        .enumerate()
        .map(|(number, how)| {
            let (folder, id) = project(&repo, &format!("app{number}"), "");
            let task = add(&repo, how, &id);
            break_repository(&repo, &folder, how);
            (*how, task)
        })
        .collect();
    let (_, sound) = project(&repo, "sound", "");
    let sound = add(&repo, "Sound", &sound);
    let up = repo.up();
    for (how, task) in &broken {
        repo.until("the question", || repo.status(task) == "AWAITING_RESPONSE");
        let asked = repo.show(task)["question"]["text"].as_str().unwrap().to_owned();
        assert!(asked.starts_with("The set-up of this project fails"), "{how}: {asked}");
    }
    repo.until_queue(&sound, "provisional");
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    up.end();
}

#[test]
fn a_remote_that_cannot_be_reached_is_tried_again_and_disturbs_no_other_project() {
    let repo = TestRepo::with_working_agent("");
    let (folder, _) = project(&repo, "source", "");
    let (from, away) = (repo.home.join("app.git"), repo.home.join("moved.git"));
    let remote = from.display().to_string();
    repo.git(&["clone", "-q", "--bare", &folder.display().to_string(), &remote]);
    let made = repo.json(&["project", "create", "App", "--remote", &remote]);
    std::fs::rename(&from, &away).unwrap();
    let task = add(&repo, "Far away", made["project_id"].as_str().unwrap());
    let up = repo.up();
    up.wait_for_line("it is tried again");
    let home = repo.add("At home", &[]);
    repo.until_queue(&home, "provisional");
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    std::fs::rename(&away, &from).unwrap();
    repo.until_queue(&task, "provisional");
    up.end();
}

#[test]
fn a_link_that_came_with_the_repository_brings_nothing_from_outside() {
    let repo = TestRepo::with_agent("turns 1; work; cat key own > seen.txt 2> /dev/null || true", "");
    std::fs::write(repo.home.join("secret"), "the secret").unwrap();
    let (folder, id) = project(&repo, "app", "[worktree]\ncopy = [\"own\"]\n");
    let at = folder.display().to_string();
    // What a person made themselves, and git does not have, is theirs to choose.
    std::os::unix::fs::symlink(repo.home.join("secret"), folder.join("own")).unwrap();
    let own = add(&repo, "With a link of my own", &id);
    let up = repo.up();
    repo.until_queue(&own, "provisional");
    std::os::unix::fs::symlink(repo.home.join("secret"), folder.join("key")).unwrap();
    std::fs::write(folder.join(".agent/baton.toml"), "[worktree]\ncopy = [\"key\"]\n").unwrap();
    repo.git(&["-C", &at, "add", "key", ".agent"]);
    repo.git(&["-C", &at, "commit", "-q", "-m", "A link"]);
    let task = add(&repo, "With a link of theirs", &id);
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("a link that came with the repository leads out of it"), "{asked}");
    up.end();
}
