//! User tasks as checks and as a worktree's set-up, and `baton` called from inside a worktree.

use super::test_repo::{TestRepo, read};

const TASKS: &str = r#"version: '3'
tasks:
  sum: {cmds: ['if test -e sum.txt && ! grep -qx 4 sum.txt; then echo "The sum is wrong: $(cat sum.txt)"; exit 3; fi'], silent: true}
  lint: {desc: Look, cmds: ['echo linted >&2'], silent: true}
  prepare: {cmds: ['echo made > prepared.txt', 'mkdir -p tools && echo 1 > tools/one'], silent: true}
  broken: {cmds: ['echo no network today; exit 5'], silent: true}
"#;

fn with_tasks(repo: TestRepo) -> TestRepo {
    std::fs::write(repo.folder.join(".agent/Taskfile.yml"), TASKS).unwrap();
    repo
}

/// Writes a wrong sum until a prompt says so. It also rewrites its own copy of the Taskfile, which must have no effect.
const SUMS: &str = r#"
mkdir -p .agent; printf "version: '3'\ntasks: {sum: {cmds: ['true']}}\n" > .agent/Taskfile.yml
case "$prompt" in *"The sum is wrong"*) echo 4 > sum.txt;; *) echo 5 > sum.txt;; esac
turns 1; git add sum.txt; git commit -q -m "Add the sum""#;

