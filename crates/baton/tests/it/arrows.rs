//! The arrows between Baton's crates, checked against what Cargo itself says they are.
//!
//! Each crate is there because its wall forbids something. This test is that wall: it reads `cargo metadata`
//! and names every arrow that goes through one. It looks at declared dependencies only, never at the code.

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A crate of ours: what it may build on, and why it may build on nothing else of ours.
struct Room {
    name: &'static str,
    may_use: &'static [&'static str],
    because: &'static str,
}

/// The house, top floor first. Arrows only ever point down.
#[rustfmt::skip]
const HOUSE: [Room; 7] = [
    Room { name: "baton",          may_use: &["baton-server", "baton-engine", "baton-core"],
           because: "the commands reach rows, agents and Taskfiles through the engine" },
    Room { name: "baton-server",   may_use: &["baton-engine", "baton-core"],
           because: "a page or a request changes nothing except through the engine" },
    Room { name: "baton-engine",   may_use: &["baton-store", "baton-agents", "baton-taskfile", "baton-core"],
           because: "the loop must run without anyone watching it" },
    Room { name: "baton-store",    may_use: &["baton-core"],
           because: "the three middle rooms do not know one another" },
    Room { name: "baton-agents",   may_use: &["baton-core"],
           because: "the three middle rooms do not know one another" },
    Room { name: "baton-taskfile", may_use: &[],
           because: "it is a Taskfile runner in its own right and knows nothing of Baton" },
    Room { name: "baton-core",     may_use: &[],
           because: "the rules stand on nothing, so that they can be replayed with nothing" },
];

/// Rooms that no crate of ours may enter even for a test: they must build and be tested alone.
const ALONE: [&str; 2] = ["baton-core", "baton-taskfile"];

/// All that the rules may be built with. None of these touches a file, a clock, a network or a thread.
const CORE_MAY_USE: [&str; 6] = ["jiff", "serde", "serde_json", "strsim", "subtle", "thiserror"];

/// Crates that belong to one concern, and the only rooms that may name them.
#[rustfmt::skip]
const KEPT_IN: [(&str, &[&str], &str); 4] = [
    ("rusqlite",       &["baton-store"],             "only the store names SQL"),
    ("tokio-postgres", &["baton-store"],             "only the store names SQL"),
    ("axum",           &["baton-server"],            "only the server names HTTP"),
    ("clap",           &["baton", "baton-taskfile"], "only a binary of its own has a command line"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In the product: a normal or a build dependency.
    Product,
    /// In tests and benches alone.
    Test,
}

/// One `from` depends on `to`, as written in a Cargo.toml.
struct Arrow {
    from: String,
    to: String,
    kind: Kind,
}

#[test]
fn the_workspace_is_exactly_the_house() {
    let (members, _) = workspace().expect("cargo metadata describes the workspace");
    let drawn: BTreeSet<String> = HOUSE.iter().map(|room| room.name.to_owned()).collect();
    assert_eq!(members, drawn, "a crate was added or removed: draw it in HOUSE");
}

#[test]
fn no_arrow_goes_through_a_wall() {
    let (_, arrows) = workspace().expect("cargo metadata describes the workspace");
    assert!(arrows.iter().any(|arrow| arrow.to == "baton-core"), "no arrow was read at all");
    let faults: Vec<String> = arrows.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn a_forbidden_arrow_is_named_with_its_reason() {
    #[rustfmt::skip]
    let forbidden = [
        ("baton-store",    Kind::Product, "baton-agents"),   // sideways
        ("baton-core",     Kind::Product, "baton-store"),    // upwards
        ("baton-server",   Kind::Product, "baton-store"),    // past the engine
        ("baton-core",     Kind::Test,    "baton-store"),    // core is tested alone
        ("baton-taskfile", Kind::Test,    "baton-core"),     // and so is the Taskfile runner
        ("baton-core",     Kind::Product, "tokio"),
        ("baton-engine",   Kind::Product, "rusqlite"),
        ("baton-engine",   Kind::Product, "tokio-postgres"),
        ("baton",          Kind::Product, "axum"),
        ("baton-server",   Kind::Product, "clap"),
    ];
    for (from, kind, to) in forbidden {
        let message = fault(&arrow(from, kind, to)).expect("this arrow is forbidden");
        assert!(message.starts_with(&format!("{from} → {to}: ")), "{message}");
    }
}

#[test]
fn an_allowed_arrow_is_left_alone() {
    #[rustfmt::skip]
    let allowed = [
        ("baton-engine",   Kind::Product, "baton-taskfile"),
        ("baton-core",     Kind::Product, "jiff"),
        ("baton-core",     Kind::Test,    "proptest"),
        ("baton-store",    Kind::Product, "rusqlite"),
        ("baton-taskfile", Kind::Product, "clap"),
        ("baton-server",   Kind::Test,    "baton-store"),    // a test may look behind the engine
    ];
    for (from, kind, to) in allowed {
        assert_eq!(fault(&arrow(from, kind, to)), None);
    }
}

/// What is wrong with an arrow, if anything is.
fn fault(arrow: &Arrow) -> Option<String> {
    let reason = wall(arrow).or_else(|| stranger_in_core(arrow)).or_else(|| out_of_its_room(arrow))?;
    Some(format!("{} → {}: {reason}", arrow.from, arrow.to))
}

fn wall(arrow: &Arrow) -> Option<&'static str> {
    let is_ours = HOUSE.iter().any(|room| room.name == arrow.to);
    let room = HOUSE.iter().find(|room| room.name == arrow.from)?;
    let may = match arrow.kind {
        Kind::Product => room.may_use.contains(&arrow.to.as_str()),
        Kind::Test => !ALONE.contains(&room.name),
    };
    (is_ours && !may).then_some(room.because)
}

fn stranger_in_core(arrow: &Arrow) -> Option<&'static str> {
    let is_core = arrow.from == "baton-core" && arrow.kind == Kind::Product;
    (is_core && !CORE_MAY_USE.contains(&arrow.to.as_str()))
        .then_some("core is built with the crates of CORE_MAY_USE alone")
}

fn out_of_its_room(arrow: &Arrow) -> Option<&'static str> {
    let (_, rooms, because) = KEPT_IN.iter().find(|(name, _, _)| *name == arrow.to)?;
    (arrow.kind == Kind::Product && !rooms.contains(&arrow.from.as_str())).then_some(because)
}

fn arrow(from: &str, kind: Kind, to: &str) -> Arrow {
    Arrow { from: from.to_owned(), to: to.to_owned(), kind }
}

/// The workspace's crates and every dependency they declare, as Cargo reads them.
fn workspace() -> Result<(BTreeSet<String>, Vec<Arrow>), Box<dyn Error>> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;

    let mut members = BTreeSet::new();
    let mut arrows = Vec::new();
    for package in list(&metadata, "packages")? {
        let from = text(package, "name")?;
        members.insert(from.to_owned());
        for dependency in list(package, "dependencies")? {
            // A normal dependency has no kind at all; the others are "dev" and "build".
            let kind = if dependency["kind"] == "dev" { Kind::Test } else { Kind::Product };
            arrows.push(arrow(from, kind, text(dependency, "name")?));
        }
    }
    Ok((members, arrows))
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, String> {
    value[key].as_array().ok_or_else(|| format!("cargo metadata has no list `{key}`"))
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    value[key].as_str().ok_or_else(|| format!("cargo metadata has no text `{key}`"))
}
