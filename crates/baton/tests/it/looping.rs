//! The Plan → Execute → Review loop through the real binary, with the scripted agent in every phase.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Place {
    folder: PathBuf,
    _scratch: TempDir,
}

fn point(clarity: &str) -> Value {
    json!({ "clarity": clarity, "reason": "as the task says" })
}

fn rubric(goal: &str) -> String {
    json!({ "baton": "vagueness", "goal": point(goal), "scope": point("clear"), "acceptance": point("clear"),
            "constraints": point("clear") })
    .to_string()
}

fn discovered(titles: &[&str]) -> String {
    let tasks: Vec<Value> = titles.iter().map(|title| json!({ "title": title })).collect();
    json!({ "baton": "discovered", "tasks": tasks }).to_string()
}

/// Plans two subtasks, works on them, and comes upon a task in its review.
fn script() -> Value {
    json!({ "scripts": [
        { "when": "# Plan: Vague", "steps": [
            { "say": rubric("missing") },
            { "plan": [{ "title": "A guess" }] },
            { "result": { "status": "COMPLETE", "output": "Planned by guessing." } },
        ] },
        { "when": "# Plan: Ask first", "resumed": false, "steps": [{ "ask": { "question": "Which secret colour?" } }] },
        { "when": "# Plan:", "steps": [
            { "say": rubric("clear") },
            { "plan": [
                { "title": "First part", "description": "Write the first file." },
                { "title": "Second part", "description": "Write the second file." },
            ] },
            { "result": { "status": "COMPLETE", "output": "Planned." } },
        ] },
        { "when": "# Review:", "steps": [
            { "say": discovered(&["Add docs", "add docs.", "Wash the dishes"]) },
            { "result": { "status": "COMPLETE", "output": "Two parts, one pattern." } },
        ] },
    ], "otherwise": [
        { "write": { "path": "out/{{task}}.txt", "text": "{{task}}\n" } },
        { "commit": "Work on {{task}}" },
        { "result": { "status": "COMPLETE", "output": "Written." } },
    ] })
}

