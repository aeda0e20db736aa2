use std::path::Path;

use crate::user_tasks::*;

const TASKS: &str = r#"version: '3'
tasks:
  second: {desc: "Comes first here.", cmds: ['printf "%s|" {{.CLI_ARGS}}'], silent: true}
  first: {desc: "Comes second here.", cmds: ['pwd; echo to stderr >&2'], silent: true}
  hidden: {desc: "Not for callers.", internal: true, cmds: ['true']}
  quiet: {cmds: ['echo not described'], silent: true}
  fails: {desc: "Fails.", cmds: ['echo before && exit 7'], silent: true}
  long: {desc: "Says a lot.", cmds: ['seq 1 20000'], silent: true}
  slow: {desc: "Never ends.", cmds: ['echo begun; tail -f /dev/null'], silent: true}
"#;

fn place(settings: UserTaskSettings) -> (tempfile::TempDir, UserTasks, Site) {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    std::fs::create_dir(root.join(".agent")).unwrap();
    std::fs::write(root.join(TASKFILE), TASKS).unwrap();
    let tasks = UserTasks::new(&root.join(".agent/state"), settings);
    (scratch, tasks, Site::of_person(&root))
}

fn always() -> (tempfile::TempDir, UserTasks, Site) {
    place(UserTaskSettings::default())
}

#[test]
fn tasks_with_a_description_are_listed_in_the_order_of_the_file() {
    let (_scratch, tasks, site) = always();
    let list = tasks.list(&site).unwrap();
    let names: Vec<&str> = list.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["second", "first", "fails", "long", "slow"]);
    assert_eq!(list.message, "Successfully listed 5 user-defined tasks from .agent/Taskfile.yml.");
}

#[tokio::test]
async fn the_texts_are_exact() {
    let (_scratch, tasks, site) = always();
    let ran = tasks.run(&site, "first", "").await.unwrap();
    let root = site.root.display();
    assert_eq!(
        tasks.told(&ran),
        format!("Task 'first' completed successfully. Output:\n{root}\nError Output:\nto stderr")
    );
    let ran = tasks.run(&site, "fails", "").await.unwrap();
    assert_eq!(
        ran.text(),
        "Task 'fails' failed. Output:\nbefore\nError Output:\n\nExit Code: 7\nError: task: Failed to run task 'fails'"
    );
}

#[tokio::test]
async fn definitions_come_from_the_root_and_commands_run_in_the_worktree_with_the_environment_given() {
    let (_scratch, tasks, mut site) = always();
    let worktree = site.root.join("worktree");
    std::fs::create_dir_all(worktree.join(".agent")).unwrap();
    std::fs::write(worktree.join(TASKFILE), TASKS.replace("pwd", "echo edited")).unwrap();
    site.folder.clone_from(&worktree);
    site.environment = Some(vec![("PATH".to_owned(), std::env::var("PATH").unwrap())]);
    let ran = tasks.run(&site, "first", "").await.unwrap();
    assert_eq!(Path::new(&ran.stdout), worktree);
}

#[tokio::test]
async fn arguments_are_words_and_cannot_break_out() {
    let (_scratch, tasks, site) = always();
    for (args, words) in [
        ("-v -race", "-v|-race|"),
        ("", "|"),
        ("'a b' $(id) ; rm -rf / `x` && \"c\"", "a b|$(id)|;|rm|-rf|/|`x`|&&|c|"),
        ("> out.txt {.ROOT_DIR}", ">|out.txt|{.ROOT_DIR}|"),
    ] {
        assert_eq!(tasks.run(&site, "second", args).await.unwrap().stdout, words, "{args}");
    }
    let template = tasks.run(&site, "second", "{{.ROOT_DIR}} '{{printf \"%c\" 39}};touch out.txt;'").await;
    assert_eq!(template.unwrap().stdout, "{{.ROOT_DIR}}|{{printf \"%c\" 39}};touch out.txt;|");
    assert_eq!(tasks.run(&site, "second", "a\0b").await.unwrap_err(), UserTaskError::NulInArgs);
    assert!(!site.root.join("out.txt").exists());
    assert_eq!(tasks.run(&site, "second", "'open").await.unwrap_err(), UserTaskError::OpenQuote);
}

#[tokio::test]
async fn an_empty_or_unknown_name_lists_what_there_is() {
    let (_scratch, tasks, site) = always();
    for name in ["", "  ", "secnd", "hidden", "quiet", "--list", "A=b"] {
        let said = tasks.run(&site, name, "").await.unwrap_err().to_string();
        assert!(said.ends_with("the tasks are second, first, fails, long, slow"), "{said}");
    }
    // One without a description is not offered to agents, but it is there for a person who knows it.
    assert_eq!(tasks.run_words(&site, "quiet", Vec::new(), None).await.unwrap().stdout, "not described");
}

#[tokio::test]
async fn long_output_keeps_its_head_and_tail_and_the_whole_is_in_a_file() {
    let (_scratch, tasks, site) = always();
    let ran = tasks.run(&site, "long", "").await.unwrap();
    let told = tasks.told(&ran);
    assert!(told.contains("Output:\n1\n2\n") && told.contains("19999\n20000\nError Output:"), "{told}");
    assert!(told.chars().count() < 13_000);
    let path = told.split("the whole is in ").nth(1).unwrap().split(" …]").next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), ran.text());
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_ended_and_says_so() {
    let (_scratch, tasks, site) = place(UserTaskSettings { timeout: 1, ..UserTaskSettings::default() });
    let ran = tasks.run(&site, "slow", "").await.unwrap();
    assert_eq!((ran.stdout.as_str(), ran.exit_code), ("begun", 124));
    assert!(
        ran.text()
            .contains("Error: task: Failed to run task 'slow': task: Task \"slow\" took longer than 1s")
    );
}

#[tokio::test]
async fn a_change_of_the_file_counts_at_once_and_its_absence_is_said() {
    let (_scratch, tasks, site) = always();
    assert_eq!(tasks.list(&site).unwrap().tasks.len(), 5);
    std::fs::write(site.taskfile(), "version: '3'\ntasks:\n  only: {desc: One., cmds: [\"echo 1\"]}\n")
        .unwrap();
    assert_eq!(tasks.list(&site).unwrap().tasks.len(), 1);
    std::fs::write(site.taskfile(), "version: '3'\ntasks: [\n").unwrap();
    assert!(matches!(tasks.list(&site), Err(UserTaskError::Unreadable(_))));
    std::fs::remove_file(site.taskfile()).unwrap();
    assert!(!site.has_taskfile());
    assert_eq!(tasks.list(&site), Err(UserTaskError::NoTaskfile));
}

#[tokio::test]
async fn with_trust_prompt_nothing_runs_before_a_yes_and_after_a_change() {
    let (_scratch, tasks, site) =
        place(UserTaskSettings { trust: Trust::Prompt, ..UserTaskSettings::default() });
    assert_eq!(tasks.run(&site, "first", "").await.unwrap_err(), UserTaskError::Untrusted);
    tasks.trust(&site).unwrap();
    assert!(tasks.run(&site, "first", "").await.unwrap().succeeded);
    std::fs::write(site.taskfile(), TASKS.replace("pwd", "pwd; pwd")).unwrap();
    assert_eq!(tasks.run(&site, "first", "").await.unwrap_err(), UserTaskError::Untrusted);
}
