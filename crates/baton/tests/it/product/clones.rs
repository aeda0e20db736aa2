//! Projects in a clone of somebody else's repository: what their settings name runs once a person has allowed it.

use std::path::PathBuf;

use super::project_settings::{add, fenced_repo};
use crate::engine::test_repo::TestRepo;

/// A repository that somebody else committed these settings to, cloned, as a project of this Baton.
fn cloned_project(repo: &TestRepo, name: &str, settings: &str) -> String {
    let (source, clone) = (repo.home.join(format!("{name}-source")), repo.home.join(name));
    std::fs::create_dir_all(source.join(".agent")).unwrap();
    std::fs::write(source.join(".agent/baton.toml"), settings).unwrap();
    let (source, clone) = (source.display().to_string(), clone.display().to_string());
    repo.git(&["init", "-q", "-b", "main", &source]);
    repo.git(&["-C", &source, "add", "-A"]);
    repo.git(&["-C", &source, "commit", "-q", "-m", "Begin"]);
    repo.git(&["clone", "-q", &source, &clone]);
    let made = repo.json(&["project", "create", name, "--path", &clone]);
    made["project_id"].as_str().unwrap().to_owned()
}

#[test]
fn i21_the_settings_of_a_clone_open_no_fence_before_a_person_has_allowed_it() {
    let mut repo = fenced_repo();
    // What the variable says would hold whatever the settings say.
    repo.variables.push(("BATON_FENCE".to_owned(), String::new()));
    let config = repo.home.join("config");
    repo.variables.push(("XDG_CONFIG_HOME".to_owned(), config.display().to_string()));
    std::fs::create_dir_all(config.join("baton")).unwrap();
    std::fs::write(
        config.join("baton/config.toml"),
        "fence = \"auto\"\nnetwork = \"none\"\n[user_tasks]\ntrust = \"prompt\"\n",
    )
    .unwrap();
    let cases = [
        ("everywhere", "network = \"open\"\n", "network: open"),
        ("for-a-role", "[roles.implement]\nnetwork = \"open\"\n", "roles.implement.network: open"),
        ("its-commands", "[user_tasks]\ntrust = \"always\"\n", "user_tasks.trust"),
        ("everything", "fence = \"off\"\n", "fence: off"),
        ("of-checks", "[roles.check]\nfence = \"off\"\n", "roles.check.fence: off"),
        (
            "a-folder",
            "[roles.implement]\nfence_write = [\"~/.ssh\"]\n",
            "roles.implement.fence_write: ~/.ssh",
        ),
        ("no-question", "[roles.implement]\npermissions = \"allow\"\n", "roles.implement.permissions"),
    ];
    let tasks = cases.map(|(name, settings, grant)| {
        let project = cloned_project(&repo, name, settings);
        (name, grant, add(&repo, name, &project))
    });
    let stricter = cloned_project(&repo, "stricter", "fence = \"auto\"\nmax_agents = 2\n");
    let free = add(&repo, "Nothing is opened", &stricter);
    let up = repo.up();
    for (name, grant, task) in &tasks {
        repo.until("the question", || repo.status(task) == "AWAITING_RESPONSE");
        let asked = repo.show(task)["question"]["text"].as_str().unwrap().to_owned();
        assert!(asked.contains(grant) && asked.contains("trust"), "{name}: {asked}");
    }
    repo.until_queue(&free, "provisional");
    let folder = repo.home.join("everywhere").display().to_string();
    assert!(repo.stdout(&["--root", &folder, "trust"]).contains("network: open"));
    repo.stdout(&["task", "reply", &tasks[0].2, "YES"]);
    repo.until_queue(&tasks[0].2, "provisional");
    up.end();
}

/// Commands of the branch are asked about even where the checkout has no settings of its own.
#[test]
fn i21_checks_of_a_branch_run_only_after_a_person_has_allowed_them() {
    let repo = TestRepo::with_working_agent("");
    let ran = repo.home.join("check-ran");
    let settings =
        format!("[checks]\nc = [\"touch\", \"{}\"]\n[roles.check]\nfence = \"off\"\n", ran.display());
    let project = cloned_project(&repo, "cloned", &settings);
    let folder = repo.home.join("cloned");
    std::fs::remove_file(folder.join(".agent/baton.toml")).unwrap();
    let task = add(&repo, "Checked by theirs", &project);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let said = repo.stdout(&["accept", &task]);
    assert!(said.contains("checks.c: touch"), "{said}");
    assert!(!ran.exists());
    let (_, command) = said.split_once("baton --root ").unwrap();
    let (folder, _) = command.split_once(" trust").unwrap();
    assert!(repo.stdout(&["--root", folder, "trust"]).contains("checks.c: touch"));
    repo.until_queue(&task, "done");
    assert!(ran.exists());
    up.end();
}

