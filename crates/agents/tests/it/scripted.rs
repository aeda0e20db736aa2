//! The scripted agent: each step, and the example in its documentation.

use std::fs;
use std::path::Path;

use baton_agents::driver::Launch;
use baton_agents::driver::run_result::ProcessExit;
use baton_agents::scripted::{Script, ScriptCue, ScriptStage};
use baton_core::task::attempt::AttemptResult;

use crate::bench::{Bench, run};

fn documentation() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scripted-agent.md");
    fs::read_to_string(path).unwrap()
}

fn example() -> String {
    let text = documentation();
    let (_, behind) = text.split_once("```json\n").unwrap();
    behind.split_once("```").unwrap().0.to_owned()
}

fn with_prompt(mut launch: Launch, prompt: &str) -> Launch {
    prompt.clone_into(&mut launch.prompt);
    launch
}

#[tokio::test]
async fn the_example_of_the_documentation_runs() {
    let bench = Bench::new();
    bench.init_git();
    let ran = run(with_prompt(bench.script(&example()), "Please add a greeting.")).await;
    let AttemptResult::Asked { question } = ran.ended.reported.result else { panic!("{:?}", ran.ended) };
    assert_eq!(question.text.as_str(), "Whom should it greet?");

    let mut launch = with_prompt(
        bench.script(&example()),
        "Please add a greeting.\n\nThe answer (human):\n\n```text\nthe moon\n```\n",
    );
    launch.environment.set("BATON_RESUME", "1");
    let ran = run(launch).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(ran.ended.reported.output, "It greets the moon now.");
    assert_eq!((ran.ended.turns, ran.ended.input_tokens), (3, 1200));
    assert_eq!(fs::read_to_string(bench.worktree().join("greeting.txt")).unwrap(), "Hello, the moon!\n");
    assert_eq!(bench.git(&["log", "--format=%an: %s"]), "Scripted Agent: Add a greeting");

    let ran = run(with_prompt(bench.script(&example()), "Do something else.")).await;
    assert_eq!(ran.ended.outcome.unwrap().name, "blocked");
}

#[test]
fn the_documentation_has_every_step() {
    let text = documentation();
    let error = Script::parse(r#"{"otherwise": ["no-such-step"]}"#).unwrap_err().to_string();
    let steps: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
    assert!(steps.len() > 15, "{error}");
    for step in steps {
        assert!(
            text.contains(&format!("`{step}`")) || text.contains(&format!("\"{step}\"")),
            "{step} is not described"
        );
    }
}

#[tokio::test]
async fn files_are_written_appended_deleted_and_committed() {
    let bench = Bench::new();
    bench.init_git();
    let ran = run(bench.steps(
        r#"[{"write": {"path": "a/b.txt", "text": "one\n"}}, {"append": {"path": "a/b.txt", "text": "two\n"}},
            {"write": {"path": "gone.txt", "text": ""}}, {"commit": "First"},
            {"delete": "gone.txt"}, {"commit": "Second"}, {"commit": "Third"}]"#,
    ))
    .await;
    assert_eq!(ran.ended.reported.output, "nothing to commit");
    assert_eq!(bench.git(&["log", "--format=%s"]), "Second\nFirst");
    assert_eq!(bench.git(&["ls-files"]), "a/b.txt");
    assert_eq!(bench.git(&["show", "HEAD:a/b.txt"]), "one\ntwo");
}

#[tokio::test]
async fn fail_once_fails_once_for_each_task() {
    let bench = Bench::new();
    bench.init_git();
    let mut exits = Vec::new();
    for task in ["TASK-00000001", "TASK-00000001", "TASK-00000002"] {
        let mut launch = bench.steps(r#"[{"fail_once": {"exit": 9}}, {"crash": {"exit": 0}}, "hang"]"#);
        launch.environment.set("BATON_TASK_ID", task);
        exits.push(run(launch).await.ended.exit);
    }
    assert_eq!(exits, [Some(ProcessExit::Code(9)), Some(ProcessExit::Code(0)), Some(ProcessExit::Code(9))]);
}

/// Runs the scripted agent in this process; returns its streams and exit code.
fn play(script: &str, prompt: &str, attempt: u32, resumed: bool) -> (String, String, u8) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let stage = ScriptStage {
        worktree: std::env::temp_dir(),
        memory: None,
        task: "TASK-00000001".to_owned(),
        cue: ScriptCue { attempt, resumed, ..ScriptCue::default() },
        out: &mut out,
        err: &mut err,
    };
    let exit = baton_agents::scripted::run(script, prompt, stage);
    (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap(), exit)
}

