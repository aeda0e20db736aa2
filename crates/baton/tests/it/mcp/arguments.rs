//! Arguments of user tasks are data, wherever a Taskfile puts them; and nothing a user task starts outlives it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{McpRepo, PATIENCE, call, run, tools};
use crate::wait;

const TASKS: &str = r#"version: '3'
tasks:
  bare: {desc: d, cmds: ['printf "<%s>" {{.CLI_ARGS}}'], silent: true}
  double: {desc: d, cmds: ['echo "args: {{.CLI_ARGS}}"'], silent: true}
  single: {desc: d, cmds: ["echo 'args: {{.CLI_ARGS}}'"], silent: true}
  ansi: {desc: d, cmds: ["echo $'args: {{.CLI_ARGS}}'"], silent: true}
  assign: {desc: d, cmds: ['X={{.CLI_ARGS}} printenv X'], silent: true}
  export: {desc: d, cmds: ['export X={{.CLI_ARGS}}; printenv X'], silent: true}
  nested: {desc: d, cmds: ["echo \"$(echo '{{.CLI_ARGS}}')\" `echo {{.CLI_ARGS}}`"], silent: true}
  here: {desc: d, cmds: ["cat <<END\n{{.CLI_ARGS}}\nEND\n"], silent: true}
  var: {desc: d, vars: {V: '{{.CLI_ARGS}}'}, cmds: ['echo "{{.V}}" {{.V}}'], silent: true}
  sh: {desc: d, vars: {V: {sh: "echo '{{.CLI_ARGS}}'"}}, cmds: ["echo '{{.V}}' {{.V}} \"{{.V}}\""], silent: true}
  call: {desc: d, cmds: [{task: callee, vars: {A: '{{.CLI_ARGS}}'}}], silent: true}
  callee: {internal: true, cmds: ["echo \"{{.A}}\" '{{.A}}' {{.A}}"], silent: true}
  list: {desc: d, cmds: ['echo "{{join "," .CLI_ARGS_LIST}}" {{range .CLI_ARGS_LIST}}{{.}} {{end}}'], silent: true}
  function: {desc: d, cmds: ['echo "{{.CLI_ARGS | upper}}" {{.CLI_ARGS | replace "a" "b"}}'], silent: true}
  quoted: {desc: d, cmds: ['printf "<%s>" {{range .CLI_ARGS_LIST}}{{shellQuote .}} {{end}}'], silent: true}
  loop: {desc: d, cmds: [{for: {var: CLI_ARGS_LIST}, cmd: "echo \"{{.ITEM}}\" '{{.ITEM}}' {{.ITEM}}"}], silent: true}
  condition: {desc: d, if: '[ -n "{{.CLI_ARGS}}" ]', status: ['test "{{.CLI_ARGS}}" = never'], cmds: ['echo ok'], silent: true}
  environment: {desc: d, env: {X: '{{.CLI_ARGS}}'}, cmds: ['printenv X'], silent: true}
  arithmetic: {desc: d, cmds: ['echo $(( {{.CLI_ARGS}} ))'], silent: true}
  test: {desc: d, cmds: ['[[ "{{.CLI_ARGS}}" -eq 1 ]]'], silent: true}
  compare: {desc: d, cmds: ['n={{.CLI_ARGS}}; [[ $n -eq 1 ]] || true'], silent: true}
  number: {desc: d, cmds: ['n={{index .CLI_ARGS_LIST 0}}; echo $((n))'], silent: true}
  integer: {desc: d, cmds: ['declare -i n={{.CLI_ARGS}}'], silent: true}
  declare: {desc: d, cmds: ['declare {{.CLI_ARGS}}'], silent: true}
  let: {desc: d, cmds: ['let v={{.CLI_ARGS}}'], silent: true}
  exists: {desc: d, cmds: ['test -v {{.CLI_ARGS}} || [ {{.CLI_ARGS}} ] || [[ -v {{.CLI_ARGS}} ]]'], silent: true}
  printf: {desc: d, cmds: ['printf -v {{.CLI_ARGS}} x'], silent: true}
  format: {desc: d, cmds: ['printf {{.CLI_ARGS}} x'], silent: true}
  read: {desc: d, cmds: ['read {{.CLI_ARGS}} <<<x'], silent: true}
  wait: {desc: d, cmds: ['wait -p {{.CLI_ARGS}}'], silent: true}
  unset: {desc: d, cmds: ['a=(1); unset {{.CLI_ARGS}}'], silent: true}
  mapfile: {desc: d, cmds: ['mapfile {{.CLI_ARGS}} <<<x'], silent: true}
  offset: {desc: d, cmds: ['set -- {{.CLI_ARGS}}; echo ${@:$1:1}'], silent: true}
  indirect: {desc: d, cmds: ['n={{index .CLI_ARGS_LIST 0}}; echo ${!n}'], silent: true}
  subscript: {desc: d, cmds: ['n={{index .CLI_ARGS_LIST 0}}; a[$n]=1; echo $(( b[{{index .CLI_ARGS_LIST 0}}] ))'], silent: true}
  trap: {desc: d, cmds: ['trap {{.CLI_ARGS}} EXIT'], silent: true}
  eval: {desc: d, cmds: ["x={{.CLI_ARGS}}; eval \"$x\"; eval 'echo {{.CLI_ARGS}}'"], silent: true}
  variable: {desc: d, env: {X: '{{index .CLI_ARGS_LIST 0}}'}, cmds: ['echo $((X))'], silent: true}
  default: {desc: d, cmds: ['echo {{.CLI_ARGS | default "./..."}}'], silent: true}
  left: {desc: d, cmds: ["sleep 600 & echo $! > one.pid; setsid sleep 600 & echo $! > two.pid; (setsid sleep 600 > /dev/null 2>&1 & echo $! > three.pid)"], silent: true}
  stay: {desc: d, cmds: ["sleep 600 & echo $! > stay.tmp; mv stay.tmp stay.pid; wait"], silent: true}
  typo: {desc: d, cmdz: ['echo never']}
