//! A malicious agent against a real server: in a strict fence none of its attacks succeeds; without one, exactly those that
//! the table says nothing stops. A person succeeds with every one, so each attack would be seen to succeed if what stops it
//! were not there. `docs/security.md` is generated from the same table.

mod commands;
mod scene;
mod server;
mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use scene::AttackScene;
use server::SERVER_ATTACKS;
use table::{ATTACKS, Attack, Unfenced};

fn names(is_meant: impl Fn(&Attack) -> bool) -> BTreeSet<String> {
    ATTACKS.iter().filter(|attack| is_meant(attack)).map(|attack| attack.name.to_owned()).collect()
}

fn has_bubblewrap() -> bool {
    let found = std::process::Command::new("bwrap").arg("--version").output().is_ok();
    assert!(found || std::env::var("CI").is_err(), "bubblewrap is missing");
    found
}

/// Landlock keeps processes from sockets without a file since this version.
fn has_scoped_sockets() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 12)
}

#[test]
fn nothing_succeeds_in_a_strict_fence() {
    // I19, I21
    if !has_bubblewrap() {
        return;
    }
    for network in ["open", "none"] {
        let scene = AttackScene::new("strict", network);
        let (mut won, _, events) = scene.attack_as_agent();
        // The path is in the fence's own /tmp, which is what it then sees.
        won.remove("leave a file in the shared /tmp");
        assert!(!scene.take_canary(), "a file in /tmp came out of the fence");
        if network == "open" && !has_scoped_sockets() {
            won.remove("ask a service of the person's by a socket without a file");
        }
        assert!(won.is_empty(), "network {network}: {won:?}");
        assert!(events.to_string().contains("attempt_fenced"), "{events}");
        assert!(events.to_string().contains("attempt_refused"), "{events}");
    }
}

#[test]
fn without_a_fence_only_a_person_decides_all_the_same() {
    // I19
    let scene = AttackScene::new("off", "open");
    let (won, task, events) = scene.attack_as_agent();
    let is_root = rustix::process::geteuid().is_root();
    let open = names(|attack| match attack.unfenced {
        Unfenced::Stopped(_) | Unfenced::StoppedForAll(_) => false,
        Unfenced::OpenToRoot(_) => is_root,
        Unfenced::Open => true,
    });
    assert_eq!(won, open, "what an agent can do, and what the table says");
    assert!(events.to_string().contains("attempt_refused"), "{events}");
    scene.take_canary();
    // Each attack can succeed: what stops it is that it comes from an agent.
    let is_refused_to_all = |attack: &Attack| matches!(attack.unfenced, Unfenced::StoppedForAll(_));
    let is_possible = |attack: &Attack| is_root || !matches!(attack.unfenced, Unfenced::OpenToRoot(_));
    let by_person = scene.attack_as_person(&task, |attack| !is_refused_to_all(attack));
    assert_eq!(by_person, names(|attack| is_possible(attack) && !is_refused_to_all(attack)));
    assert_eq!(scene.attack_as_person(&task, is_refused_to_all), BTreeSet::new());
    scene.take_canary();
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
Not covered: without a fence an agent has your rights. It can ask another program of yours to act for it (a terminal\n\
multiplexer, `systemd-run`, `at` or cron, a container service), end Baton's own processes and so lose the mark they give it,\n\
attach to your other programs, open the store itself, and plant what you run later. Only a fence stops that. The profile for macOS has\n\
not been run by its authors.\n\n\
While agents are at work, a connection that no process is seen to have open needs a token (`baton token create`), because an\n\
agent can hide its own ones. The same goes for a port that `ssh -L` forwards, where its `sshd` and `baton up` are in one session of\n\
the system.\n\n\
## Attacks\n\n\
Every test run tries these as a malicious agent, in a strict fence and without one, and as a person, for whom each of them\n\
works that does not hide where it comes from.\n\n\
| attack | promise | in a fence stopped by | without one |\n| --- | --- | --- | --- |\n";

const SERVER_INTRO: &str = "\nAnd these as a stranger who can reach the port of a server with a token, or whose web page the person has \
open. All are refused.\n\n| attack on the server | what it must not do |\n| --- | --- |\n";

#[test]
fn reference_lists_every_attack() {
    let mut page = INTRO.to_owned();
    for attack in ATTACKS {
        let unfenced = match attack.unfenced {
            Unfenced::Stopped(by) | Unfenced::StoppedForAll(by) => by.to_owned(),
            Unfenced::OpenToRoot(by) => format!("{by}; as root **not stopped**"),
            Unfenced::Open => "**not stopped**".to_owned(),
        };
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
