//! The library: opening, listing, running, cancelling.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_taskfile::{
    CancelToken, Console, OutputTarget, ProjectTree, Stream, TaskInvocation, TaskRunErrorKind, Taskfile,
    TaskfileCache, split_args,
};

use crate::project::Project;

const AGENT: &str = "version: '3'
tasks:
  greet: {desc: Says hello, silent: true, cmds: [echo \"Hello!\"]}
  both: {desc: Writes on both, silent: true, cmds: ['echo out; echo err >&2']}
  tests: {desc: Takes arguments, silent: true, cmds: ['echo go test ./... {{.CLI_ARGS}}']}
  fail: {desc: Fails, silent: true, cmds: ['echo bye && exit 7']}
  where: {desc: Tells its directory, silent: true, cmds: ['basename $PWD']}
  hang: {desc: Never ends, silent: true, cmds: ['tail -f /dev/null & tail -f /dev/null; echo done']}
  env: {silent: true, cmds: ['echo $X $(printenv Y)'], env: {Y: y}}
  hidden: echo hidden
  inner: {internal: true, desc: Nobody sees, cmds: [echo]}
";

fn open() -> (Project, Taskfile) {
    let project = Project::with(&[(".agent/Taskfile.yml", AGENT)]);
    let taskfile = Taskfile::open(project.path(), ".agent/Taskfile.yml".as_ref()).unwrap();
    (project, taskfile)
}

#[test]
fn the_list_is_in_the_order_of_the_file() {
    let (_project, taskfile) = open();
    let listed = taskfile.list(false).unwrap();
    let names: Vec<&str> = listed.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["greet", "both", "tests", "fail", "where", "hang"]);
    assert_eq!((listed[0].desc.as_str(), listed[0].line), ("Says hello", 3));
    assert_eq!(taskfile.list(true).unwrap().len(), 8);
}

#[test]
fn output_is_captured_separately_or_combined() {
    let (_project, taskfile) = open();
    let apart = taskfile.run(&TaskInvocation::new("both"), &OutputTarget::Separate, None);
    assert_eq!((apart.stdout.as_str(), apart.stderr.as_str(), apart.exit_code), ("out\n", "err\n", 0));
    let together = taskfile.run(&TaskInvocation::new("both"), &OutputTarget::Interleaved, None);
    assert_eq!((together.stdout.as_str(), together.stderr.as_str()), ("out\nerr\n", ""));
    assert!(together.is_success());
}

#[test]
fn output_can_be_streamed() {
    #[derive(Default)]
    struct Lines(Mutex<Vec<(Stream, String)>>);
    impl Console for Lines {
        fn write(&self, stream: Stream, bytes: &[u8]) {
            self.0.lock().unwrap().push((stream, String::from_utf8_lossy(bytes).into_owned()));
        }
    }
    let (_project, taskfile) = open();
    let lines = Arc::new(Lines::default());
    let outcome = taskfile.run(
        &TaskInvocation::new("both"),
        &OutputTarget::Streamed(Arc::clone(&lines) as Arc<dyn Console>),
        None,
    );
    assert!(outcome.stdout.is_empty() && outcome.is_success());
    let mut got = lines.0.lock().unwrap().clone();
    got.sort_by_key(|(_, text)| text.clone());
    assert_eq!(got, [(Stream::Err, "err\n".to_owned()), (Stream::Out, "out\n".to_owned())]);
}

#[test]
fn a_failure_has_the_commands_code_and_a_message() {
    let (_project, taskfile) = open();
    let outcome = taskfile.run(&TaskInvocation::new("fail"), &OutputTarget::Separate, None);
    assert_eq!((outcome.stdout.as_str(), outcome.exit_code), ("bye\n", 7));
    let error = outcome.error.unwrap();
    assert_eq!(error.to_string(), "task: Failed to run task \"fail\": exit status 7");
    assert_eq!((error.code(), error.task()), (201, Some("fail")));
    let missing = taskfile.run(&TaskInvocation::new("gret"), &OutputTarget::Separate, None).error.unwrap();
    assert_eq!(missing.to_string(), "task: Task \"gret\" does not exist. Did you mean \"greet\"?");
    assert!(matches!(
        *taskfile.run(&TaskInvocation::new("inner"), &OutputTarget::Separate, None).error.unwrap().kind,
        TaskRunErrorKind::Internal { .. }
    ));
}

#[test]
fn tasks_run_in_the_project_with_their_arguments_and_variables() {
    let (project, taskfile) = open();
    let name = project.path().file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(
        taskfile.run(&TaskInvocation::new("where"), &OutputTarget::Separate, None).stdout,
        format!("{name}\n")
    );
    let args = split_args("-v -run 'A B'").unwrap();
    let tests =
        taskfile.run(&TaskInvocation { args, ..TaskInvocation::new("tests") }, &OutputTarget::Separate, None);
    assert_eq!(tests.stdout, "go test ./... -v -run A B\n");
    let vars = vec![("CLI_ARGS".to_owned(), "x".to_owned())];
    assert_eq!(
        taskfile
            .run(&TaskInvocation { vars, ..TaskInvocation::new("tests") }, &OutputTarget::Separate, None)
            .stdout,
        "go test ./... x\n"
    );
}

#[test]
fn an_explicit_environment_inherits_nothing() {
    let project = Project::with(&[("Taskfile.yml", AGENT)]);
    let path = std::env::var("PATH").unwrap();
    let environment = baton_taskfile::TaskEnvironment::from_vars([
        ("PATH".to_owned(), path),
        ("X".to_owned(), "x".to_owned()),
    ]);
    let taskfile =
        Taskfile::open_in(&ProjectTree::single(project.path()), "Taskfile.yml".as_ref(), environment)
            .unwrap();
    assert_eq!(taskfile.run(&TaskInvocation::new("env"), &OutputTarget::Separate, None).stdout, "x y\n");
}

#[test]
fn a_timeout_kills_the_whole_process_tree() {
    let (_project, taskfile) = open();
    let call = TaskInvocation { timeout: Some(Duration::from_millis(200)), ..TaskInvocation::new("hang") };
    let outcome = taskfile.run(&call, &OutputTarget::Separate, None);
    assert_eq!(outcome.exit_code, 124);
    assert_eq!(
        outcome.error.unwrap().to_string(),
        "task: Task \"hang\" took longer than 200ms and was cancelled"
    );
}

#[test]
fn cancelling_a_run_kills_everything_it_started() {
    let project = Project::of(
        "version: '3'\ntasks: {a: {silent: true, cmds: ['sh -c \"echo \\$\\$ > pid; exec tail -f /dev/null\" & wait']}}\n",
    );
    let taskfile = Taskfile::open(project.path(), "Taskfile.yml".as_ref()).unwrap();
    let cancel = CancelToken::new().unwrap();
    let pid = project.path().join("pid");
    let outcome = std::thread::scope(|threads| {
        let running =
            threads.spawn(|| taskfile.run(&TaskInvocation::new("a"), &OutputTarget::Separate, Some(&cancel)));
        while !std::fs::read_to_string(&pid).is_ok_and(|p| p.ends_with('\n')) {
            std::thread::yield_now();
        }
        cancel.cancel();
        running.join().unwrap()
    });
    assert_eq!(outcome.exit_code, 130);
    let started = std::fs::read_to_string(&pid).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", started.trim()));
    assert!(stat.is_err() || stat.is_ok_and(|s| s.contains(") Z ")), "the started process is gone");
}

#[test]
fn concurrent_runs_do_not_mix() {
    let project = Project::of(
        "version: '3'\ntasks: {a: {silent: true, cmds: ['for i in 1 2 3 4 5; do echo {{.N}}; done']}}\n",
    );
    let taskfile = Taskfile::open(project.path(), "Taskfile.yml".as_ref()).unwrap();
    std::thread::scope(|threads| {
        for n in 0..8 {
            let taskfile = &taskfile;
            threads.spawn(move || {
                let call = TaskInvocation {
                    vars: vec![("N".to_owned(), n.to_string())],
                    ..TaskInvocation::new("a")
                };
                assert_eq!(
                    taskfile.run(&call, &OutputTarget::Separate, None).stdout,
                    format!("{n}\n").repeat(5)
                );
            });
        }
    });
}

#[test]
fn the_cache_re_reads_only_changed_files() {
    let project = Project::with(&[
        ("Taskfile.yml", "version: '3'\nincludes: {x: ./o.yml}\n"),
        ("o.yml", "version: '3'\ntasks: {a: {desc: old}}\n"),
    ]);
    let cache = TaskfileCache::default();
    let open = || cache.open(project.path(), "Taskfile.yml".as_ref()).unwrap();
    let first = open();
    assert!(Arc::ptr_eq(&first, &open()));
    std::fs::write(project.path().join("o.yml"), "version: '3'\ntasks: {a: {desc: newer}}\n").unwrap();
    assert!(!first.is_current());
    assert_eq!(open().list(false).unwrap()[0].desc, "newer");
    std::fs::remove_file(project.path().join("Taskfile.yml")).unwrap();
    assert_eq!(cache.open(project.path(), "Taskfile.yml".as_ref()).unwrap_err().code(), 100);
}

#[test]
fn unknown_keys_are_warnings_with_the_nearest_known_one() {
    let project = Project::of(
        "version: '3'\nx-mine: 1\ntask: {}\ntasks:\n  a: {platform: linux, hidden: true, cmds: [echo]}\n",
    );
    let taskfile = Taskfile::open(project.path(), "Taskfile.yml".as_ref()).unwrap();
    let warnings: Vec<String> = taskfile
        .warnings()
        .iter()
        .map(|(_, w)| format!("{}:{} {}", w.position.line, w.position.column, w.message))
        .collect();
    assert_eq!(
        warnings,
        [
            "3:1 unknown key \"task\" in taskfile; did you mean \"tasks\"?",
            "5:7 unknown key \"platform\" in task; did you mean \"platforms\"?",
            "5:24 unknown key \"hidden\" in task",
        ]
    );
}

#[test]
fn a_file_included_several_times_is_warned_about_once() {
    let include = |name: &str| format!("  {name}: ./part.yml\n");
    let both = format!("version: '3'\nincludes:\n{}{}", include("a"), include("b"));
    let project = Project::with(&[
        ("Taskfile.yml", &format!("{both}{}  more: ./more.yml\n", include("c"))),
        ("more.yml", &both),
        ("part.yml", "version: '3'\ntasks:\n  t: {desc: T, hiden: true, cmds: [echo]}\n"),
    ]);
    let taskfile = Taskfile::open(project.path(), "Taskfile.yml".as_ref()).unwrap();
    let names: Vec<String> = taskfile.list(true).unwrap().into_iter().map(|task| task.name).collect();
    assert_eq!(names, ["a:t", "b:t", "c:t", "more:a:t", "more:b:t"]);
    assert_eq!(taskfile.warnings().len(), 1, "{:?}", taskfile.warnings());
}

#[test]
fn hints_add_to_messages() {
    let project = Project::with(&[
        ("Taskfile.yml", "version: '3'\nincludes: {x: ./o.yml}\n"),
        ("o.yml", "version: '3'\nincludes: {y: ./Taskfile.yml}\n"),
        ("bad.yml", "version: '3'\ntasks: [\n"),
        ("round.yml", "version: '3'\ntasks: {a: {cmds: [{task: b}]}, b: {deps: [a]}}\n"),
    ]);
    let error = |file: &str| Taskfile::open(project.path(), file.as_ref()).unwrap_err();
    let hint = error("Taskfile.yml").hint().unwrap().replace(&format!("{}/", project.path().display()), "");
    assert_eq!(hint, "include cycle: Taskfile.yml → o.yml → Taskfile.yml");
    let bad = error("bad.yml");
    assert!(bad.hint().unwrap().contains("bad.yml:"), "{bad:?}");
    assert!(bad.position().is_some());
    let round = Taskfile::open(project.path(), "round.yml".as_ref())
        .unwrap()
        .run(&TaskInvocation::new("a"), &OutputTarget::Separate, None)
        .error
        .unwrap();
    assert_eq!(round.hint().unwrap(), "call cycle: a → b → a");
}
