//! A malicious agent against a real server: in a strict fence none of its attacks succeeds; without one, none of those that
//! the table says are stopped. `docs/security.md` is generated from the same table.

mod server;
mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use server::SERVER_ATTACKS;
use table::{ATTACKS, PRELUDE};

use crate::server::test_server::TestServer;

/// One shell script that tries everything and names what succeeded.
fn script() -> String {
    let mut text = PRELUDE.to_owned();
    for attack in ATTACKS {
        let name = attack.name;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "( {}\n) >/dev/null 2>&1 </dev/null && echo \"WON {name}\"", attack.script);
    }
    text.push_str("echo finished\n");
    text
}

/// What succeeded in this mode, and the events on the task.
fn attack(mode: &str, network: &str) -> (BTreeSet<String>, Value) {
    let mut server = TestServer::new(&json!([]));
    let outside = server.folder.parent().unwrap().to_owned();
    let home = outside.join("home");
    for (file, text) in
        [(".ssh/id_ed25519", "KEY"), (".aws/credentials", "KEY"), (".bashrc", "PERSON"), (".config/x", "")]
    {
        let file = home.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::write(server.folder.join(".env"), "PASSWORD").unwrap();
    let agent = outside.join("agent.sh");
    fs::write(&agent, script()).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = format!(
        "default_agent = \"evil\"\n[agents.evil]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\n\
         env = [\"CANARY\", \"OUTSIDE\"]\nfence = \"{mode}\"\nnetwork = \"{network}\"\n",
        agent.display()
    );
    fs::write(server.folder.join(".agent/baton.toml"), settings).unwrap();
    let canary = format!("/tmp/baton-canary-{}", std::process::id());
    for (name, value) in [("HOME", home.to_str().unwrap()), ("CANARY", &canary), ("OUTSIDE", &canary)] {
        server.variables.push((name.to_owned(), value.to_owned()));
    }
    let server = server.start();
    let project = server.project();
    let task = server.chat(&project, &json!({ "content": "Read the repository", "task_type": "READ_INFO" }));
    let done = server.wait_for_status(&task, "COMPLETE");
    let output = done["output"].as_str().unwrap_or_default().to_owned();
    assert!(output.contains("finished"), "{done}");
    let won = output.lines().filter_map(|line| line.strip_prefix("WON ")).map(str::to_owned).collect();
    let events = server.read(&format!("/api/tasks/{task}/events"));
    // In a fence the file is in the attempt's own /tmp.
    let has_escaped = fs::remove_file(&canary).is_ok();
    assert!(!has_escaped || mode == "off", "a file in /tmp outlived the fence");
    (won, events)
}

fn has_bubblewrap() -> bool {
    let found = std::process::Command::new("bwrap").arg("--version").output().is_ok();
    assert!(found || std::env::var("CI").is_err(), "bubblewrap is missing");
    found
}

#[test]
fn nothing_succeeds_in_a_strict_fence() {
    // I19, I21
    if !has_bubblewrap() {
        return;
    }
    for network in ["open", "none"] {
        let (won, events) = attack("strict", network);
        // Without a namespace of its own the canary's path is the fence's own /tmp, which is what it then sees.
        let won: Vec<&String> =
            won.iter().filter(|name| *name != "leave a file in the shared /tmp").collect();
        assert!(won.is_empty(), "network {network}: {won:?}");
        assert!(events.to_string().contains("attempt_fenced"), "{events}");
        assert!(events.to_string().contains("attempt_refused"), "{events}");
    }
}

#[test]
fn without_a_fence_only_a_person_decides_all_the_same() {
    // I19
    let (won, events) = attack("off", "open");
    let stopped =
        ATTACKS.iter().filter(|attack| attack.unfenced.is_some()).map(|attack| attack.name.to_owned());
    let broken: Vec<String> = stopped.filter(|name| won.contains(name)).collect();
    assert!(broken.is_empty(), "{broken:?}");
    assert!(events.to_string().contains("attempt_refused"), "{events}");
}

const INTRO: &str = "# Security\n\n\
<!-- The table is written by `scripts/reference` from crates/baton/tests/it/attack. Do not edit. -->\n\n\
An agent runs code that nobody has reviewed. Baton confines it where the system allows, and in every mode knows which\n\
requests come from an attempt's processes.\n\n\
- `fence = \"auto\"` (the default) does as much as this machine can: bubblewrap with Landlock as a second layer, or Landlock\n  \
alone. What is missing is an event of the task, and `baton doctor` says it.\n\
- `fence = \"strict\"` starts no agent unless everything is in force.\n\
- `fence = \"off\"` runs agents with all your rights.\n\n\
In a fence an agent sees the system read-only, its own work, a `/tmp` of its own and its own folders in your home. Your store,\n\
settings, checkout, keys, browsers and the sockets of other services are not there. `fence_read` and `fence_write` add folders.\n\n\
`network = \"allow\"` lets through the hosts in `allow` and those the agent is known to need, by name, on ports 443 and 80 unless\n\
the entry names another; private addresses only where the entry names a port or the address itself. `network = \"none\"` cuts\n\
everything off but Baton's own tools. Both need bubblewrap. What was refused is an event of the task.\n\n\
Checks, `[worktree] setup` and the user tasks that an agent runs are in the same fence: agents wrote what they run. Of your\n\
checkout a user task sees the Taskfile and what it includes; `[roles.check]` sets the fence of checks and of the set-up.\n\n\
In a repository with a remote, settings that git has ever seen may be anybody's. They start no program of their own, open no\n\
fence and no network, talk to nobody (`store`, `remote`, `notify.webhook`, `telemetry.otlp`), and pass on none of your variables\n\
and files until you have allowed each of these things: `baton trust`. That holds for the checks that a branch has, too. A file of\n\
yours that git has never seen is yours, and what is in it stays allowed when you commit it. A program of the repository that you\n\
have allowed, such as `./ready.sh`, is allowed as it is and as it becomes.\n\n\
Not covered: without a fence, an agent can ask another program of yours to act for it (a terminal multiplexer, a scheduler, a\n\
container service), or open the store itself; only a fence stops that. The profile for macOS has not been run by its authors.\n\n\
## Attacks\n\n\
Every test run tries these as a malicious agent, in a strict fence and without one.\n\n\
| attack | promise | in a fence stopped by | without one |\n| --- | --- | --- | --- |\n";

const SERVER_INTRO: &str = "\nAnd these as a stranger who can reach the port of a server with a token, or whose web page the person has \
open. All are refused.\n\n| attack on the server | what it must not do |\n| --- | --- |\n";

#[test]
fn reference_lists_every_attack() {
    let mut page = INTRO.to_owned();
    for attack in ATTACKS {
        let unfenced = attack.unfenced.unwrap_or("**not stopped**");
        let _ = writeln!(page, "| {} | {} | {} | {unfenced} |", attack.name, attack.promise, attack.fenced);
    }
    page.push_str(SERVER_INTRO);
    for attack in SERVER_ATTACKS {
        let _ = writeln!(page, "| {} | {} |", attack.name, attack.promise);
    }
    let names: BTreeSet<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
    assert_eq!(names.len(), ATTACKS.len(), "an attack is there twice");
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
    if std::env::var_os("BATON_BLESS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == page,
        "docs/security.md is out of date; run scripts/reference and look at the difference"
    );
}