impl Place {
    fn new(script: &Value) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        let place = Self { folder, _scratch: scratch };
        place.git(&["init", "-q", "-b", "main"]);
        fs::create_dir(place.folder.join(".agent")).unwrap();
        fs::write(place.folder.join("script.json"), script.to_string()).unwrap();
        let settings = format!(
            "default_agent = \"scripted\"\n[agents.scripted]\nkind = \"scripted\"\ncommand = [\"{}\"]\n",
            place.folder.join("script.json").display()
        );
        fs::write(place.folder.join(".agent/baton.toml"), settings).unwrap();
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "Begin"]);
        place
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
        let status =
            Command::new("git").args(identity).args(arguments).current_dir(&self.folder).status().unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    fn baton(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.current_dir(&self.folder).env("BATON_USER", "mia").stdin(Stdio::null());
        command
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.baton().arg("--json").args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn add(&self, title: &str) -> String {
        self.json(&["task", "add", title])["task_id"].as_str().unwrap().to_owned()
    }

    /// Runs the loop with these answers, one for each question as it comes.
    fn answered(&self, arguments: &[&str], answers: &[&str]) -> Output {
        let file = self.folder.join(".agent/answers.txt");
        fs::write(&file, answers.join("\n")).unwrap();
        let mut command = self.baton();
        command.arg("loop").arg("--answers").arg(&file).args(arguments);
        command.output().unwrap()
    }

    fn tasks(&self) -> Vec<Value> {
        self.json(&["task", "list", "--limit", "100"])["tasks"].as_array().unwrap().clone()
    }

    fn titled(&self, title: &str) -> Value {
        let tasks = self.tasks();
        let found: Vec<&Value> = tasks.iter().filter(|task| task["title"] == title).collect();
        assert_eq!(found.len(), 1, "{title}: {tasks:?}");
        found[0].clone()
    }

    /// Every prompt an agent got for tasks whose title begins like this, in the order they were made.
    fn prompts(&self, title: &str) -> Vec<String> {
        let of_title = |task: &&Value| task["title"].as_str().unwrap().starts_with(title);
        let mut prompts = Vec::new();
        for task in self.tasks().iter().filter(of_title) {
            let view = self.json(&["task", "show", task["task_id"].as_str().unwrap()]);
            for attempt in view["attempts"].as_array().unwrap() {
                let id = attempt["attempt"]["id"].as_str().unwrap();
                let folder = self.folder.join(".agent/state/attempts").join(id).join("prompts");
                let mut files: Vec<_> =
                    fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
                files.sort();
                prompts.extend(files.iter().map(|file| fs::read_to_string(file).unwrap()));
            }
        }
        prompts
    }
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// One iteration without anything special: the answers up to the last gate.
const ONE_ROUND: [&str; 7] = ["YES", "YES", "YES", "YES", "YES", "YES", "YES"];

fn round(last: &'static str) -> Vec<&'static str> {
    // Plan's gate; may run and done, twice; Execute's gate; discovered; Review's gate.
    ONE_ROUND.into_iter().chain([last]).collect()
}

#[test]
fn test_1_plan_hands_off_to_execute() {
    let place = Place::new(&script());
    let subject = place.add("Ask first");
    let output = place.answered(&[], &["Teal", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("Ready to execute? [YES/NO]") && said.contains("1. First part"), "{said}");
    assert!(said.contains("— iteration 1: execute —"), "{said}");
    // No more questions from the plan phase, and the execute phase asks for each subtask.
    assert!(said.contains("Execute: First part? [YES/NO/HELP]"), "{said}");
    // The subtasks were created after YES and stand in for what was planned.
    assert_eq!(place.json(&["task", "show", &subject])["queue"], "recycled");
    place.titled("First part");
    // Going on: the agents of the next phase know nothing of what was asked in this one.
    place.answered(&[], &["YES"]);
    let prompts = place.prompts("First part");
    assert!(!prompts.is_empty());
    for prompt in prompts {
        assert!(
            !prompt.contains("colour") && !prompt.contains("Teal") && !prompt.contains("Ready to execute")
        );
    }
}

#[test]
fn test_2_execute_hands_off_to_review() {
    let place = Place::new(&script());
    place.add("Build it");
    let output = place.answered(&[], &["YES", "HELP", "YES", "YES", "YES", "FAILED", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    // HELP shows help and asks the same again.
    assert_eq!(said.matches("Execute: First part? [YES/NO/HELP]").count(), 2, "{said}");
    assert!(said.contains("Write the first file."), "{said}");
    assert!(said.contains("Ready for review? [YES/NO]"), "{said}");
    assert!(said.contains("— iteration 1: review —"), "{said}");
    assert!(said.contains("Add discovered tasks? [YES/NO/EDIT]") && said.contains("Two parts, one pattern."));
    assert_eq!(place.titled("First part")["queue"], "done");
    assert_eq!(place.titled("Second part")["queue"], "failed");
    for prompt in place.prompts("Review:") {
        assert!(prompt.contains("Completed: 1") && prompt.contains("Failed: 1"), "{prompt}");
        for asked in ["Execute: ", "Done: ", "Ready for review", "HELP"] {
            assert!(!prompt.split("You are in the review phase").next().unwrap().contains(asked), "{prompt}");
        }
    }
}

#[test]
fn test_3_review_goes_round_to_plan() {
    let place = Place::new(&script());
    place.add("Build it");
    place.add("Wash the dishes");
    let output = place.answered(&[], &round("YES"));
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("New: 1. Duplicates skipped: 2."), "{said}");
    assert!(said.contains("— iteration 2: plan —"), "{said}");
    // Another task than before, from the queue.
    assert!(said.contains("The plan for") && said.contains("Wash the dishes has 2 subtasks"), "{said}");
    place.titled("Add docs");
    let second = &place.prompts("Plan: Wash")[0];
    assert!(
        second.contains("Iteration 2, plan phase.") && second.contains("Discovered tasks added: 1"),
        "{second}"
    );
    assert!(!second.contains("Continue loop?") && !second.contains("Two parts, one pattern"), "{second}");
}

#[test]
fn test_4_review_breaks_to_the_hub_with_a_summary() {
    let place = Place::new(&script());
    place.add("Build it");
    let output = place.answered(&[], &round("NO"));
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let summary = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        summary,
        "The loop is back in the hub.\nIterations: 1\nTasks completed: 2\nTasks failed: 0\nTasks discovered: 2\n\
         Duplicates skipped: 1\n\nNew loop:     baton loop\nView results: baton task list\nEdit tasks:   baton task \
         add|cancel\n"
    );
    assert!(place.json(&["questions"])["questions"].as_array().unwrap().is_empty());
}

#[test]
fn no_at_a_gate_stays_in_the_phase_and_nothing_is_created() {
    let place = Place::new(&script());
    place.add("Build it");
    let output = place.answered(&[], &["NO", "Make it three parts."]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("What should be different about the plan"), "{said}");
    assert_eq!(said.matches("Ready to execute? [YES/NO]").count(), 2, "{said}");
    assert!(!said.contains("execute —"), "{said}");
    assert!(place.tasks().iter().all(|task| task["title"] != "First part"));
    // What was said in this phase reaches the agent that plans again in it.
    assert!(place.prompts("Plan:").last().unwrap().contains("Make it three parts."));
}

#[test]
fn a_vague_task_is_clarified_before_a_plan_is_taken() {
    let place = Place::new(&script());
    place.add("Vague");
    let output = place.answered(&[], &["It is about the login."]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("Vagueness 0.40: clarify before planning (the limit is 0.30)"), "{said}");
    assert!(
        said.contains("goal is missing: as the task says") && !said.contains("Ready to execute?"),
        "{said}"
    );
    assert!(place.prompts("Plan:")[1].contains("It is about the login."));
    // SKIP takes the plan as it is.
    let output = place.answered(&[], &["SKIP"]);
    assert!(talk(&output).contains("Ready to execute? [YES/NO]"), "{}", talk(&output));
}

#[test]
fn discovered_tasks_are_edited_and_none_is_created_without_yes() {
    let place = Place::new(&script());
    place.add("Build it");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.extend(["EDIT", "Paint the fence: green, twice", "NO", "NO"]);
    let output = place.answered(&[], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let said = talk(&output);
    assert!(
        said.contains("Which tasks should be proposed instead?") && said.contains("- Paint the fence"),
        "{said}"
    );
    let titles: Vec<Value> = place.tasks().iter().map(|task| task["title"].clone()).collect();
    assert!(
        !titles.contains(&json!("Paint the fence")) && !titles.contains(&json!("Add docs")),
        "{titles:?}"
    );
}

#[test]
fn an_empty_queue_ends_the_loop_and_is_no_failure() {
    let place = Place::new(&script());
    let output = place.answered(&[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    assert!(talk(&output).contains("No tasks available"), "{}", talk(&output));
}

#[test]
fn ctrl_c_goes_to_the_hub_and_loses_nothing() {
    let place = Place::new(&script());
    place.add("Build it");
    assert_eq!(place.answered(&[], &["YES"]).status.code(), Some(10));
    let mut child: Child = place
        .baton()
        .arg("loop")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    // The question survived the first command; it is shown again.
    said.find(|line| line.as_ref().unwrap().contains("Execute: First part?")).unwrap().unwrap();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let rest: Vec<String> = said.map(|line| line.unwrap()).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("nothing is lost")), "{rest:?}");
    assert!(place.json(&["questions"])["questions"].as_array().unwrap().is_empty());
    // Its subtasks are still there, and execution can begin with them.
    let output = place.answered(&["--from", "execute"], &["NO", "NO", "YES"]);
    assert!(talk(&output).contains("— iteration 1: review —"), "{}", talk(&output));
}

#[test]
fn a_loop_killed_at_any_question_goes_on_from_it() {
    let place = Place::new(&script());
    place.add("Build it");
    // One answer for each run of the command: everything else comes from the store.
    let answers = round("NO");
    let (last, before) = answers.split_last().unwrap();
    for answer in before {
        let mut child =
            place.baton().arg("loop").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        said.find(|line| line.as_ref().unwrap().contains("→ baton answer")).unwrap().unwrap();
        writeln!(stdin, "{answer}").unwrap();
        said.find(|line| line.as_ref().unwrap().contains(" ← ")).unwrap().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let output = place.answered(&[], &[last]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Tasks completed: 2"), "{output:?}");
}

/// Two rounds and a NO: everything the checklist of a phase's end is about.
fn two_rounds() -> (Place, String) {
    let place = Place::new(&script());
    place.add("Ask first");
    place.add("Build it");
    let mut answers = vec!["Teal"];
    answers.extend(round("YES"));
    // Everything the second review comes upon is open already, so nobody is asked about it.
    answers.extend(&ONE_ROUND[..6]);
    answers.push("NO");
    let output = place.answered(&[], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    (place, talk(&output))
}

/// What was said, without what is not a question, an answer or a hand-off.
fn steps(said: &str) -> Vec<&str> {
    let is_step = |line: &&str| line.contains(" ← ") || line.starts_with("— ") || line.contains("? [YES/NO");
    said.lines().filter(is_step).map(str::trim).collect()
}

#[test]
fn checklist_01_the_gate_is_the_last_question_before_a_hand_off() {
    let (_place, said) = two_rounds();
    let steps = steps(&said);
    for (index, _) in steps.iter().enumerate().filter(|(_, step)| step.starts_with("— ")) {
        let gates = ["Ready to execute? [YES/NO]", "Ready for review? [YES/NO]", "Continue loop? [YES/NO]"];
        assert!(gates.contains(&steps[index - 2]), "{steps:?}");
    }
}

#[test]
fn checklist_02_a_gate_takes_yes_or_no_and_nothing_else() {
    let place = Place::new(&script());
    place.add("Build it");
    let output = place.answered(&[], &["perhaps", "y"]);
    let said = talk(&output);
    assert!(said.contains("\"perhaps\"") && said.contains("YES, NO"), "{said}");
    assert!(said.contains("— iteration 1: execute —"), "{said}");
}

#[test]
fn checklist_03_a_phase_asks_nothing_after_its_decision() {
    let (_place, said) = two_rounds();
    let steps = steps(&said);
    for (index, _) in steps.iter().enumerate().filter(|(_, step)| step.starts_with("— ")) {
        let decision = if steps[index].contains("hub") { "← NO" } else { "← YES" };
        assert!(steps[index - 1].ends_with(decision), "{steps:?}");
    }
}

#[test]
fn checklist_04_the_hand_off_carries_the_decision_and_the_results() {
    let (place, _said) = two_rounds();
    let review = &place.prompts("Review: iteration 1")[0];
    assert!(review.contains("Execution is done.") && review.contains("Completed: 2"), "{review}");
    assert!(place.prompts("Plan: Build it")[0].contains("The review is done."));
}

#[test]
fn checklist_05_the_next_agent_gets_no_question_and_no_answer_of_the_phase_before() {
    let (place, _said) = two_rounds();
    let later = ["First part", "Second part", "Review:", "Plan: Build it"];
    for prompt in later.iter().flat_map(|title| place.prompts(title)) {
        for kept in ["secret colour", "Teal", "The answer (", "Q-"] {
            assert!(!prompt.contains(kept), "{kept}: {prompt}");
        }
    }
}

#[test]
fn checklist_06_the_next_agent_finds_its_context_as_it_is_now() {
    let (place, _said) = two_rounds();
    let prompts = place.prompts("Plan: Build it");
    assert!(
        prompts[0].contains("Iteration 2, plan phase.") && prompts[0].contains("Build it"),
        "{prompts:?}"
    );
    assert!(!prompts[0].contains("Ask first"), "{prompts:?}");
}

#[test]
fn checklist_07_each_phase_asks_its_own_questions() {
    let (_place, said) = two_rounds();
    let phases: Vec<&str> = said.split("— iteration ").collect();
    assert_eq!(phases.len(), 7, "{said}");
    for (phase, asks) in
        phases.iter().zip(["Ready to execute?", "Execute: ", "Add discovered", "Ready to execute?"])
    {
        assert!(phase.contains(asks), "{asks}: {phase}");
    }
    assert!(!phases[1].contains("Ready to execute?") && !phases[2].contains("Execute: "), "{said}");
}

#[test]
fn checklist_08_never_more_than_one_question_of_a_loop_is_pending() {
    let place = Place::new(&script());
    place.add("Build it");
    for answer in ["YES", "YES", "YES", "YES"] {
        assert_eq!(place.answered(&[], &[answer]).status.code(), Some(10));
        assert_eq!(place.json(&["questions"])["questions"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn checklist_09_going_round_and_breaking_off_are_two_ways() {
    let (_place, said) = two_rounds();
    let steps = steps(&said);
    let ends: Vec<&&str> = steps.iter().skip_while(|step| **step != "Continue loop? [YES/NO]").collect();
    assert!(ends[1].ends_with("← YES") && *ends[2] == "— iteration 2: plan —", "{ends:?}");
    let last: Vec<&&str> = steps.iter().rev().take(2).collect();
    assert!(last[0].starts_with("— iteration 2: hub") && last[1].ends_with("← NO"), "{steps:?}");
}

#[test]
fn checklist_10_each_iteration_is_counted() {
    let (place, said) = two_rounds();
    assert!(said.contains("— iteration 2: review —"), "{said}");
    assert_eq!(place.prompts("Review: iteration 2").len(), 1);
}

/// An agent that keeps its token where others find it, and plans one part.
const SHELL_AGENT: &str = r#"
printf '%s' "$BATON_TOKEN" > "$KEEP/token-$BATON_TASK_ID"
echo '{"baton":"vagueness","goal":{"clarity":"clear","reason":"x"},"scope":{"clarity":"clear","reason":"x"},"acceptance":{"clarity":"clear","reason":"x"},"constraints":{"clarity":"clear","reason":"x"}}'
echo '{"baton":"plan","items":[{"title":"Only part"}]}'
echo '{"baton":"result","status":"COMPLETE","output":"Planned."}'
"#;

#[test]
fn checklist_11_an_agent_that_asks_after_its_hand_off_is_refused() {
    let place = Place::new(&script());
    fs::write(place.folder.join("agent.sh"), SHELL_AGENT).unwrap();
    let settings = format!(
        "default_agent = \"shell\"\n[agents.shell]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\nenv = [\"KEEP\"]\n",
        place.folder.join("agent.sh").display()
    );
    fs::write(place.folder.join(".agent/baton.toml"), settings).unwrap();
    place.add("Build it");
    let answers = place.folder.join(".agent/answers.txt");
    fs::write(&answers, "YES\n").unwrap();
    let mut running = place.baton();
    let output =
        running.env("KEEP", &place.folder).arg("loop").arg("--answers").arg(&answers).output().unwrap();
    assert!(talk(&output).contains("— iteration 1: execute —"), "{}", talk(&output));
    let planner = place.titled("Plan: Build it")["task_id"].as_str().unwrap().to_owned();
    let token = fs::read_to_string(place.folder.join(format!("token-{planner}"))).unwrap();
    for (token, code) in [(token.clone(), "cycle_closed"), (token.replace(['0', '1', '2'], "3"), "not_owner")]
    {
        let refused =
            place.baton().args(["ask", "Any final notes?"]).env("BATON_TOKEN", &token).output().unwrap();
        assert_eq!(refused.status.code(), Some(4), "{}", talk(&refused));
        let said: Value = serde_json::from_slice(&refused.stdout).unwrap();
        assert_eq!(said["refused"]["code"], code, "{said}");
        assert!(said["refused"]["next"].as_str().unwrap().contains("turn"), "{said}");
    }
    assert_eq!(place.json(&["questions"])["questions"].as_array().unwrap().len(), 1);
}