#[test]
fn the_first_matching_script_is_used() {
    let script = r#"{"scripts": [
        {"when": "tests", "attempt": 2, "steps": [{"say": "second attempt"}]},
        {"when": "tests", "resumed": true, "steps": [{"say": "resumed"}]},
        {"when": "tests", "steps": [{"say": "{{task}}"}]}],
        "otherwise": [{"say": "otherwise"}]}"#;
    assert_eq!(play(script, "write tests", 2, false).0, "second attempt\n");
    assert_eq!(play(script, "write tests", 1, true).0, "resumed\n");
    assert_eq!(play(script, "write tests", 1, false).0, "TASK-00000001\n");
    assert_eq!(play(script, "write docs", 1, false).0, "otherwise\n");
}

#[test]
fn an_answer_is_inserted_into_texts_and_reports() {
    let script = r#"{"otherwise": [{"read_answer": "Answer:"}, {"say": "<{{answer}}>"},
        {"result": {"status": "COMPLETE", "output": "{{answer}}"}}]}"#;
    let (out, _, exit) = play(script, "Answer: no\nAnswer:\n  say \"yes\"\n", 1, true);
    assert_eq!(
        out,
        "<say \"yes\">\n{\"baton\":\"result\",\"output\":\"say \\\"yes\\\"\",\"status\":\"COMPLETE\"}\n"
    );
    assert_eq!(exit, 0);
    let fenced = "Answer: no\nAnswer (human):\n\n````text\na\n```\nb\n````\nmore";
    let (out, _, _) = play(&script.replace("Answer:", "Answer"), fenced, 1, true);
    assert!(out.starts_with("<a\n```\nb>\n"), "{out}");
    let (_, err, exit) = play(script, "no such thing", 1, true);
    assert_eq!(err, "scripted agent: otherwise[0]: the prompt has no answer after \"Answer:\"\n");
    assert_eq!(exit, 1);
}

#[test]
fn a_bad_script_is_refused_with_the_position() {
    for (script, message) in [
        ("{", "EOF while parsing an object at line 1 column 1"),
        ("{\n \"otherwise\": [\n  {\"wirte\": 1}]}", "unknown variant `wirte`, expected one of `write`"),
        ("{\n \"otherwise\": [\n  {\"wirte\": 1}]}", "at line 3 column 10"),
        (
            r#"{"scripts": [{"steps": [{"say": "x"}, {"write": {"path": "../x", "text": ""}}]}]}"#,
            "scripts[0].steps[1]: \"../x\" must be a relative path",
        ),
        (
            r#"{"otherwise": [{"delete": "/etc/passwd"}]}"#,
            "otherwise[0]: \"/etc/passwd\" must be a relative path",
        ),
        (r#"{"otherwise": [{"result": {"status": "DONE"}}]}"#, "otherwise[0]: \"DONE\" is none of COMPLETE"),
        (r#"{"otherwise": [{"ask": {}}]}"#, "otherwise[0]: missing field `question`"),
        (r#"{"otherwise": [{"commit": " "}]}"#, "otherwise[0]: the message is blank"),
        (r#"{"otherwise": [{"spawn": {"count": 1000000}}]}"#, "otherwise[0]: at most 100 at a time"),
        (r#"{"otherwise": [{"crash": {"signal": "WINCH"}}]}"#, "unknown variant `WINCH`"),
        (r#"{"scripts": [{"wenn": "x", "steps": []}]}"#, "unknown field `wenn`"),
    ] {
        let (out, err, exit) = play(script, "", 1, false);
        assert!(err.contains(message), "{err}");
        assert_eq!((out.as_str(), exit), ("", 2));
    }
}

#[test]
fn a_script_can_be_for_one_step_of_a_recipe_and_one_visit() {
    let script = r#"{"scripts": [
        {"step": "review", "visit": 2, "steps": [{"say": "again"}]},
        {"step": "review", "steps": [{"say": "first"}]}
    ], "otherwise": [{"say": "something else"}]}"#;
    let output = |step: &str, visit| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let stage = ScriptStage {
            worktree: std::env::temp_dir(),
            memory: None,
            task: "TASK-00000001".to_owned(),
            cue: ScriptCue { step: step.to_owned(), visit, ..ScriptCue::default() },
            out: &mut out,
            err: &mut err,
        };
        baton_agents::scripted::run(script, "prompt", stage);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        [output("review", 1), output("review", 2), output("fix", 1)],
        ["first\n", "again\n", "something else\n"]
    );
}
