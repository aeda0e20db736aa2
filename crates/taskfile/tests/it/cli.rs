//! Lists, summaries and errors as whole outputs.

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
    assert_snapshot!(shown(LISTED, &["--list"]), @r"
    code 0
    --- stdout
    task: Available tasks for this project:
    * alpha:       A in two lines      (aliases: al, a)
    * zeta:        Z
    * ns:t:        N x
    --- stderr
    ");
    assert_snapshot!(shown(LISTED, &["--list-all", "--sort", "none"]), @r"
    code 0
    --- stdout
    task: Available tasks for this project:
    * zeta:         Z
    * alpha:        A in two lines      (aliases: al, a)
    * ns:t:         N x
    * hidden:       
    --- stderr
    ");
    assert_snapshot!(shown(LISTED, &["-a", "-s"]), @r"
    code 0
    --- stdout
    alpha
    al
    a
    hidden
    zeta
    ns:t
    --- stderr
    ");
    assert_snapshot!(shown(LISTED, &["-l", "--json", "--nested", "--no-status"]), @r#"
    code 0
    --- stdout
    {
      "tasks": [
        {
          "name": "alpha",
          "task": "alpha",
          "desc": "A in\ntwo lines",
          "summary": "",
          "aliases": [
            "al",
            "a"
          ],
          "location": {
            "line": 4,
            "column": 3,
            "taskfile": "DIR/Taskfile.yml"
          }
        },
        {
          "name": "zeta",
          "task": "zeta",
          "desc": "Z",
          "summary": "",
          "aliases": [],
          "location": {
            "line": 3,
            "column": 3,
            "taskfile": "DIR/Taskfile.yml"
          }
        }
      ],
      "namespaces": {
        "ns": {
          "tasks": [
            {
              "name": "ns:t",
              "task": "ns:t",
              "desc": "N x",
              "summary": "",
              "aliases": [],
              "location": {
                "line": 5,
                "column": 3,
                "taskfile": "DIR/Taskfile.yml"
              }
            }
          ]
        }
      },
      "location": "DIR/Taskfile.yml"
    }
    --- stderr
    "#);
}

#[test]
fn a_summary() {
    let file = "version: '3'\nvars: {G: g}\nenv: {E: e}\ntasks:\n  a:\n    desc: D\n    summary: |\n      More of it\n      in lines\n    aliases: [x]\n    deps: [b]\n    vars: {V: v, S: {sh: echo s}}\n    requires: {vars: [R, {name: N, enum: [p]}]}\n    cmds: ['echo {{.V}}', {task: b}]\n  b: {}\n";
    assert_snapshot!(shown(file, &["--summary", "a"]), @r#"
    code 0
    --- stdout
    task: a

    More of it
    in lines

    vars:
      G: "g"
      V: "v"
      S: sh: echo s

    env:
      E: "e"

    requires:
      vars:
        - R
        - N:
            enum:
              - p

    dependencies:
     - b

    aliases:
     - x

    commands:
     - echo v
     - Task: b
    --- stderr
    "#);
}

#[test]
fn errors_point_at_their_position() {
    assert_snapshot!(shown("version: '3'\ntasks:\n  a:\n    cmds: [echo a\n", &["a"]), @r"
    code 109
    --- stdout
    --- stderr
    task: Failed to parse Taskfile.yml:
    yaml: line 3: did not find expected ',' or ']'
    ");
    assert_snapshot!(shown("version: '3'\ntasks:\n  a:\n    silent: maybe\n    deps: b\n    cmds: [echo]\n", &["a"]), @r"
    code 102
    --- stdout
    --- stderr
    errs:
    - line 4: cannot unmarshal !!str `maybe` into bool
    - line 5: cannot unmarshal !!str `b` into []*ast.Dep
    file: DIR/Taskfile.yml:4:5
      2 | tasks:
      3 |   a:
    > 4 |     silent: maybe
        |     ^
      5 |     deps: b
      6 |     cmds: [echo]
    ");
    assert_snapshot!(shown("version: '3'\ntasks: {a: {cmds: [{foo: bar}]}}\n", &["a"]), @r"
    code 102
    --- stdout
    --- stderr
    err:  invalid keys in command
    file: DIR/Taskfile.yml:2:20
      1 | version: '3'
    > 2 | tasks: {a: {cmds: [{foo: bar}]}}
        |                    ^
    ");
    assert_snapshot!(shown("version: '3'\nvars: {X: {bogus: 1}}\ntasks: {a: echo}\n", &["a"]), @r#"
    code 102
    --- stdout
    --- stderr
    err:  "bogus" is not a valid variable type. Try "sh", "ref", "map", "value" or using a scalar value
    file: DIR/Taskfile.yml:2:11
      1 | version: '3'
    > 2 | vars: {X: {bogus: 1}}
        |           ^
      3 | tasks: {a: echo}
    "#);
    assert_snapshot!(shown("version: '3'\ntasks: {a: {cmds: [echo], cmds: [echo]}}\n", &["a"]), @r#"
    code 102
    --- stdout
    --- stderr
    err:  line 2: mapping key "cmds" already defined at line 2
    file: DIR/Taskfile.yml:2:12
      1 | version: '3'
    > 2 | tasks: {a: {cmds: [echo], cmds: [echo]}}
        |            ^
    "#);
    assert_snapshot!(shown("tasks: {a: echo}\n", &["a"]), @r#"
    code 107
    --- stdout
    --- stderr
    task: Missing schema version in Taskfile "DIR/Taskfile.yml"
    "#);
    assert_snapshot!(shown("version: '99'\ntasks: {a: echo}\n", &["a"]), @r#"
    code 107
    --- stdout
    --- stderr
    task: Invalid schema version in Taskfile "DIR/Taskfile.yml":
    Schema version (99.0.0) is greater than the current version of Task (3.54.0)
    "#);
    assert_snapshot!(shown("version: '3'\ntasks: {a: 'echo {{.X'}\n", &["a"]), @r"
    code 1
    --- stdout
    --- stderr
    template: :1: unclosed action
    ");
    assert_snapshot!(shown("version: '3'\ntasks: {a: 'echo \"open'}\n", &["a"]), @r#"
    code 201
    --- stdout
    --- stderr
    task: [a] echo "open
    task: Failed to run task "a": 1:6: reached EOF without closing quote `"`
    "#);
    assert_snapshot!(shown("version: '3'\ntasks: {a: no-such-program-here x}\n", &["a"]), @r#"
    code 201
    --- stdout
    --- stderr
    task: [a] no-such-program-here x
    "no-such-program-here": executable file not found in $PATH
    task: Failed to run task "a": exit status 127
    "#);
}

#[test]
fn errors_across_included_files() {
    let missing = Project::of("version: '3'\nincludes: {x: ./nope.yml}\n");
    assert_snapshot!(show(&missing, &["a"]), @r#"
    code 100
    --- stdout
    --- stderr
    task: No Taskfile found at "DIR/nope.yml"
    "#);
    let files = [
        ("Taskfile.yml", "version: '3'\nincludes: {x: ./o.yml}\n"),
        ("o.yml", "version: '3'\nincludes: {y: ./Taskfile.yml}\n"),
    ];
    assert_snapshot!(show(&Project::with(&files), &["a"]), @r"
    code 110
    --- stdout
    --- stderr
    task: include cycle detected between DIR/Taskfile.yml <--> DIR/o.yml
    ");
    let remote = Project::of("version: '3'\nincludes: {x: 'https://example.com/Taskfile.yml'}\n");
    assert_snapshot!(show(&remote, &["a"]), @r#"
    code 103
    --- stdout
    --- stderr
    task: Download of "https://example.com/Taskfile.yml" failed: remote Taskfiles are not supported. Save the file in the project and include it by its path
    "#);
    let pinned = [
        ("Taskfile.yml", "version: '3'\nincludes: {x: {taskfile: ./o.yml, checksum: abc}}\n"),
        ("o.yml", "version: '3'\n"),
    ];
    assert_snapshot!(show(&Project::with(&pinned), &["a"]), @r#"
    code 111
    --- stdout
    --- stderr
    task: The checksum of the Taskfile at "DIR/o.yml" does not match!
    got: "f46c302190aef1002a93cf600bba671567efbd4b5a248e8d672ad5d4bae6b04e"
    want: "abc"
    "#);
    let clash = [
        (
            "Taskfile.yml",
            "version: '3'\nincludes: {x: {taskfile: ./o.yml, flatten: true}}\ntasks: {a: echo}\n",
        ),
        ("o.yml", "version: '3'\ntasks: {a: echo}\n"),
    ];
    assert_snapshot!(show(&Project::with(&clash), &["a"]), @r#"
    code 203
    --- stdout
    --- stderr
    task: Found multiple tasks (a) included by "x""
    "#);
}

#[test]
fn unsupported_features_say_what_to_do_instead() {
    assert_snapshot!(shown("version: '3'\ntasks: {a: {watch: true, cmds: [echo a]}}\n", &["a"]), @r#"
    code 1
    --- stdout
    --- stderr
    task: watching for changes (task "a") is not supported. Run it without --watch and `watch: true`, or start it from a file watcher such as `watchexec -- task a`
    "#);
    assert_snapshot!(shown("version: '3'\ntasks: {a: echo a}\n", &["--watch", "a"]), @r#"
    code 1
    --- stdout
    --- stderr
    task: watching for changes (task "a") is not supported. Run it without --watch and `watch: true`, or start it from a file watcher such as `watchexec -- task a`
    "#);
    assert_snapshot!(shown("version: '3'\n", &["--experiments"]), @r"
    code 1
    --- stdout
    --- stderr
    task: experiments and shell completion are not supported
    ");
}

#[test]
fn contradictory_and_unknown_flags() {
    let file = "version: '3'\ntasks: {a: echo a}\n";
    assert_snapshot!(shown(file, &["--json"]), @r"
    code 1
    --- stdout
    --- stderr
    task: --json only applies to --list or --list-all
    ");
    assert_snapshot!(shown(file, &["--list", "--list-all"]), @r"
    code 1
    --- stdout
    --- stderr
    task: cannot use --list and --list-all at the same time
    ");
    let (code, _, stderr) = Project::of(file).task(&["--nope"]);
    assert_eq!((code, stderr.lines().last()), (2, Some("unknown flag: --nope")));
    assert_eq!(Project::of(file).task(&["--dry=false", "-s", "a"]), (0, "a\n".to_owned(), String::new()));
}

#[test]
fn call_cycles_are_bounded() {
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