"#;

/// Each would create a file if anything in it were run.
const ATTACKS: [&str; 18] = [
    "$(touch PWNED)",
    "'$(touch PWNED)'",
    "`touch PWNED`",
    "';touch PWNED;'",
    "\"';touch PWNED;'\"",
    "'\";touch PWNED;\"'",
    "a;touch${IFS}PWNED",
    "x 'touch' PWNED",
    "'a\n touch PWNED\n'",
    "'\nEND\ntouch PWNED\n'",
    "'a[$(touch PWNED)]'",
    "'a[`touch PWNED`]=1'",
    "-v 'a[$(touch PWNED)]'",
    "'a[${x:=$(touch PWNED)}]'",
    "'touch PWNED'",
    "'{{printf \"%c\" 39}};touch PWNED;'",
    "'\\';touch PWNED;\\''",
    "'}$(touch PWNED)' ')' '|touch PWNED'",
];

fn repo() -> McpRepo {
    let repo = McpRepo::new("");
    repo.write(".agent/Taskfile.yml", &TASKS.replace("  typo: {desc: d, cmdz: ['echo never']}\n", ""));
    repo
}

#[tokio::test]
async fn arguments_cannot_execute_anything_whatever_the_quoting() {
    let repo = repo();
    let (client, _listener, _child) = repo.client().await;
    let rows = TASKS.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(": {desc"));
    let names: Vec<&str> =
        rows.map(|(name, _)| name).filter(|n| !["left", "stay", "typo"].contains(n)).collect();
    assert_eq!(names.len(), 38);
    // From there on the commands differ in what they evaluate, not in how they quote.
    let evaluating = names.iter().position(|name| *name == "compare").unwrap();
    for (index, name) in names.into_iter().enumerate() {
        let is_meant =
            |attack: &&str| index < evaluating || attack.contains('[') || *attack == "'touch PWNED'";
        for attack in ATTACKS.into_iter().filter(is_meant) {
            let (said, _) =
                call(&client, "run_user_task", json!({ "task_name": name, "args": attack })).await;
            assert!(!repo.folder.join("PWNED").exists(), "{name} {attack:?}: {said}");
        }
    }
}

