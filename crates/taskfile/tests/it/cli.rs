//! Lists, summaries and errors, whole.

use insta::assert_snapshot;

use crate::project::Project;

fn shown(taskfile: &str, args: &[&str]) -> String {
    show(&Project::of(taskfile), args)
}

fn show(project: &Project, args: &[&str]) -> String {
    let (code, stdout, stderr) = project.task(args);
    format!("code {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
}

const LISTED: &str = "version: '3'
tasks:
  zeta: {desc: Z}
  alpha: {desc: \"A in\\ntwo lines\", aliases: [al, a]}
  ns:t: {desc: 'N {{.X}}', vars: {X: x}}
  hidden: echo
  inner: {desc: never, internal: true}
";

#[test]
fn lists() {
    assert_snapshot!(shown(LISTED, &["--list"]), @"");
    assert_snapshot!(shown(LISTED, &["--list-all", "--sort", "none"]), @"");
    assert_snapshot!(shown(LISTED, &["-a", "-s"]), @"");
    assert_snapshot!(shown(LISTED, &["-l", "--json", "--nested", "--no-status"]), @"");
}

#[test]
fn a_summary() {
    let file = "version: '3'\nvars: {G: g}\nenv: {E: e}\ntasks:\n  a:\n    desc: D\n    summary: |\n      More of it\n      in lines\n    aliases: [x]\n    deps: [b]\n    vars: {V: v, S: {sh: echo s}}\n    requires: {vars: [R, {name: N, enum: [p]}]}\n    cmds: ['echo {{.V}}', {task: b}]\n  b: {}\n";
    assert_snapshot!(shown(file, &["--summary", "a"]), @"");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    assert_snapshot!(shown("version: '3'\ntasks:\n  a:\n    cmds: [echo a\n", &["a"]), @"");
    assert_snapshot!(shown("version: '3'\ntasks:\n  a:\n    silent: maybe\n    deps: b\n    cmds: [echo]\n", &["a"]), @"");
    assert_snapshot!(shown("version: '3'\ntasks: {a: {cmds: [{foo: bar}]}}\n", &["a"]), @"");
    assert_snapshot!(shown("version: '3'\nvars: {X: {bogus: 1}}\ntasks: {a: echo}\n", &["a"]), @"");
    assert_snapshot!(shown("version: '3'\ntasks: {a: {cmds: [echo], cmds: [echo]}}\n", &["a"]), @"");
    assert_snapshot!(shown("tasks: {a: echo}\n", &["a"]), @"");
    assert_snapshot!(shown("version: '99'\ntasks: {a: echo}\n", &["a"]), @"");
    assert_snapshot!(shown("version: '3'\ntasks: {a: 'echo {{.X'}\n", &["a"]), @"");
    assert_snapshot!(shown("version: '3'\ntasks: {a: 'echo \"open'}\n", &["a"]), @"");
    assert_snapshot!(shown("version: '3'\ntasks: {a: no-such-program-here x}\n", &["a"]), @"");
}

#[test]
fn mistakes_between_files() {
    let missing = Project::of("version: '3'\nincludes: {x: ./nope.yml}\n");
    assert_snapshot!(show(&missing, &["a"]), @"");
    let files = [
        ("Taskfile.yml", "version: '3'\nincludes: {x: ./o.yml}\n"),
        ("o.yml", "version: '3'\nincludes: {y: ./Taskfile.yml}\n"),
    ];
    assert_snapshot!(show(&Project::with(&files), &["a"]), @"");
    let remote = Project::of("version: '3'\nincludes: {x: 'https://example.com/Taskfile.yml'}\n");
    assert_snapshot!(show(&remote, &["a"]), @"");
    let pinned = [
        ("Taskfile.yml", "version: '3'\nincludes: {x: {taskfile: ./o.yml, checksum: abc}}\n"),
        ("o.yml", "version: '3'\n"),
    ];
    assert_snapshot!(show(&Project::with(&pinned), &["a"]), @"");
    let clash = [
        (
            "Taskfile.yml",
            "version: '3'\nincludes: {x: {taskfile: ./o.yml, flatten: true}}\ntasks: {a: echo}\n",
        ),
        ("o.yml", "version: '3'\ntasks: {a: echo}\n"),
    ];
    assert_snapshot!(show(&Project::with(&clash), &["a"]), @"");
}

#[test]
fn what_is_not_supported_says_what_to_do() {
    assert_snapshot!(shown("version: '3'\ntasks: {a: {watch: true, cmds: [echo a]}}\n", &["a"]), @"");
    assert_snapshot!(shown("version: '3'\ntasks: {a: echo a}\n", &["--watch", "a"]), @"");
    assert_snapshot!(shown("version: '3'\n", &["--experiments"]), @"");
}

#[test]
fn flags_that_contradict_or_do_not_exist() {
    let file = "version: '3'\ntasks: {a: echo a}\n";
    assert_snapshot!(shown(file, &["--json"]), @"");
    assert_snapshot!(shown(file, &["--list", "--list-all"]), @"");
    let (code, _, stderr) = Project::of(file).task(&["--nope"]);
    assert_eq!((code, stderr.lines().last()), (2, Some("unknown flag: --nope")));
    assert_eq!(Project::of(file).task(&["--dry=false", "-s", "a"]), (0, "a\n".to_owned(), String::new()));
}

#[test]
fn a_circle_of_calls_ends() {
    let file = "version: '3'\ntasks:\n  a: {cmds: [{task: b}]}\n  b: {deps: [c]}\n  c: {cmds: [{task: a}]}\n";
    let (code, _, stderr) = Project::of(file).task(&["-s", "a"]);
    assert_eq!(code, 204);
    assert!(stderr.ends_with("task: Maximum task call exceeded (1000) for task \"a\": probably an cyclic dep or infinite loop\n"), "{stderr}");
}

#[test]
fn the_first_taskfile_works() {
    let project = Project::with(&[]);
    assert_eq!(project.task(&["--init"]).0, 0);
    assert_eq!(project.task(&[]), (0, "Hello, world!\n".to_owned(), String::new()));
    assert_eq!(project.task(&["--init"]).0, 1);
}
