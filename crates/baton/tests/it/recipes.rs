//! Recipes through the real binary: a scripted agent, `baton up`, and what the history says afterwards.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use baton_core::event::EventBody;
use baton_engine::Recorded;
use baton_engine::desk::Desk;
use baton_engine::ids::Ids;
use baton_engine::place::{Place, PlaceOptions};
use baton_server::wire;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Far longer than anything here takes, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A repository of its own, and `baton up` on it while it is wanted.
struct World {
    folder: PathBuf,
    up: Option<Child>,
    _scratch: TempDir,
}

impl World {
    /// With the built-in agent following this script.
    fn scripted(script: &Value) -> Self {
        let world = Self::bare();
        fs::write(world.folder.join("script.json"), script.to_string()).unwrap();
        world.agent(&format!(
            "kind = \"scripted\"\ncommand = [\"{}\"]\n",
            world.folder.join("script.json").display()
        ));
        world
    }

    /// With a shell script as its agent.
    fn shell(script: &str) -> Self {
        let world = Self::bare();
        fs::write(world.folder.join("agent.sh"), script).unwrap();
        world.agent(&format!(
            "kind = \"command\"\ncommand = [\"sh\", \"{}\"]\n",
            world.folder.join("agent.sh").display()
        ));
        world
    }

    fn bare() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join(".agent/recipes")).unwrap();
        fs::write(folder.join(".gitignore"), "flags/\n").unwrap();
        fs::create_dir(folder.join("flags")).unwrap();
        Self { folder, up: None, _scratch: scratch }
    }

    fn agent(&self, agent: &str) {
        let settings = format!(
            "default_agent = \"mine\"\nmax_agents = 1\nlease_seconds = 5\nrecycle = \"manual\"\n[agents.mine]\n{agent}"
        );
        fs::write(self.folder.join(".agent/baton.toml"), settings).unwrap();
        git(&self.folder, &["init", "-q", "-b", "main"]);
        git(&self.folder, &["add", "-A"]);
        git(&self.folder, &["commit", "-q", "-m", "Begin"]);
    }

    fn recipe(&self, name: &str, text: &str) {
        fs::write(self.folder.join(".agent/recipes").join(name), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        baton(&self.folder).args(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[&["--json"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Starts a recipe; the id of the task it works on.
    fn start(&self, recipe: &str) -> String {
        self.json(&["recipe", "start", recipe])["task_id"].as_str().unwrap().to_owned()
    }

    fn up(&mut self) {
        let up = baton(&self.folder)
            .args(["up", "--listen", "127.0.0.1:0"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.up = Some(up);
    }

    fn kill(&mut self) {
        let mut up = self.up.take().unwrap();
        up.kill().unwrap();
        up.wait().unwrap();
    }

    fn task(&self, id: &str) -> Value {
        self.json(&["task", "show", id])
    }

    fn history(&self) -> Vec<Recorded> {
        let place = Place::find(&self.folder, &PlaceOptions::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let desk = Desk::new(place.open_store().await.unwrap(), Ids::random());
            let (mut all, mut after) = (Vec::new(), 0);
            loop {
                let page = desk.events_after(after).await.unwrap();
                let Some(last) = page.last() else { break };
                after = last.seq;
                all.extend(page);
            }
            desk.close().await.unwrap();
            all
        })
    }

    /// What a client on the WebSocket would have been told of runs, in order.
    fn told(&self) -> Vec<Value> {
        let messages = self.history().iter().filter_map(wire::message).collect::<Vec<_>>();
        let values = messages.into_iter().map(|message| serde_json::to_value(message).unwrap());
        values.filter(is_about_runs).collect()
    }

    /// The same as short lines, for whole stories.
    fn story(&self) -> String {
        let mut text = String::new();
        for value in self.told() {
            let said = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
            let _ = match value["type"].as_str().unwrap() {
                "recipe_started" => writeln!(text, "started {}", said("recipe_id")),
                "recipe_step_started" => writeln!(text, "  {} ({})", said("step"), value["step_count"]),
                "recipe_step_transition" => writeln!(text, "  {} → {}", said("from_step"), said("to_step")),
                "orchestration_retry" => writeln!(text, "  retry: {}", said("error")),
                _ => writeln!(text, "exited {} [{}]: {}", said("reason"), said("category"), said("message")),
            };
        }
        text
    }

    /// Waits for the run to exit, and gives the message that tells of it.
    fn exit_message(&self) -> Value {
        self.wait("the run exits", || self.told().into_iter().find(|value| value["type"] == "recipe_exited"))
    }

    fn wait<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(started.elapsed() < PATIENCE, "waited for: {what}\n{}", self.story());
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    fn wait_for_queue(&self, task: &str, queue: &str) -> Value {
        self.wait(&format!("{task} in {queue}"), || {
            Some(self.task(task)).filter(|view| view["queue"] == queue)
        })
    }

    fn wait_for_question(&self, task: &str) -> Value {
        self.wait(&format!("{task} asks"), || {
            Some(self.task(task)).filter(|view| view["status"] == "AWAITING_RESPONSE")
        })
    }

    fn flag(&self, name: &str) -> PathBuf {
        self.folder.join("flags").join(name)
    }

    /// Every prompt given for a task, in order, with the name of its file.
    fn prompts(&self, task: &str) -> Vec<(String, String)> {
        let mut prompts = Vec::new();
        for attempt in self.task(task)["attempts"].as_array().unwrap() {
            let id = attempt["attempt"]["id"].as_str().or(attempt["id"].as_str()).unwrap();
            let folder = self.folder.join(".agent/state/attempts").join(id).join("prompts");
            let mut files: Vec<PathBuf> =
                fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            prompts.extend(files.iter().map(|file| {
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                (name, fs::read_to_string(file).unwrap())
            }));
        }
        prompts
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(up) = &mut self.up {
            // It ends its agents itself; one that a test killed has none left.
            let _ = Command::new("kill").args(["-TERM", &up.id().to_string()]).status();
            let _ = up.wait();
        }
    }
}

fn is_about_runs(value: &Value) -> bool {
    let kind = value["type"].as_str().unwrap();
    kind.starts_with("recipe") || kind == "orchestration_retry"
}

fn baton(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command
        .current_dir(folder)
        .env("BATON_USER", "mia")
        .env("BATON_LISTEN", "127.0.0.1:0")
        .stdin(Stdio::null());
    command
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

fn outcome(name: &str) -> Value {
    json!({ "outcome": { "outcome": name } })
}

/// An agent that does everything right, one file for each task.
fn good_agent() -> Vec<Value> {
    vec![
        json!({ "step": "implement", "when": "no task is described here", "steps": [outcome("no-tasks")] }),
        json!({ "step": "implement", "steps": [
            { "write": { "path": "{{task}}.txt", "text": "done\n" } }, outcome("complete") ] }),
        json!({ "step": "code-review", "steps": [outcome("no-issues")] }),
        json!({ "step": "commit", "steps": [{ "commit": "Do {{task}}" }, outcome("committed")] }),
    ]
}

fn script(scenes: &[Value]) -> Value {
    json!({ "scripts": scenes, "otherwise": [{ "say": "No scene fits." }] })
}

// ---- an empty queue, criterion by criterion ----

#[test]
fn no_tasks_criterion_1_the_implement_step_has_the_outcome() {
    let world = World::scripted(&script(&good_agent()));
    let recipe = world.json(&["recipe", "show", "implement-and-review"]);
    let implement = &recipe["steps"]["implement"];
    assert_eq!(implement["outcomes"], json!(["complete", "no-tasks", "blocked", "other"]));
    assert_eq!(implement["on_outcome"]["no-tasks"], json!({ "exit": "no-tasks-available" }));
}

#[test]
fn no_tasks_criteria_2_to_5_the_run_exits_as_completed_and_says_so() {
    let mut world = World::scripted(&script(&good_agent()));
    let task = world.start("implement-and-review");
    world.up();
    let mut exit = world.exit_message();
    exit.as_object_mut().unwrap().remove("seq").unwrap();
    assert_eq!(
        exit,
        json!({
            "type": "recipe_exited",
            "session_id": "cli",
            "reason": "no-tasks-available",
            "category": "completed",
            "message": "No tasks available to implement"
        })
    );
    let view = world.wait_for_queue(&task, "done");
    assert_eq!(view["output"], "No tasks available to implement");
}

#[test]
fn no_tasks_criterion_6_the_other_outcomes_lead_where_they_did() {
    let mut world = World::scripted(&script(&good_agent()));
    let added = world.json(&["task", "add", "Fix the login"]);
    let task = world.start("implement-and-review");
    assert_eq!(added["task_id"], task.as_str(), "the run is bound to the task that is ready");
    world.up();
    world.wait_for_queue(&task, "provisional");
    insta::assert_snapshot!(world.story(), @"
    started implement-and-review
      implement (1)
      implement → code-review
      code-review (2)
      code-review → commit
      commit (3)
    exited task-committed [completed]: Task implementation committed successfully
    ");
    assert_eq!(world.task(&task)["verified"]["commits"], 1);
}

// ---- guardrails ----

#[test]
fn the_fourth_visit_is_refused_at_three_and_a_human_is_asked() {
    let mut scenes = good_agent();
    scenes.retain(|scene| scene["step"] != "code-review");
    scenes.push(json!({ "step": "code-review", "steps": [
        { "outcome": { "outcome": "issues-found", "description": "login.rs:3: it is still wrong" } }] }));
    scenes.push(json!({ "step": "fix", "steps": [
        { "append": { "path": "{{task}}.txt", "text": "more\n" } }, outcome("complete")] }));
    let mut world = World::scripted(&script(&scenes));
    world.json(&["task", "add", "Fix the login"]);
    let task = world.start("implement-and-review");
    world.up();
    let exit = world.exit_message();
    assert_eq!(
        (exit["reason"].as_str(), exit["category"].as_str()),
        (Some("max-step-visits-exceeded:code-review"), Some("guardrail"))
    );
    let visits = world
        .told()
        .iter()
        .filter(|value| value["type"] == "recipe_step_started" && value["step"] == "code-review")
        .count();
    assert_eq!(visits, 3);
    let view = world.wait_for_question(&task);
    assert!(view["question"]["text"].as_str().unwrap().contains("entered too many times"), "{view}");
    // Nothing is lost: what was written is on the task's branch.
    assert_eq!(view["verified"]["uncommitted_changes"], true);
}

fn looping(id: &str, guardrails: &str, again: &str) -> String {
    format!(
        "id: {id}\nlabel: Round and round\ndescription: It never stops by itself\ninitial_step: one\n\
         guardrails: {guardrails}\nsteps:\n  one:\n    prompt: Go round.\n    outcomes: [again, stop]\n    on_outcome:\n      \
         again: {again}\n      stop: {{ exit: stopped }}\n"
    )
}

#[test]
fn too_many_steps_end_the_run() {
    let mut world = World::scripted(&script(&[json!({ "step": "one", "steps": [outcome("again")] })]));
    world.recipe(
        "round.yml",
        &looping("round", "{ max_step_visits: 50, max_total_steps: 4 }", "{ next_step: one }"),
    );
    let task = world.start("round");
    world.up();
    world.wait_for_question(&task);
    insta::assert_snapshot!(world.story(), @"
    started round
      one (1)
      one → one
      one (2)
      one → one
      one (3)
      one → one
      one (4)
    exited max-total-steps [guardrail]: Stopped: the run took too many steps
    ");
}

#[test]
fn restarts_without_progress_come_to_an_end() {
    let mut world = World::scripted(&script(&[json!({ "step": "one", "steps": [outcome("again")] })]));
    world.recipe("round.yml", &looping("round", "{ max_step_visits: 3 }", "{ restart_new_session: true }"));
    let task = world.start("round");
    world.up();
    assert_eq!(world.exit_message()["reason"], "max-step-visits-exceeded:one");
    world.wait_for_question(&task);
    assert_eq!(world.prompts(&task).len(), 3);
}

// ---- reports that cannot be taken, or are not true ----

#[test]
fn a_malformed_outcome_gets_one_reminder_and_then_ends_the_run() {
    let mut world = World::scripted(&script(&[
        json!({ "step": "one", "steps": [{ "say": "I am done. {\"outcome\": \"stop\"" }] }),
    ]));
    world.recipe("round.yml", &looping("round", "{}", "{ next_step: one }"));
    let task = world.start("round");
    world.up();
    let exit = world.exit_message();
    assert_eq!(
        (exit["reason"].as_str(), exit["category"].as_str()),
        (Some("orchestration-error"), Some("error"))
    );
    assert!(exit["error"].as_str().unwrap().contains("not valid JSON"), "{exit}");
    world.wait_for_queue(&task, "failed");
    insta::assert_snapshot!(world.story(), @r#"
    started round
      one (1)
      retry: the outcome object in your message is not valid JSON: {"outcome": "stop"
    exited orchestration-error [error]: The agent did not report a usable outcome
    "#);
    let prompts = world.prompts(&task);
    assert_eq!(prompts.len(), 2);
    assert!(!prompts[0].1.contains("Your last answer") && prompts[1].1.contains("Your last answer"));
}

#[test]
fn each_of_the_five_mistakes_gets_its_own_reminder() {
    let mistakes = [
        ("none", "I am done.", "has no JSON object with an \"outcome\" key"),
        ("malformed", "{\"outcome\": \"stop\"", "is not valid JSON"),
        ("number", "{\"outcome\": 3}", "must be a string, and you sent a number"),
        (
            "unknown",
            "{\"outcome\": \"stopp\"}",
            "\"stopp\" is not an outcome of this step (did you mean \"stop\"?)",
        ),
        ("silent", "{\"outcome\": \"other\"}", "needs a description in your own words"),
    ];
    let mut scenes = vec![json!({ "when": "Your last answer", "steps": [outcome("stop")] })];
    scenes.extend(
        mistakes
            .map(|(name, said, _)| json!({ "when": format!("mistake {name}"), "steps": [{ "say": said }] })),
    );
    let mut world = World::scripted(&script(&scenes));
    let recipe = looping("round", "{}", "{ next_step: one }")
        .replace("[again, stop]", "[again, stop, other]")
        + "      other: { exit: user-provided-other }\n";
    world.recipe("round.yml", &recipe);
    let mut tasks = Vec::new();
    for (name, _, _) in mistakes {
        let message = format!("mistake {name}");
        let started = world.json(&["recipe", "start", "round", "--session", name, "--message", &message]);
        tasks.push(started["task_id"].as_str().unwrap().to_owned());
    }
    world.up();
    for (task, (name, _, reminder)) in tasks.iter().zip(mistakes) {
        world.wait_for_queue(task, "done");
        let prompts = world.prompts(task);
        assert_eq!(prompts.len(), 2, "{name}");
        assert!(prompts[1].1.contains(reminder), "{name}: {}", prompts[1].1);
    }
    let retries = world.told().into_iter().filter(|value| value["type"] == "orchestration_retry").count();
    assert_eq!(retries, 5);
}

#[test]
fn no_tasks_while_there_is_one_is_told_and_asked_again() {
    let mut scenes = vec![
        json!({ "step": "implement", "when": "the queue has ready work", "steps": [
            { "write": { "path": "login.txt", "text": "fixed\n" } }, outcome("complete") ] }),
        json!({ "step": "implement", "steps": [outcome("no-tasks")] }),
    ];
    scenes.extend(good_agent());
    let mut world = World::scripted(&script(&scenes));
    world.json(&["task", "add", "Fix the login"]);
    let task = world.start("implement-and-review");
    world.up();
    world.wait_for_queue(&task, "provisional");
    let story = world.story();
    assert!(story.contains("retry: you reported \"no-tasks\""), "{story}");
    assert!(
        story.ends_with("exited task-committed [completed]: Task implementation committed successfully\n")
    );
}

#[test]
fn commits_that_are_not_there_are_asked_for_once_more() {
    let mut scenes = vec![
        json!({ "step": "commit", "when": "the branch has no new commit", "steps": [
            { "commit": "Really" }, outcome("committed") ] }),
        json!({ "step": "commit", "steps": [outcome("committed")] }),
    ];
    scenes.extend(good_agent());
    let mut world = World::scripted(&script(&scenes));
    world.json(&["task", "add", "Fix the login"]);
    let task = world.start("implement-and-review");
    world.up();
    let view = world.wait_for_queue(&task, "provisional");
    assert_eq!(view["verified"]["commits"], 1);
    assert!(world.story().contains(
        "retry: you reported \"committed\" (you committed the change), but the branch has no new commit"
    ));
}

// ---- one task after the other ----

#[test]
fn all_ready_tasks_are_done_one_by_one_until_none_is_left() {
    let mut world = World::scripted(&script(&good_agent()));
    let tasks: Vec<String> = ["First", "Second"]
        .iter()
        .map(|title| world.json(&["task", "add", title])["task_id"].as_str().unwrap().to_owned())
        .collect();
    world.start("implement-and-review-all");
    world.up();
    assert_eq!(world.exit_message()["reason"], "no-tasks-available");
    for task in &tasks {
        assert_eq!(world.wait_for_queue(task, "provisional")["verified"]["commits"], 1);
    }
    let bound = world
        .history()
        .into_iter()
        .filter(|recorded| matches!(recorded.event.body, EventBody::RunBound { .. }));
    assert_eq!(bound.count(), 2, "to the second task, and to one made for the last look");
    let exits = world.told().into_iter().filter(|value| value["type"] == "recipe_exited").count();
    assert_eq!(exits, 1);
}

// ---- the human ----

/// Waits for the flag `go` in every first shift, then ends as its prompt lets it.
fn waiting_agent(folder_of_flags: &str, then: &str) -> String {
    format!(
        "prompt=$(cat)\ntouch {folder_of_flags}/started\n\
         case \"$prompt\" in *'The human says'*) {then} ;; *) while [ ! -e {folder_of_flags}/go ]; do sleep 0.05; done\n\
         echo '{{\"baton\":\"outcome\",\"outcome\":\"again\"}}' ;; esac\n"
    )
}

#[test]
fn a_message_during_a_run_reaches_the_agent_before_it_goes_on() {
    let mut world = World::shell("");
    let flags = world.folder.join("flags").display().to_string();
    let then = "echo \"I heard you.\"; echo '{\"baton\":\"outcome\",\"outcome\":\"stop\"}'";
    fs::write(world.folder.join("agent.sh"), waiting_agent(&flags, then)).unwrap();
    world.recipe("round.yml", &looping("round", "{}", "{ next_step: one }"));
    let task = world.start("round");
    world.up();
    world.wait("the agent works", || world.flag("started").exists().then_some(()));
    world.json(&["recipe", "say", "Use the other door."]);
    fs::write(world.flag("go"), "").unwrap();
    world.wait_for_queue(&task, "done");
    // Its report of before the message did not count: the step was not left by it.
    insta::assert_snapshot!(world.story(), @"
    started round
      one (1)
    exited stopped [completed]: Completed: stopped
    ");
    let prompts = world.prompts(&task);
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].1.contains("Use the other door."), "{}", prompts[1].1);
}

#[test]
fn exit_ends_the_process_tree_and_keeps_the_work() {
    let mut world = World::shell("");
    let flags = world.folder.join("flags").display().to_string();
    let agent = format!(
        "cat > /dev/null\necho half > half.txt\ngit add -A\n\
         git -c user.name=a -c user.email=a@example.org commit -q -m Half\n\
         sleep 3600 &\necho $! > {flags}/child\necho $$ > {flags}/agent\ntouch {flags}/started\nwait\n"
    );
    fs::write(world.folder.join("agent.sh"), agent).unwrap();
    world.recipe("round.yml", &looping("round", "{}", "{ next_step: one }"));
    let task = world.start("round");
    world.up();
    world.wait("the agent works", || world.flag("started").exists().then_some(()));
    let pids = ["child", "agent"].map(|name| fs::read_to_string(world.flag(name)).unwrap().trim().to_owned());
    world.json(&["recipe", "exit"]);
    let exit = world.exit_message();
    assert_eq!(
        (exit["reason"].as_str(), exit["category"].as_str()),
        (Some("user-requested"), Some("completed"))
    );
    for pid in pids {
        // One that is dead and only not yet asked for its exit code is gone too.
        let stat = fs::read_to_string(Path::new("/proc").join(&pid).join("stat"));
        assert!(stat.is_err() || stat.unwrap().contains(") Z "), "process {pid} is still there");
    }
    // The commit is there, so it waits to be accepted.
    assert_eq!(world.wait_for_queue(&task, "provisional")["verified"]["commits"], 1);
    let again = world.run(&["recipe", "exit"]);
    assert_eq!(again.status.code(), Some(4));
}

#[test]
fn a_run_that_was_not_begun_is_over_at_once() {
    let world = World::scripted(&script(&good_agent()));
    let queued = world.json(&["task", "add", "Fix the login"])["task_id"].as_str().unwrap().to_owned();
    world.start("implement-and-review");
    assert_eq!(world.json(&["recipe", "exit"])["has_exited"], true);
    assert_eq!(world.task(&queued)["queue"], "incoming", "the queue's own task stays");
    let carrier = world.start("retrospective");
    world.json(&["recipe", "exit"]);
    assert_eq!(world.task(&carrier)["queue"], "rejected");
}

#[test]
fn a_second_start_on_a_session_is_refused_by_name() {
    let world = World::scripted(&script(&good_agent()));
    world.start("retrospective");
    let refused = world.run(&["recipe", "start", "rebase"]);
    assert_eq!(refused.status.code(), Some(4));
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("the session cli runs retrospective already"), "{error}");
    assert!(world.run(&["recipe", "start", "rebase", "--session", "other"]).status.success());
}

#[test]
fn kill_9_in_the_middle_of_a_step_dispatches_it_again_once() {
    let mut world = World::shell("");
    let flags = world.folder.join("flags").display().to_string();
    let agent = format!(
        "cat > /dev/null\nif [ \"$BATON_STEP\" = two ] && [ ! -e {flags}/hung ]; then touch {flags}/hung; sleep 3600; fi\n\
         case $BATON_STEP in one) o=on ;; *) o=stop ;; esac\n\
         echo \"{{\\\"baton\\\":\\\"outcome\\\",\\\"outcome\\\":\\\"$o\\\"}}\"\n"
    );
    fs::write(world.folder.join("agent.sh"), agent).unwrap();
    world.recipe(
        "two.yml",
        "id: two\nlabel: Two\ndescription: Two steps\ninitial_step: one\nsteps:\n  one:\n    prompt: First.\n    \
         outcomes: [on]\n    on_outcome: { on: { next_step: two } }\n  two:\n    prompt: Second.\n    outcomes: [stop]\n    \
         on_outcome: { stop: { exit: stopped } }\n",
    );
    let task = world.start("two");
    world.up();
    world.wait("the second step hangs", || world.flag("hung").exists().then_some(()));
    world.kill();
    world.up();
    world.wait_for_queue(&task, "done");
    insta::assert_snapshot!(world.story(), @"
    started two
      one (1)
      one → two
      two (2)
    exited stopped [completed]: Completed: stopped
    ");
    let names: Vec<String> = world.prompts(&task).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["001-one.md", "002-two.md", "001-two.md"], "the first step is not done twice");
}

// ---- questions and gates ----

#[test]
fn a_question_of_a_step_is_answered_and_the_step_goes_on() {
    let mut world = World::scripted(&script(&[
        json!({ "step": "one", "resumed": true, "steps": [{ "read_answer": "The answer (" },
            { "outcome": { "outcome": "stop", "description": "{{answer}}" } }] }),
        json!({ "step": "one", "steps": [{ "ask": { "question": "Which door?" } }] }),
    ]));
    world.recipe("round.yml", &looping("round", "{}", "{ next_step: one }"));
    let task = world.start("round");
    world.up();
    world.wait_for_question(&task);
    assert!(world.run(&["task", "reply", &task, "The red one"]).status.success());
    let view = world.wait_for_queue(&task, "done");
    assert!(view["output"].as_str().unwrap().contains("The red one"), "{view}");
    assert_eq!(world.told().len(), 3, "one start, one step, one exit:\n{}", world.story());
}

#[test]
fn blocked_asks_the_human_in_the_agents_words_and_the_same_recipe_goes_on() {
    let mut scenes = vec![
        json!({ "step": "implement", "when": "Use the test key.", "steps": [
            { "write": { "path": "login.txt", "text": "fixed\n" } }, outcome("complete") ] }),
        json!({ "step": "implement", "steps": [
            { "outcome": { "outcome": "blocked", "description": "The signing key is missing" } }] }),
    ];
    scenes.extend(good_agent());
    let mut world = World::scripted(&script(&scenes));
    world.json(&["task", "add", "Fix the login"]);
    let task = world.start("implement-and-review");
    world.up();
    let view = world.wait_for_question(&task);
    assert_eq!(view["question"]["text"], "The signing key is missing");
    assert_eq!(world.exit_message()["message"], "Implementation blocked - cannot proceed");
    world.run(&["task", "reply", &task, "Use the test key."]);
    world.wait_for_queue(&task, "provisional");
    assert!(
        world
            .story()
            .ends_with("exited task-committed [completed]: Task implementation committed successfully\n")
    );
}

#[test]
fn a_gate_waits_for_the_human_and_hands_over_no_question() {
    let scenes = vec![
        json!({ "step": "plan", "resumed": true, "when": "Mondays", "steps": [
            { "outcome": { "outcome": "planned", "description": "First the door, then the lock." } }] }),
        json!({ "step": "plan", "steps": [{ "ask": { "question": "On which days does it fail?" } }] }),
        json!({ "step": "execute", "steps": [{ "write": { "path": "door.txt", "text": "open\n" } },
            { "commit": "Open the door" },
            { "outcome": { "outcome": "executed", "description": "The door is done." } }] }),
        json!({ "step": "review", "steps": [{ "outcome": { "outcome": "stop", "description": "All is well." } }] }),
    ];
    let mut world = World::scripted(&script(&scenes));
    let task = world.start("plan-execute-review");
    world.up();
    world.wait_for_question(&task);
    world.run(&["task", "reply", &task, "Only on Mondays"]);
    let gate = |world: &World, said: &str| {
        world.wait(said, || {
            let view = world.task(&task);
            let text = view["question"]["text"].as_str().unwrap_or_default().to_owned();
            text.starts_with(said).then_some(text)
        })
    };
    let asked = gate(&world, "Ready to execute? [YES/NO]");
    assert!(asked.contains("First the door, then the lock."), "{asked}");
    assert!(asked.contains("- YES: the step \"execute\" follows"), "{asked}");
    assert!(asked.contains("- NO: the agent goes on in this step"), "{asked}");
    assert_eq!(world.run(&["task", "reply", &task, "perhaps"]).status.code(), Some(2), "neither YES nor NO");
    assert!(world.run(&["task", "reply", &task, "yes"]).status.success());
    gate(&world, "Ready for review? [YES/NO]");
    world.run(&["task", "reply", &task, "YES"]);
    gate(&world, "Continue loop? [YES/NO]");
    world.run(&["task", "reply", &task, "NO"]);
    assert_eq!(world.exit_message()["reason"], "loop-complete");
    world.wait_for_queue(&task, "provisional");
    let prompts = world.prompts(&task);
    let execute = prompts.iter().find(|(name, _)| name.ends_with("execute.md")).unwrap();
    assert!(execute.1.contains("First the door, then the lock."), "the result is handed over");
    for hidden in ["On which days", "Mondays", "Ready to execute"] {
        assert!(!execute.1.contains(hidden), "{hidden} is of the phase before");
    }
}

// ---- the commands ----

fn says(world: &World, arguments: &[&str]) -> String {
    let output = world.run(arguments);
    let mut said =
        format!("exit {}\n{}", output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap());
    if !output.stderr.is_empty() {
        said = format!("{said}--- stderr\n{}", String::from_utf8(output.stderr).unwrap());
    }
    said
}

#[test]
fn recipes_are_listed_drawn_and_described() {
    let world = World::scripted(&script(&good_agent()));
    insta::assert_snapshot!(says(&world, &["recipe", "list"]), @"
    exit 0
    ID                        LABEL                    FROM      WHAT IT DOES
    break-down-tasks          Break Down Tasks         built in  Turn a design document into tasks in the queue, and check them against it
    document-design           Document Design          built in  Write a design document, review it, and commit it
    implement-and-review      Implement & Review       built in  Implement task, review code, fix issues, and commit
    implement-and-review-all  Implement & Review All   built in  Implement, review and commit one ready task after another, until none is left
    plan-execute-review       Plan → Execute → Review  built in  Plan the next task with the human, execute it, review it, and go round again while they say so
    rebase                    Rebase                   built in  Bring this branch up to date with the one it is to be merged into
    refine-design             Refine Design            built in  Criticise a design document and rework it until nothing important is left
    retrospective             Retrospective            built in  Look back at finished work and write down what to do differently
    review-and-commit         Review & Commit          built in  Review the changes on this branch, fix what is wrong, and commit
    work                      Work                     built in  Do the task in one go; Baton looks at what came of it
    ");
    insta::assert_snapshot!(says(&world, &["recipe", "show", "implement-and-review"]), @"
    exit 0
    implement-and-review  Implement & Review
    Implement task, review code, fix issues, and commit

    At most 3 visits of a step and 100 steps in all.
    It works on the next task that is ready.

    implement (first)
      complete → code-review
      no-tasks → exit no-tasks-available: No tasks available to implement
      blocked  → exit implementation-blocked: Implementation blocked - cannot proceed
      other    → exit user-provided-other: Recipe exited by user choice

    code-review (fresh agent session, role review)
      no-issues    → commit
      issues-found → fix
      other        → exit user-provided-other: Recipe exited by user choice

    fix
      complete → code-review
      other    → exit user-provided-other: Recipe exited by user choice

    commit
      committed         → exit task-committed: Task implementation committed successfully
      nothing-to-commit → exit no-changes-to-commit: No changes to commit
      other             → exit user-provided-other: Recipe exited by user choice
    ");
    insta::assert_snapshot!(says(&world, &["recipe", "show", "plan-execute-review", "--mermaid"]), @r#"
    exit 0
    stateDiagram-v2
        [*] --> plan
        state "plan" as plan
        state "execute" as execute
        state "review" as review
        plan --> execute: planned (gate)
        plan --> [*]: no-tasks / no-tasks-available
        plan --> [*]: other / user-provided-other
        execute --> review: executed (gate)
        execute --> [*]: other / user-provided-other
        review --> plan: continue (gate)
        review --> [*]: stop (gate) / loop-complete
        review --> [*]: other / user-provided-other
    "#);
    insta::assert_snapshot!(says(&world, &["recipe", "show", "implement-and-revue"]), @"
    exit 2
    --- stderr
    error: there is no recipe implement-and-revue (did you mean implement-and-review?)

    Hint: see what there is: baton recipe list
    ");
    let schema = world.json(&["recipe", "schema"]);
    assert_eq!(schema["required"], json!(["id", "label", "description", "initial_step", "steps"]));
    let task = world.json(&["task", "add", "Fix it", "--recipe", "rebase"]);
    assert!(world.run(&["task", "add", "Fix it", "--recipe", "rebas"]).status.code() == Some(2), "{task}");
}

#[test]
fn a_check_names_every_fault_with_its_place() {
    let world = World::scripted(&script(&good_agent()));
    insta::assert_snapshot!(says(&world, &["recipe", "check"]), @"
    exit 0
    0 recipe(s) without faults.
    ");
    world.recipe(
        "broken.yml",
        "id: Broken\nlabel: ''\ninitial_step: strat\ncolour: red\nguardrails: { max_step_visits: 0 }\nsteps:\n  start:\n    \
         prompt: Go.\n    outcomes: [done, done, other]\n    on_outcome:\n      done: { next_step: finnish }\n      \
         never: { exit: x }\n    gate: { question: Sure?, yes: dnoe }\n  finish:\n    prompt: [1]\n    outcomes: []\n    \
         on_outcome: { a: { next_step: start, exit: y } }\n    fresh: yes\n  start:\n    prompt: Again.\n",
    );
    world.recipe("worse.yml", "id: worse\nsteps: [\n");
    insta::assert_snapshot!(says(&world, &["recipe", "check"]), @r#"
    exit 1
    .agent/recipes/broken.yml:1:1: id: "Broken" cannot be a recipe's id: use lower-case letters, digits, - and _, a letter or digit first, at most 64 in all
    .agent/recipes/broken.yml:1:1: description: it is missing; write a text
    .agent/recipes/broken.yml:2:1: label: the text is blank; write at least one visible character
    .agent/recipes/broken.yml:3:1: initial_step: there is no step "strat" (did you mean start?)
    .agent/recipes/broken.yml:4:1: colour: "colour" is not a key here; the keys are id, label, description, initial_step, takes_task, steps, guardrails
    .agent/recipes/broken.yml:5:15: guardrails.max_step_visits: it is 0; write a whole number from 1 to 10000
    .agent/recipes/broken.yml:9:5: step start, outcomes: it is missing; write a list of outcomes
    .agent/recipes/broken.yml:9:22: step start, outcomes.1: the outcome "done" is listed twice
    .agent/recipes/broken.yml:10:5: step start, on_outcome: the outcome "other" has no transition; say where it leads
    .agent/recipes/broken.yml:10:5: step start, on_outcome: it is missing; write a mapping from outcomes to transitions
    .agent/recipes/broken.yml:11:15: step start, on_outcome.done.next_step: there is no step "finnish" (did you mean finish?)
    .agent/recipes/broken.yml:12:7: step start, on_outcome.never: "never" is not among the step's outcomes; list it or drop this
    .agent/recipes/broken.yml:13:30: step start, gate.yes: "dnoe" is not one of the step's outcomes (did you mean done?)
    .agent/recipes/broken.yml:15:5: step finish, prompt: it must be a text, and is a list
    .agent/recipes/broken.yml:16:5: step finish, outcomes: there is no outcome; write at least one
    .agent/recipes/broken.yml:17:19: step finish, on_outcome.a: it leads two ways; keep one of next_step, exit or restart_new_session: true
    .agent/recipes/broken.yml:18:5: step finish, fresh: it must be true or false, and is a text
    .agent/recipes/broken.yml:19:3: step start: the step is written twice
    .agent/recipes/worse.yml:3:1: while parsing a node, did not find expected node content
    --- stderr
    error: 19 fault(s) in 2 file(s)

    Hint: mend them; until then the version before, or the built-in one, is used
    "#);
    let json = world.run(&["--json", "recipe", "check"]);
    let value: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((json.status.code(), value["files"].as_array().unwrap().len()), (Some(1), 2));
}
