//! No argument is run, whatever a command does with it.

use baton_taskfile::{OutputTarget, TaskInvocation, Taskfile};
use proptest::prelude::*;

use crate::project::Project;

/// Commands that evaluate the values of variables, or look as if they did. `A` is the first argument as one word.
const COMMANDS: [&str; 30] = [
    "n=A; [[ $n -eq 1 ]]",
    "n=A; echo $((n))",
    "n=A; (( n ))",
    "n=A; echo $[n]",
    "echo $(( A ))",
    "echo $(( m[A] ))",
    "declare -i n=A",
    "declare A",
    "declare \"m[A]=1\"",
    "typeset A",
    "f() { local A; }; f",
    "readonly A",
    "export A",
    "let v=A",
    "test -v A",
    "[ -v A ]",
    "[[ -v A ]]",
    "[ ALL ]",
    "printf ALL",
    "read A <<<x",
    "wait -p A",
    "a=(1 2); unset A",
    "mapfile ALL <<<x",
    "set -- A; echo ${@:$1:1}",
    "n=A; echo ${!n} ${n@P}",
    "n=A; m[$n]=1; m=([$n]=2)",
    "trap A EXIT",
    "trap \"A\" EXIT; x=A; trap \"$x\" INT",
    "x=A; eval \"$x\"; eval A",
    "f() { [[ $1 -eq 1 ]]; }; f ALL; PS4=A; set -x; echo",
];

/// A Taskfile with each command as a task, with the argument in the command and in the environment.
fn project() -> (Project, Taskfile) {
    let mut text = "version: '3'\nsilent: true\ntasks:\n".to_owned();
    for (index, command) in COMMANDS.iter().enumerate() {
        let inserted = command.replace("ALL", "{{.CLI_ARGS}}").replace('A', "{{index .CLI_ARGS_LIST 0}}");
        let inserted = inserted.replace("CLI_{{index .CLI_ARGS_LIST 0}}RGS", "CLI_ARGS");
        let variable = command.replace("ALL", "A").replace('A', "$X");
        text.extend(["  inserted", &index.to_string(), ":\n    cmds:\n      - |\n        ", &inserted, "\n"]);
        text.extend(["  variable", &index.to_string(), ":\n    env: {X: '{{index .CLI_ARGS_LIST 0}}'}\n"]);
        text.extend(["    cmds:\n      - |\n        ", &variable, "\n"]);
    }
    let project = Project::with(&[(".agent/Taskfile.yml", text.as_str())]);
    let taskfile = Taskfile::open(project.path(), ".agent/Taskfile.yml".as_ref()).unwrap();
    (project, taskfile)
}

fn runs_nothing(project: &Project, taskfile: &Taskfile, task: &str, args: &[String]) {
    let invocation = TaskInvocation { args: args.to_vec(), ..TaskInvocation::new(task) };
    let done = taskfile.run(&invocation, &OutputTarget::Separate, None);
    assert!(!project.path().join("PWNED").exists(), "{task} {args:?}: {}", done.stderr);
}

#[test]
fn an_attack_is_refused_in_every_command_that_evaluates() {
    let (project, taskfile) = project();
    let attacks = [
        "a[$(touch PWNED)]",
        "a[`touch PWNED`]=1",
        "a[${x:=$(touch PWNED)}]",
        "$(touch PWNED)",
        "touch PWNED",
    ];
    for index in 0..COMMANDS.len() {
        for attack in attacks {
            for form in ["inserted", "variable"] {
                runs_nothing(&project, &taskfile, &format!("{form}{index}"), &[attack.to_owned()]);
            }
        }
        let option = ["-v", "a[$(touch PWNED)]", "x"].map(str::to_owned);
        runs_nothing(&project, &taskfile, &format!("inserted{index}"), &option);
    }
}

/// Random arguments of what attacks are made of.
fn arguments() -> impl Strategy<Value = Vec<String>> {
    let pieces = [
        "a",
        "[",
        "]",
        "$(",
        "touch PWNED",
        ")",
        "`",
        "${x:=",
        "}",
        "$",
        "(",
        " ",
        "'",
        "\"",
        "=1",
        "-v",
        "-C",
        ";",
        "\\",
        "\n",
    ];
    let argument =
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..9).prop_map(|pieces| pieces.concat());
    prop::collection::vec(argument, 1..4)
}

#[test]
fn random_arguments_run_nothing() {
    let (project, taskfile) = project();
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(index in 0..COMMANDS.len(), form in prop::sample::select(vec!["inserted", "variable"]), args in arguments())| {
        runs_nothing(&project, &taskfile, &format!("{form}{index}"), &args);
    });
}