#[test]
fn checks_named_as_user_tasks_are_evidence_and_a_failing_one_sends_the_task_back_with_its_output() {
    let repo = with_tasks(TestRepo::with_agent(SUMS, "checks = [\"sum\", \"lint\"]"));
    let task = repo.add("Add two and two", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let attempts = repo.attempts(&task);
    assert_eq!(attempts.len(), 2, "{attempts:#?}");
    let checks = |number: usize| attempts[number]["closing"]["end"]["verified"]["checks"].clone();
    assert_eq!((&checks(0)[0]["name"], &checks(0)[0]["exit_code"]), (&"sum".into(), &3.into()));
    assert_eq!(checks(0)[0]["output_tail"], "The sum is wrong: 5\n");
    assert_eq!((&checks(0)[1]["exit_code"], &checks(0)[1]["output_tail"]), (&0.into(), &"linted\n".into()));
    assert_eq!(checks(1)[0]["exit_code"], 0);
    assert!(repo.show(&task)["notes"].to_string().contains("The sum is wrong: 5"));
}

#[test]
fn a_check_missing_from_the_taskfile_is_reported_before_an_agent_starts() {
    let repo = with_tasks(TestRepo::with_agent("touch ../../../../started", "checks = [\"tets\"]"));
    let task = repo.add("Anything", &[]);
    let up = repo.up();
    repo.until("a question", || repo.status(&task) == "AWAITING_RESPONSE");
    up.end();
    let view = repo.show(&task);
    assert!(view["question"]["text"].as_str().unwrap().contains("there is no user task 'tets'"), "{view}");
    assert!(!repo.folder.join("started").exists());
}

#[test]
fn a_user_task_sets_up_a_new_worktree_and_its_files_are_not_committed() {
    let agent = "cat prepared.txt tools/one; turns 1; echo work > work.txt";
    let repo = with_tasks(TestRepo::with_agent(agent, "[worktree]\nsetup = \"prepare\""));
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let view = repo.show(&task);
    assert!(view["output"].as_str().unwrap().starts_with("made\n1"), "{view}");
    let files = repo.git(&["show", "--name-only", "--format=", &format!("baton/{task}")]);
    assert_eq!(files, "work.txt");
}

#[test]
fn a_failing_set_up_is_a_question_and_holds_neither_the_agent_nor_the_task() {
    let repo = with_tasks(TestRepo::with_working_agent("[worktree]\nsetup = \"broken\""));
    let task = repo.add("Anything", &[]);
    let up = repo.up();
    repo.until("a question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("The set-up of this project fails"), "{asked}");
    assert!(asked.contains("no network today") && asked.contains("Exit Code: 5"), "{asked}");
    assert_eq!(repo.json(&["hold", "list"])["holds"], serde_json::json!([]));
    up.end();
    // Another start reads the hold again: what waits behind the question stays queued until it is answered.
    let other = repo.add("Something else", &[]);
    std::fs::write(repo.folder.join(".agent/Taskfile.yml"), TASKS.replace("exit 5", "exit 0")).unwrap();
    let up = repo.up();
    repo.until("the reason", || repo.show(&other)["not_started"]["code"] == "project_held");
    assert_eq!(repo.attempts(&other).len(), 0);
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");
    repo.until_queue(&other, "provisional");
    up.end();
}

#[test]
fn baton_called_in_an_agents_worktree_finds_the_same_store() {
    let agent = r#"turns 1
"$BATON_BIN" task add "Found on the way" > /dev/null
"$BATON_BIN" do lint 2> lint.txt
(cd / && "$BATON_BIN" --json task list > "$OLDPWD/list.json")
git add -A; git commit -q -m "Look""#;
    for more in [&[][..], &["--namespace", "elsewhere"]] {
        let mut repo = with_tasks(TestRepo::with_agent(agent, "max_agents = 1"));
        if let [_, name] = more {
            repo.variables.push(("BATON_NAMESPACE".to_owned(), (*name).to_owned()));
        }
        let task = repo.add("Look around", &[]);
        repo.work_until(&[(&task, "provisional")]);
        let list = repo.json(&["task", "list"]);
        assert!(list.to_string().contains("Found on the way"), "{list}");
        let branch = format!("baton/{task}");
        assert!(repo.git(&["show", &format!("{branch}:list.json")]).contains("Found on the way"));
        assert_eq!(repo.git(&["show", &format!("{branch}:lint.txt")]), "linted");
        // Baton created no state in the worktree.
        let files = repo.git(&["ls-tree", "-r", "--name-only", &branch]);
        assert!(!files.contains("state"), "{files}");
        assert!(!read(repo.state().join(".gitignore")).is_empty());
    }
}

const INCLUDING: &str = r"version: '3'
includes:
  q: {taskfile: ./quality.yml}
  docs: {taskfile: ../docs/Taskfile.yml, dir: ../docs}
";
const QUALITY: &str = r"version: '3'
vars: {HERE: {sh: pwd}}
tasks:
  verify: {cmds: ['pwd; echo {{.HERE}} {{.TASKFILE_DIR}}; test ! -e bad.txt'], silent: true}
  in: {dir: '{{.TASKFILE_DIR}}/../docs', cmds: ['pwd; test ! -e bad.txt'], silent: true}
";
const DOCS: &str =
    "version: '3'\ntasks:\n  verify: {dir: pages, cmds: ['pwd; test ! -e bad.txt'], silent: true}\n";

#[test]
fn a_task_of_an_included_file_judges_the_attempts_tree() {
    let agent = "mkdir -p docs/pages; for at in . docs docs/pages; do echo bad > $at/bad.txt; done\n\
                 turns 1; git add -A; git commit -q -m Work";
    for (check, below) in [("q:verify", ""), ("q:in", "/docs"), ("docs:verify", "/docs/pages")] {
        let repo = TestRepo::with_agent(agent, &format!("checks = [\"{check}\"]"));
        std::fs::create_dir_all(repo.folder.join("docs/pages")).unwrap();
        for (path, text) in
            [(".agent/Taskfile.yml", INCLUDING), (".agent/quality.yml", QUALITY), ("docs/Taskfile.yml", DOCS)]
        {
            std::fs::write(repo.folder.join(path), text).unwrap();
        }
        let task = repo.add("Work badly", &[]);
        let up = repo.up();
        repo.until("an attempt that ended", || {
            repo.attempts(&task).first().is_some_and(|attempt| attempt["closing"]["end"].is_object())
        });
        up.end();
        let attempt = repo.attempts(&task)[0].clone();
        let judged = attempt["closing"]["end"]["verified"]["checks"][0].clone();
        assert_eq!(judged["exit_code"], 1, "{check}: {judged}");
        let output = judged["output_tail"].as_str().unwrap();
        let id = attempt["attempt"]["id"].as_str().unwrap().to_owned();
        for folder in output.split_whitespace() {
            assert!(folder.contains(&id), "{check} ran in {folder}");
        }
        assert!(output.lines().next().unwrap().ends_with(&format!("{id}{below}")), "{check}: {output}");
    }
}

#[test]
fn a_path_into_the_persons_checkout_means_the_attempts_tree_also_for_committed_checks() {
    let repo = TestRepo::with_agent("turns 1; work", "checks = [\"where\"]");
    let sub = repo.folder.join("sub");
    std::fs::create_dir_all(&sub).unwrap();
    std::fs::write(sub.join("kept.txt"), "x\n").unwrap();
    let tasks = format!(
        "version: '3'\ntasks:\n  where: {{dir: '{}', desc: Where, cmds: ['pwd; touch MARK'], silent: true}}\n",
        sub.display()
    );
    std::fs::write(repo.folder.join(".agent/Taskfile.yml"), tasks).unwrap();
    repo.git(&["add", "-A", "-f", ".agent/Taskfile.yml", "sub"]);
    repo.git(&["-c", "user.name=mia", "-c", "user.email=mia@example.org", "commit", "-q", "-m", "Checks"]);
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let judged = repo.show(&task)["verified"]["checks"][0].clone();
    assert!(judged["output_tail"].as_str().unwrap().contains("/worktrees/"), "{judged}");
    repo.stdout(&["accept", &task]);
    up.end();
    assert!(!sub.join("MARK").exists(), "a check ran in the person's checkout");
}

#[test]
fn an_agents_user_task_runs_in_its_worktree_wherever_it_calls_from() {
    let agent = r#"turns 1
here=$PWD
(cd / && "$BATON_BIN" do where > "$here/from-root.txt")
(cd "$BATON_ROOT" && "$BATON_BIN" do where > "$here/from-checkout.txt")
(cd / && "$BATON_BIN" do hidden) && echo ran > hidden.txt
git add -A; git commit -q -m Look"#;
    let repo = TestRepo::with_agent(agent, "");
    let tasks =
        "version: '3'\ntasks:\n  where: {desc: Where, cmds: [pwd], silent: true}\n  hidden: {cmds: [pwd]}\n";
    std::fs::write(repo.folder.join(".agent/Taskfile.yml"), tasks).unwrap();
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    for file in ["from-root.txt", "from-checkout.txt"] {
        let seen = repo.git(&["show", &format!("baton/{task}:{file}")]);
        assert!(seen.contains("/worktrees/"), "{file}: {seen}");
    }
    let files = repo.git(&["ls-tree", "-r", "--name-only", &format!("baton/{task}")]);
    assert!(!files.contains("hidden.txt"), "what is not offered does not run: {files}");
}

#[test]
fn i19_an_agents_user_task_runs_in_its_worktree_whatever_it_hides_or_sets() {
    let agent = r#"turns 1
here=$PWD; root=$BATON_ROOT; baton=$BATON_BIN
in_root() { name=$1; shift; (cd "$root" && "$@" > "$here/$name.txt" 2>&1); }
in_root token env -u BATON_TOKEN "$baton" do where
in_root all env -i PATH="$PATH" "$baton" do where
in_root session setsid -w env -i PATH="$PATH" "$baton" do where
in_root worktree env BATON_WORKTREE="$root" "$baton" do where
(cd / && env -u BATON_TOKEN "$baton" do where > "$here/slash.txt" 2>&1)
env -i PATH="$PATH" "$baton" do where > here.txt 2>&1
in_root hidden env -i PATH="$PATH" "$baton" do hidden || echo refused
git add -A; git commit -q -m Look"#;
    let repo = TestRepo::with_agent(agent, "");
    let tasks = "version: '3'\ntasks:\n  where: {desc: Where, cmds: ['pwd; touch MARK'], silent: true}\n  hidden: {cmds: [pwd]}\n";
    std::fs::write(repo.folder.join(".agent/Taskfile.yml"), tasks).unwrap();
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    for file in ["token", "all", "session", "worktree", "slash", "here"] {
        let seen = repo.git(&["show", &format!("baton/{task}:{file}.txt")]);
        assert!(seen.contains("/worktrees/"), "{file}: {seen}");
    }
    let hidden = repo.git(&["show", &format!("baton/{task}:hidden.txt")]);
    assert!(hidden.contains("there is no user task 'hidden'"), "what is not offered does not run: {hidden}");
    assert!(!repo.folder.join("MARK").exists(), "a user task ran in the person's checkout");
}

/// Each says whether it sees what is the person's, and tries to write beside it without any program.
fn looking(home: &std::path::Path) -> String {
    let home = home.display();
    format!(
        r"version: '3'
tasks:
  prepare: {{cmds: ['echo made > prepared.txt; echo x > {home}/of-set-up || true; test ! -e {home}/secret'], silent: true}}
  look: {{cmds: ['echo x > {home}/of-check || true; cat prepared.txt; test ! -e {home}/secret'], silent: true}}
"
    )
}

#[test]
fn i21_user_tasks_run_in_the_fence_as_set_up_and_as_checks() {
    let settings = "checks = [\"look\"]\n[worktree]\nsetup = \"prepare\"";
    let fenced = |mode: &str| {
        let mut repo = TestRepo::with_agent("turns 1; work", settings);
        std::fs::write(repo.home.join("secret"), "mine").unwrap();
        std::fs::write(repo.folder.join(".agent/Taskfile.yml"), looking(&repo.home)).unwrap();
        repo.variables.push(("BATON_FENCE".to_owned(), mode.to_owned()));
        let task = repo.add("Work", &[]);
        (repo, task)
    };
    let (repo, task) = fenced("strict");
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let check = repo.show(&task)["verified"]["checks"][0].clone();
    assert_eq!((&check["exit_code"], &check["output_tail"]), (&0.into(), &"made\n".into()), "{check}");
    // The same in the lane, in a clone of its own.
    repo.stdout(&["accept", &task]);
    up.end();
    assert_eq!(repo.queue(&task), "done");
    for file in ["of-set-up", "of-check"] {
        assert!(!repo.home.join(file).exists(), "{file} was written outside of the fence");
    }
    // Without a fence the set-up sees the secret, and fails.
    let (open, task) = fenced("off");
    let up = open.up();
    open.until("an attempt that ended", || {
        open.attempts(&task).first().is_some_and(|attempt| attempt["closing"]["end"].is_object())
    });
    up.end();
    let said = open.attempts(&task)[0]["closing"]["end"]["reported"].to_string();
    assert!(said.contains("cannot set up the worktree"), "{said}");
    assert!(open.home.join("of-set-up").exists());
}

/// Lists, runs with arguments, fails and asks for what is not there; in a fence that hides the person's checkout.
const FENCED_CALLER: &str = r#"turns 1
"$BATON_BIN" tasks > listed.txt 2>&1
"$BATON_BIN" do where -- "a  b" "it's" > out.txt 2> err.txt
(cd / && "$BATON_BIN" do where) > from-root.txt 2>&1
"$BATON_BIN" do fail > /dev/null 2>&1 || echo "$?" > code.txt
"$BATON_BIN" do hidden > hidden.txt 2>&1 || echo "$?" >> hidden.txt
"$BATON_BIN" --json do where > ran.json
git add -A; git commit -q -m Look"#;

#[test]
fn i12_an_agent_in_a_fence_lists_and_runs_the_persons_user_tasks() {
    let mut repo = TestRepo::with_agent(FENCED_CALLER, "");
    let tasks = r#"version: '3'
tasks:
  where: {desc: Where, cmds: ['pwd; printf "<%s>" {{.CLI_ARGS}}; echo; echo loud >&2; touch MARK'], silent: true}
  fail: {desc: Fails, cmds: ['exit 7'], silent: true}
  hidden: {cmds: [pwd]}
"#;
    std::fs::write(repo.folder.join(".agent/Taskfile.yml"), tasks).unwrap();
    repo.variables.push(("BATON_FENCE".to_owned(), "strict".to_owned()));
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let seen = |file: &str| repo.git(&["show", &format!("baton/{task}:{file}")]);
    assert!(seen("listed.txt").contains("where  Where"), "{}", seen("listed.txt"));
    let out = seen("out.txt");
    assert!(out.contains("/worktrees/") && out.ends_with("<a  b><it's>"), "{out}");
    assert_eq!(seen("err.txt"), "loud");
    assert!(seen("from-root.txt").contains("/worktrees/"), "{}", seen("from-root.txt"));
    assert_eq!(seen("code.txt"), "7");
    let hidden = seen("hidden.txt");
    assert!(hidden.contains("there is no user task") && hidden.ends_with("\n2"), "{hidden}");
    let ran: serde_json::Value = serde_json::from_str(&seen("ran.json")).unwrap();
    assert_eq!((&ran["task_name"], &ran["exit_code"]), (&"where".into(), &0.into()), "{ran}");
    assert!(!repo.folder.join("MARK").exists(), "it ran in the person's checkout");
}

#[test]
fn an_agents_baton_do_asks_the_person_who_wants_to_be_asked() {
    let agent = "turns 1; code=0\n\"$BATON_BIN\" do where > out.txt 2>&1 || code=$?\necho $code >> out.txt\n\
                 git add -A; git commit -q -m Look";
    for (mode, answer) in [("off", "YES"), ("off", "NO"), ("strict", "YES")] {
        let mut repo = TestRepo::with_agent(agent, "[user_tasks]\ntrust = \"prompt\"");
        let tasks = "version: '3'\ntasks:\n  where: {desc: Where, cmds: [pwd], silent: true}\n";
        std::fs::write(repo.folder.join(".agent/Taskfile.yml"), tasks).unwrap();
        repo.variables.push(("BATON_FENCE".to_owned(), mode.to_owned()));
        let task = repo.add("Look around", &[]);
        let up = repo.up();
        let asked = || repo.json(&["questions"])["questions"][0]["id"].as_str().map(str::to_owned);
        repo.until("the question", || asked().is_some());
        repo.stdout(&["answer", &asked().unwrap(), answer]);
        repo.until_queue(&task, "provisional");
        up.end();
        let seen = repo.git(&["show", &format!("baton/{task}:out.txt")]);
        if answer == "YES" {
            assert!(seen.contains("/worktrees/") && seen.ends_with("\n0"), "{mode}: {seen}");
        } else {
            assert!(seen.contains("did not allow the commands") && seen.ends_with("\n4"), "{mode}: {seen}");
        }
    }
}

#[test]
fn i12_an_agent_in_a_fence_is_told_that_there_are_no_user_tasks_where_there_are_none() {
    let agent = "turns 1\n\"$BATON_BIN\" tasks > listed.txt 2>&1\n\"$BATON_BIN\" do where > run.txt 2>&1 || echo \"$?\" >> run.txt\n\
                 git add -A; git commit -q -m Look";
    let mut repo = TestRepo::with_agent(agent, "");
    repo.variables.push(("BATON_FENCE".to_owned(), "strict".to_owned()));
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let seen = |file: &str| repo.git(&["show", &format!("baton/{task}:{file}")]);
    assert!(
        seen("listed.txt").contains("No user tasks: there is no .agent/Taskfile.yml"),
        "{}",
        seen("listed.txt")
    );
    let run = seen("run.txt");
    assert!(run.contains("there is no .agent/Taskfile.yml") && run.ends_with("\n2"), "{run}");
}
