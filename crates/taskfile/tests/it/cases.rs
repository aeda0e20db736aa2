//! The format, feature by feature: a Taskfile, a command line, and the expected output.

use crate::project::Project;

/// One row of a table: arguments, exit code, stdout, stderr.
type Case<'c> = (&'c [&'c str], i32, &'c str, &'c str);

fn check(taskfile: &str, cases: &[Case<'_>]) {
    check_files(&[("Taskfile.yml", taskfile)], cases);
}

fn check_files(files: &[(&str, &str)], cases: &[Case<'_>]) {
    for (args, code, stdout, stderr) in cases {
        let got = Project::with(files).task(args);
        assert_eq!(got, (*code, (*stdout).to_owned(), (*stderr).to_owned()), "task {args:?}");
    }
}

#[test]
fn tasks_in_every_short_form() {
    let file = "version: '3'\ntasks:\n  a: echo a\n  b: [echo b1, echo b2]\n  c: {cmd: echo c}\n  d:\n  e: {cmds: [{cmd: echo e}, null, echo f]}\n";
    check(
        file,
        &[
            (&["-s", "a"], 0, "a\n", ""),
            (&["-s", "b"], 0, "b1\nb2\n", ""),
            (&["-s", "c"], 0, "c\n", ""),
            (&["d"], 0, "", ""),
            (&["-s", "e"], 0, "e\nf\n", ""),
            (&["a"], 0, "a\n", "task: [a] echo a\n"),
        ],
    );
}

#[test]
fn deps_run_first_and_a_failure_names_the_tasks_it_came_through() {
    let file = "version: '3'\ntasks:\n  x: {deps: [a], cmds: [echo x]}\n  a: echo a\n  bad: {deps: [{task: fail, vars: {C: '5'}}], cmds: [echo never]}\n  fail: 'exit {{.C}}'\n";
    check(
        file,
        &[
            (&["-s", "x"], 0, "a\nx\n", ""),
            (
                &["-s", "bad"],
                201,
                "",
                "task: Failed to run task \"bad\": task: Failed to run task \"fail\": exit status 5\n",
            ),
            (
                &["-s", "-x", "bad"],
                5,
                "",
                "task: Failed to run task \"bad\": task: Failed to run task \"fail\": exit status 5\n",
            ),
            (&["--dry", "x"], 0, "", "task: [a] echo a\ntask: [x] echo x\n"),
        ],
    );
}

#[test]
fn variable_precedence() {
    let file = "version: '3'\nvars: {A: file, B: '{{.A}}-b', D: {sh: echo dyn}, L: [x, y], R: {ref: .L}, M: {map: {k: v}}}\ntasks:\n  a: 'echo {{.A}} {{.B}} {{.D}} {{index .R 1}} {{.M.k}} [{{.NONE}}]'\n  b: {vars: {A: task}, cmds: ['echo {{.A}} {{.B}}']}\n  c: {cmds: [{task: p, vars: {A: call}}]}\n  p: 'echo {{.A}} {{.B}}'\n";
    check(
        file,
        &[
            (&["-s", "a"], 0, "file file-b dyn y v []\n", ""),
            (&["-s", "a", "A=cli"], 0, "cli cli-b dyn y v []\n", ""),
            (&["-s", "b", "A=cli"], 0, "task cli-b\n", ""),
            (&["-s", "c"], 0, "call file-b\n", ""),
        ],
    );
}

#[test]
fn environment_of_file_task_and_dotenv() {
    let file = "version: '3'\ndotenv: ['.env', 'nope.env']\nenv: {A: file, B: {sh: echo b}}\ntasks:\n  a: {env: {A: task, N: 5}, cmds: ['echo $A $B $N $D \"$Q\"']}\n  b: {dotenv: [task.env], cmds: ['echo $D {{.D}}']}\n";
    let files = [
        ("Taskfile.yml", file),
        (".env", "D=dot # c\nexport Q=\"q $D\\n\"\n# x\n"),
        ("task.env", "D=of-task\n"),
    ];
    check_files(
        &files,
        &[(&["-s", "a"], 0, "task b 5 dot q dot\n\n", ""), (&["-s", "b"], 0, "of-task dot\n", "")],
    );
}

#[test]
fn loops_over_lists_variables_maps_matrices_and_files() {
    let file = "version: '3'\nvars: {W: 'a b', C: '1,2', M: {map: {k: v}}, L: [p, q]}\ntasks:\n  list: {cmds: [{for: [1, two], cmd: 'echo {{.ITEM}}'}]}\n  words: {cmds: [{for: {var: W}, cmd: 'echo {{.ITEM}}'}]}\n  split: {cmds: [{for: {var: C, split: ',', as: N}, cmd: 'echo {{.N}}'}]}\n  map: {cmds: [{for: {var: M}, cmd: 'echo {{.KEY}}={{.ITEM}}'}]}\n  matrix: {cmds: [{for: {matrix: {A: [1, 2], B: {ref: .L}}}, cmd: 'echo {{.ITEM.A}}{{.ITEM.B}}'}]}\n  files: {sources: ['src/**/*.c', {exclude: src/b.c}], cmds: [{for: sources, cmd: 'echo {{.ITEM}}'}]}\n  calls: {cmds: [{for: [x, y], task: 'call-{{.ITEM}}'}]}\n  call-x: echo X\n  call-y: echo Y\n  dep: {deps: [{for: [x], task: 'call-{{.ITEM}}'}]}\n";
    let files = [("Taskfile.yml", file), ("src/a.c", ""), ("src/b.c", ""), ("src/d/e.c", "")];
    check_files(
        &files,
        &[
            (&["-s", "list"], 0, "1\ntwo\n", ""),
            (&["-s", "words"], 0, "a\nb\n", ""),
            (&["-s", "split"], 0, "1\n2\n", ""),
            (&["-s", "map"], 0, "k=v\n", ""),
            (&["-s", "matrix"], 0, "1p\n1q\n2p\n2q\n", ""),
            (&["-s", "files"], 0, "src/a.c\nsrc/d/e.c\n", ""),
            (&["-s", "calls"], 0, "X\nY\n", ""),
            (&["-s", "dep"], 0, "X\n", ""),
        ],
    );
}

#[test]
fn deferred_commands_run_in_reverse_order_and_see_the_exit_code() {
    let file = "version: '3'\ntasks:\n  a: {cmds: [{defer: echo first}, {defer: 'echo code={{.EXIT_CODE}}'}, echo body, exit 3]}\n  ok: {cmds: [{defer: {task: c, vars: {X: '1'}}}, {defer: exit 9}, echo body]}\n  c: 'echo cleanup {{.X}}'\n";
    check(
        file,
        &[
            (
                &["-s", "-x", "a"],
                3,
                "body\ncode=3\nfirst\n",
                "task: Failed to run task \"a\": exit status 3\n",
            ),
            (&["-s", "ok"], 0, "body\ncleanup 1\n", ""),
        ],
    );
}

#[test]
fn errors_can_be_ignored_at_each_level() {
    let file = "version: '3'\ntasks:\n  cmd: {cmds: [{cmd: exit 3, ignore_error: true}, echo on]}\n  task: {ignore_error: true, cmds: [exit 3, echo on]}\n  call: {cmds: [{task: fail, ignore_error: true}, echo on]}\n  fail: exit 3\n";
    check(
        file,
        &[
            (&["-s", "cmd"], 0, "on\n", ""),
            (&["-s", "task"], 0, "on\n", ""),
            (&["-s", "call"], 0, "on\n", ""),
        ],
    );
}

#[test]
fn conditions_platforms_and_preconditions() {
    let file = "version: '3'\ntasks:\n  if: {if: 'false', cmds: [echo no]}\n  step: {cmds: [{cmd: echo no, if: 'test -f nope'}, {cmd: echo yes, if: '[ 1 = 1 ]'}]}\n  other: {platforms: [plan9], cmds: [echo no]}\n  mixed: {cmds: [{cmd: echo no, platforms: [plan9/amd64]}, echo yes]}\n  pre: {preconditions: [{sh: test -f nope, msg: make nope first}], cmds: [echo no]}\n";
    check(
        file,
        &[
            (&["if"], 0, "", ""),
            (&["-s", "step"], 0, "yes\n", ""),
            (&["other"], 0, "", ""),
            (&["-s", "mixed"], 0, "yes\n", ""),
            (
                &["pre"],
                201,
                "",
                "task: make nope first\ntask: Failed to run task \"pre\": task: precondition not met\n",
            ),
            (&["-f", "-s", "pre"], 0, "no\n", ""),
        ],
    );
}

#[test]
fn required_variables_and_their_values() {
    let file = "version: '3'\ntasks:\n  a: {requires: {vars: [X, {name: E, enum: [dev, prod]}]}, cmds: ['echo {{.X}}{{.E}}']}\n";
    let missing = "task: Task \"a\" cancelled because it is missing required variables: X, E (allowed values: [dev prod])\n";
    let wrong = "task: Task \"a\" cancelled because it is missing required variables:\n  - E has an invalid value : 'x' (allowed values : [dev prod])\n\n";
    check(
        file,
        &[
            (&["a"], 206, "", missing),
            (&["a", "X=1", "E=x"], 207, "", wrong),
            (&["-s", "a", "X=1", "E=dev"], 0, "1dev\n", ""),
        ],
    );
}

#[test]
fn run_once_and_when_changed() {
    let file = "version: '3'\ntasks:\n  a: {cmds: [{task: o}, {task: o}, {task: w, vars: {X: '1'}}, {task: w, vars: {X: '1'}}, {task: w, vars: {X: '2'}}]}\n  o: {run: once, cmds: [echo once]}\n  w: {run: when_changed, cmds: ['echo w{{.X}}']}\n  bad: {run: sometimes, cmds: [echo]}\n";
    check(
        file,
        &[
            (&["-s", "a"], 0, "once\nw1\nw2\n", ""),
            (&["bad"], 201, "", "task: Failed to run task \"bad\": task: invalid run \"sometimes\"\n"),
        ],
    );
}

#[test]
fn sources_checksums_timestamps_and_status() {
    for (task, again) in [("sum", ""), ("time", ""), ("none", "made\n"), ("state", "")] {
        let file = "version: '3'\ntasks:\n  sum: {sources: ['*.in'], generates: [out], cmds: [touch out, echo made]}\n  time: {sources: ['*.in'], generates: [out], method: timestamp, cmds: [touch out, echo made]}\n  none: {sources: ['*.in'], method: none, cmds: [echo made]}\n  state: {status: [test -f out], cmds: [touch out, echo made]}\n";
        let project = Project::with(&[("Taskfile.yml", file), ("a.in", "a")]);
        assert_eq!(project.task(&["-s", task]), (0, "made\n".to_owned(), String::new()), "{task}");
        assert_eq!(project.task(&["-s", task]).1, again, "{task} again");
        assert_eq!(project.task(&["-s", "-f", task]).1, "made\n", "{task} by force");
        let current = i32::from(!again.is_empty());
        assert_eq!(project.task(&["--status", task]).0, current, "status of {task}");
    }
}

#[test]
fn a_changed_source_and_a_failure_make_a_task_run_again() {
    let file = "version: '3'\ntasks:\n  a: {sources: [a.in], cmds: ['echo {{.CHECKSUM}}']}\n  f: {sources: [a.in], cmds: [exit 1]}\n";
    let project = Project::with(&[("Taskfile.yml", file), ("a.in", "one")]);
    let first = project.task(&["-s", "a"]).1;
    assert_eq!(project.task(&["a"]), (0, String::new(), "task: Task \"a\" is up to date\n".to_owned()));
    std::fs::write(project.path().join("a.in"), "two").unwrap();
    let second = project.task(&["-s", "a"]).1;
    assert!(!second.is_empty() && second != first);
    assert_eq!([project.task(&["-s", "f"]).0, project.task(&["-s", "f"]).0], [201, 201]);
}

#[test]
fn use_gitignore_excludes_ignored_files_from_sources() {
    let file = "version: '3'\nuse_gitignore: true\ntasks:\n  a: {sources: ['*.txt'], cmds: [{for: sources, cmd: 'echo {{.ITEM}}'}]}\n  b: {use_gitignore: false, sources: ['*.txt'], cmds: [{for: sources, cmd: 'echo {{.ITEM}}'}]}\n";
    let files =
        [("Taskfile.yml", file), (".gitignore", "*.txt\n!keep.txt\n"), ("keep.txt", ""), ("drop.txt", "")];
    check_files(
        &files,
        &[(&["-s", "a"], 0, "keep.txt\n", ""), (&["-s", "b"], 0, "drop.txt\nkeep.txt\n", "")],
    );
}

#[test]
fn includes_in_every_form() {
    let root = "version: '3'\nincludes:\n  s: ./sub\n  adv: {taskfile: ./sub, dir: ./sub, vars: {IV: iv}, aliases: [al], excludes: [skip]}\n  opt: {taskfile: ./nope.yml, optional: true}\n  int: {taskfile: ./sub, internal: true}\n  flat: {taskfile: ./flat.yml, flatten: true}\nvars: {R: root}\ntasks:\n  root: {cmds: [{task: s:a}]}\n";
    let sub = "version: '3'\nvars: {SV: sv}\ntasks:\n  default: echo sub-default\n  a: 'echo {{.SV}} {{.R}} [{{.IV}}] {{.TASK}} $(basename $PWD)'\n  up: {cmds: [{task: ':root'}]}\n  skip: echo skip\n";
    let files = [
        ("p/Taskfile.yml", root),
        ("p/sub/Taskfile.yml", sub),
        ("p/flat.yml", "version: '3'\ntasks: {f: echo flat}\n"),
    ];
    check_files(
        &files,
        &[
            (&["-d", "p", "-s", "s:a"], 0, "sv root [] s:a p\n", ""),
            (&["-d", "p", "-s", "adv:a"], 0, "sv root [iv] adv:a sub\n", ""),
            (&["-d", "p", "-s", "al:a"], 0, "sv root [iv] adv:a sub\n", ""),
            (&["-d", "p", "-s", "s"], 0, "sub-default\n", ""),
            (&["-d", "p", "-s", "s:up"], 0, "sv root [] s:a p\n", ""),
            (&["-d", "p", "-s", "f"], 0, "flat\n", ""),
            (&["-d", "p", "int:a"], 202, "", "task: Task \"int:a\" is internal\n"),
        ],
    );
    assert_eq!(Project::with(&files).task(&["-d", "p", "adv:skip"]).0, 200);
}

#[test]
fn aliases_wildcards_labels_and_suggestions() {
    let file = "version: '3'\ntasks:\n  build: {aliases: [b], cmds: ['echo {{.TASK}} {{.ALIAS}}']}\n  'start:*:*': 'echo {{index .MATCH 0}} {{index .MATCH 1}}'\n  l: {label: 'lab-{{.X}}', vars: {X: x}, cmds: [exit 1]}\n  x1: {aliases: [z]}\n  x2: {aliases: [z]}\n";
    let listed = "task: No tasks with description available. Try --list-all to list all tasks\n";
    check(
        file,
        &[
            (&["-s", "b"], 0, "build b\n", ""),
            (&["start:a:b"], 0, "a b\n", "task: [start:a:b] echo a b\n"),
            (&["-s", "l"], 201, "", "task: Failed to run task \"lab-x\": exit status 1\n"),
            (&["z"], 203, "", "task: Found multiple tasks (x1, x2) that match \"z\"\n"),
            (&["biuld"], 200, listed, "task: Task \"biuld\" does not exist. Did you mean \"build\"?\n"),
            (&["zzzz"], 200, listed, "task: Task \"zzzz\" does not exist\n"),
        ],
    );
}

#[test]
fn output_styles() {
    let file = |output: &str| {
        format!(
            "version: '3'\noutput: {output}\ntasks:\n  a: {{prefix: 'p-{{{{.TASK}}}}', cmds: ['echo 1; echo 2 >&2; printf 3']}}\n  f: {{cmds: ['echo 1; exit 2']}}\n"
        )
    };
    check(&file("prefixed"), &[(&["-s", "a"], 0, "[p-a] 1\n[p-a] 2\n[p-a] 3\n", "")]);
    check(&file("{group: {begin: 'b {{.TASK}}', end: e}}"), &[(&["-s", "a"], 0, "b a\n1\n2\n3e\n", "")]);
    let failed = "task: Failed to run task \"f\": exit status 2\n";
    check(
        &file("{group: {error_only: true}}"),
        &[(&["-s", "a"], 0, "", ""), (&["-s", "f"], 201, "1\n", failed)],
    );
    check(
        &file("interleaved"),
        &[(&["-s", "a"], 0, "1\n3", "2\n"), (&["-s", "-o", "prefixed", "f"], 201, "[f] 1\n", failed)],
    );
    check(&file("zzz"), &[(&["a"], 1, "", "task: output style \"zzz\" not recognized\n")]);
}

#[test]
fn shell_options_directories_and_timeouts() {
    let file = "version: '3'\nset: [pipefail]\nshopt: [globstar]\ntasks:\n  pipe: 'false | true'\n  glob: echo **/*.x\n  dir: {dir: made/new, cmds: ['basename $PWD']}\n  slow: {cmds: [{cmd: tail -f /dev/null, timeout: 50ms}]}\n  outer: {cmds: [{task: hang, timeout: 50ms}]}\n  hang: tail -f /dev/null\n";
    let files = [("Taskfile.yml", file), ("d/e/f.x", "")];
    check_files(
        &files,
        &[
            (&["-s", "pipe"], 201, "", "task: Failed to run task \"pipe\": exit status 1\n"),
            (&["-s", "glob"], 0, "d/e/f.x\n", ""),
            (&["-s", "dir"], 0, "new\n", ""),
            (
                &["-s", "slow"],
                208,
                "",
                "task: Failed to run task \"slow\": task: [slow] command timeout exceeded (50ms)\n",
            ),
            (
                &["-s", "-x", "outer"],
                124,
                "",
                "task: Failed to run task \"outer\": task: [outer] command timeout exceeded (50ms)\n",
            ),
        ],
    );
}

#[test]
fn prompts_secrets_and_arguments() {
    let file = "version: '3'\nvars: {P: {value: hunter2, secret: true}}\ntasks:\n  q: {prompt: sure?, cmds: [echo yes]}\n  s: 'echo {{.P}}'\n  args: 'echo {{.CLI_ARGS}} {{len .CLI_ARGS_LIST}}'\n";
    let asked = "task: Failed to run task \"q\": task: Task \"q\" cancelled because it has a prompt and the environment is not a terminal. Use --yes (-y) to run anyway.\n";
    check(
        file,
        &[
            (&["q"], 205, "", asked),
            (&["-s", "-y", "q"], 0, "sure? [assuming yes]\nyes\n", ""),
            (&["s"], 0, "hunter2\n", "task: [s] echo *****\n"),
            (
                &["args", "--", "a b", "$HOME", "-c"],
                0,
                "a b $HOME -c 3\n",
                "task: [args] echo 'a b' '$HOME' -c 3\n",
            ),
        ],
    );
}

#[test]
fn a_task_called_inside_a_command_is_this_program() {
    let file = "version: '3'\ntasks:\n  a: 'task b -- {{.CLI_ARGS}} && echo back'\n  b: 'echo inner {{.CLI_ARGS}}'\n";
    check(file, &[(&["-s", "a", "--", "x y"], 0, "inner x y\nback\n", "task: [b] echo inner 'x y'\n")]);
}