/// Hooks and a cleanup that leave a file each.
fn commands_that_leave_files(home: &std::path::Path) -> String {
    let touch =
        |name: &str| format!("{name} = [\"touch\", \"{}\"]", home.join(format!("ran-{name}")).display());
    let hooks =
        ["before_attempt", "before_landing", "after_landing", "on_question", "before_remove"].map(touch);
    format!("[hooks]\nrun_as = \"person\"\n{}\n[worktree]\ncleanup = \"clean\"\n", hooks.join("\n"))
}

fn ran(repo: &TestRepo) -> Vec<PathBuf> {
    let files = std::fs::read_dir(&repo.home).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("ran-")).collect()
}

fn folder_of(repo: &TestRepo, task: &str) -> PathBuf {
    repo.state().join("worktrees").join(repo.last_attempt(task))
}

#[test]
fn i21_the_hooks_of_a_clone_run_once_a_person_has_allowed_them() {
    let mut repo = TestRepo::with_working_agent("");
    repo.variables.push(("XDG_CONFIG_HOME".to_owned(), repo.home.join("config").display().to_string()));
    let project = cloned_project(&repo, "cloned", &commands_that_leave_files(&repo.home));
    let task = add(&repo, "With hooks", &project);
    let up = repo.up();
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("hooks.on_question: touch"), "{asked}");
    // Somebody who waits for the answer looks at every question: by now this one was looked at.
    let other = repo.add("At home", &[]);
    repo.until_queue(&other, "provisional");
    assert_eq!(ran(&repo), Vec::<PathBuf>::new());

    let folder = repo.home.join("cloned").display().to_string();
    repo.stdout(&["--root", &folder, "trust"]);
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");
    assert!(repo.home.join("ran-before_attempt").exists());
    up.end();
}

#[test]
fn i21_hooks_that_come_later_with_git_run_once_a_person_has_allowed_them() {
    let mut repo = TestRepo::with_working_agent("");
    repo.variables.push(("XDG_CONFIG_HOME".to_owned(), repo.home.join("config").display().to_string()));
    let project = cloned_project(&repo, "cloned", "max_agents = 2\n");
    let (kept, removed) = (add(&repo, "Kept", &project), add(&repo, "Removed", &project));
    let home = repo.add("At home", &[]);
    let up = repo.up();
    for task in [&kept, &removed, &home] {
        repo.until_queue(task, "provisional");
        assert!(folder_of(&repo, task).exists());
    }

    let (source, folder) = (repo.home.join("cloned-source"), repo.home.join("cloned").display().to_string());
    std::fs::write(source.join(".agent/baton.toml"), commands_that_leave_files(&repo.home)).unwrap();
    let taskfile = format!(
        "version: '3'\ntasks: {{clean: {{cmds: ['touch {}']}}}}\n",
        repo.home.join("ran-cleanup").display()
    );
    std::fs::write(source.join(".agent/Taskfile.yml"), taskfile).unwrap();
    repo.git(&["-C", &source.display().to_string(), "add", "-A"]);
    repo.git(&["-C", &source.display().to_string(), "commit", "-q", "-m", "Hooks"]);
    repo.git(&["-C", &folder, "pull", "-q", "--ff-only"]);

    let refused = repo.output(&["accept", &kept]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{said}");
    assert!(said.contains("hooks.before_landing: touch") && said.contains("trust"), "{said}");
    // Nor does anything run when a worktree is to be removed. They are looked at in order.
    repo.stdout(&["task", "cancel", &removed]);
    repo.stdout(&["accept", &home]);
    repo.until("the other worktree is removed", || !folder_of(&repo, &home).exists());
    assert_eq!(ran(&repo), Vec::<PathBuf>::new());
    assert!(folder_of(&repo, &removed).exists());

    repo.stdout(&["--root", &folder, "trust"]);
    repo.stdout(&["accept", &kept]);
    repo.until("the hooks after it", || repo.home.join("ran-before_remove").exists());
    assert!(repo.home.join("ran-before_landing").exists() && repo.home.join("ran-after_landing").exists());
    up.end();
}