#[tokio::test]
async fn arguments_arrive_as_they_were_given() {
    let repo = repo();
    let (client, _listener, _child) = repo.client().await;
    for (name, args, output) in [
        ("bare", "-v 'a b' \"it's\" '$x' ''", "<-v><a b><it's><$x><>"),
        ("double", "-v 'a b'", "args: -v 'a b'"),
        ("single", "-v 'a b'", "args: -v 'a b'"),
        ("ansi", "a '$x'", "args: a '$x'"),
        ("assign", "-v id", "-v id"),
        ("export", "'a b' c", "a b c"),
        ("here", "a '$x'", "a '$x'"),
        ("var", "'a b'", "'a b' a b"),
        ("sh", "-v -race", "-v -race -v -race -v -race"),
        ("call", "'$x' y", "'$x' y '$x' y $x y"),
        ("function", "aa", "AA bb"),
        ("quoted", "'a b' c", "<a b><c>"),
        ("loop", "'a;b'", "a;b a;b a;b"),
        ("environment", "'a b' c", "'a b' c"),
        ("arithmetic", "40 + 2", "42"),
        ("let", "'4 + 2'", ""),
        ("test", "1", ""),
        ("bare", "'Fix `a[0]` and $(b)'", "<Fix `a[0]` and $(b)>"),
        ("default", "", "./..."),
        ("default", "-v './x y'", "-v ./x y"),
    ] {
        let (said, _) = call(&client, "run_user_task", json!({ "task_name": name, "args": args })).await;
        let told = format!("Task '{name}' completed successfully. Output:\n{output}\nError Output:\n");
        assert_eq!(said, told, "{name} {args}");
    }
    let (said, is_error) =
        call(&client, "run_user_task", json!({ "task_name": "bare", "args": "a\0b" })).await;
    assert!(is_error && said.starts_with("args cannot contain a NUL character"), "{said}");
}

#[test]
fn a_refused_argument_is_named_with_the_reason() {
    let repo = repo();
    for (name, argument, reason) in [
        (
            "compare",
            "a[$(touch PWNED)]",
            "in a command with `[[`: a shell runs what is inside of `[…]` there",
        ),
        ("let", "a[$(touch PWNED)]", "in a command with `let`: a shell runs what is inside of `[…]` there"),
        (
            "variable",
            "a[$(touch PWNED)]",
            "in a command with `((…))`: a shell runs what is inside of `[…]` there",
        ),
        ("trap", "touch PWNED", "in a command with `trap`, which runs text"),
    ] {
        let done = repo.baton().args(["do", name, "--", argument]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && !repo.folder.join("PWNED").exists(), "{name}: {said}");
        assert!(said.contains(argument) && said.contains(reason), "{name}: {said}");
    }
}

#[tokio::test]
async fn the_tool_says_what_the_document_says() {
    let repo = repo();
    let (client, _listener, _child) = repo.client().await;
    assert!(tools(&client).await.contains(&"run_user_task".to_owned()));
    let all = client.list_all_tools().await.unwrap();
    let tool = all.iter().find(|tool| tool.name == "run_user_task").unwrap();
    let fields = serde_json::to_value(&tool.input_schema).unwrap()["properties"].clone();
    assert_eq!(fields["task_name"]["description"], "The name of the task to run (e.g., 'test', 'build').");
    assert_eq!(
        fields["args"]["description"],
        "Optional arguments to pass to the task. These arguments are made available within the Taskfile via the '{{.CLI_ARGS}}' variable."
    );
}

#[tokio::test]
async fn an_unknown_key_is_an_error_with_its_place() {
    let repo = McpRepo::new("");
    repo.write(".agent/Taskfile.yml", TASKS);
    let (client, _listener, _child) = repo.client().await;
    let (said, is_error) = run(&client, "typo").await;
    assert!(is_error && said.contains("unknown key \"cmdz\""), "{said}");
    assert!(said.contains("did you mean \"cmds\"?"), "{said}");
    let done = repo.baton().args(["do", "typo"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("unknown key \"cmdz\""));
}

fn is_alive(repo: &McpRepo, file: &str) -> bool {
    let pid = std::fs::read_to_string(repo.folder.join(file)).unwrap();
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[tokio::test]
async fn background_processes_end_with_their_user_task() {
    let repo = repo();
    let (client, _listener, _child) = repo.client().await;
    let files = ["one.pid", "two.pid", "three.pid"];
    let (said, _) = run(&client, "left").await;
    assert!(said.starts_with("Task 'left' completed"), "{said}");
    assert!(!files.iter().any(|file| is_alive(&repo, file)));
    let done = repo.baton().args(["do", "left"]).stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success());
    assert!(!files.iter().any(|file| is_alive(&repo, file)));
}

#[test]
fn a_user_task_ends_when_baton_is_killed() {
    let repo = repo();
    let mut child = repo.baton().args(["do", "stay"]).stdin(Stdio::null()).spawn().unwrap();
    wait::until(PATIENCE, || repo.folder.join("stay.pid").exists(), || "no task runs".to_owned());
    Command::new("kill").args(["-KILL", &child.id().to_string()]).status().unwrap();
    child.wait().unwrap();
    wait::until(PATIENCE, || !is_alive(&repo, "stay.pid"), || "its process is alive".to_owned());
}
