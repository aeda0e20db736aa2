//! The dependencies between Baton's crates, as `cargo metadata` reports them.
//!
//! Each crate exists because of what it must not depend on. Modules inside a crate are checked by `folders`.

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// One of our crates: which others it may depend on, and why only those.
struct CrateRule {
    name: &'static str,
    may_use: &'static [&'static str],
    reason: &'static str,
}

/// All crates, top first. Arrows only point down.
#[rustfmt::skip]
const CRATES: [CrateRule; 7] = [
    CrateRule { name: "baton",          may_use: &["baton-server", "baton-engine", "baton-core"],
           reason: "commands use rows, agents and Taskfiles through the engine" },
    CrateRule { name: "baton-server",   may_use: &["baton-engine", "baton-core"],
           reason: "pages and requests change state only through the engine" },
    CrateRule { name: "baton-engine",   may_use: &["baton-store", "baton-agents", "baton-taskfile", "baton-core"],
           reason: "the engine runs without a server" },
    CrateRule { name: "baton-store",    may_use: &["baton-core"],
           reason: "store, agents and taskfile do not know each other" },
    CrateRule { name: "baton-agents",   may_use: &["baton-core"],
           reason: "store, agents and taskfile do not know each other" },
    CrateRule { name: "baton-taskfile", may_use: &[],
           reason: "it is an independent Taskfile runner and knows nothing of Baton" },
    CrateRule { name: "baton-core",     may_use: &[],
           reason: "the rules are pure, so that they can be replayed" },
];

/// Crates that may not use our other crates even in tests.
const ALONE: [&str; 2] = ["baton-core", "baton-taskfile"];

/// External crates that core may use. None touches files, clocks, network or threads.
const CORE_MAY_USE: [&str; 8] =
    ["base64", "cronexpr", "jiff", "serde", "serde_json", "strsim", "subtle", "thiserror"];

/// External crates that only some of our crates may use.
#[rustfmt::skip]
const RESTRICTED: [(&str, &[&str], &str); 4] = [
    ("rusqlite",       &["baton-store"],             "only the store names SQL"),
    ("tokio-postgres", &["baton-store"],             "only the store names SQL"),
    ("axum",           &["baton-server"],            "only the server names HTTP"),
    ("clap",           &["baton", "baton-taskfile"], "only binaries have a command line"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A normal or build dependency.
    Product,
    /// A dev-dependency.
    Test,
}

/// A dependency declared in a Cargo.toml.
struct Arrow {
    from: String,
    to: String,
    kind: Kind,
}

#[test]
fn every_crate_of_the_workspace_has_a_rule() {
    let (members, _) = workspace().expect("cargo metadata describes the workspace");
    let listed: BTreeSet<String> = CRATES.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(members, listed, "a crate was added or removed: update CRATES");
}

#[test]
fn crates_depend_only_on_what_they_may() {
    let (_, arrows) = workspace().expect("cargo metadata describes the workspace");
    assert!(arrows.iter().any(|arrow| arrow.to == "baton-core"), "no dependency was read");
    let violations: Vec<String> = arrows.iter().filter_map(violation).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn a_forbidden_dependency_is_reported_with_its_reason() {
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
        let message = violation(&arrow(from, kind, to)).expect("forbidden");
        assert!(message.starts_with(&format!("{from} → {to}: ")), "{message}");
    }
}

#[test]
fn an_allowed_dependency_is_not_reported() {
    #[rustfmt::skip]
    let allowed = [
        ("baton-engine",   Kind::Product, "baton-taskfile"),
        ("baton-core",     Kind::Product, "jiff"),
        ("baton-core",     Kind::Test,    "proptest"),
        ("baton-store",    Kind::Product, "rusqlite"),
        ("baton-taskfile", Kind::Product, "clap"),
        ("baton-server",   Kind::Test,    "baton-store"),    // a test may use the store
    ];
    for (from, kind, to) in allowed {
        assert_eq!(violation(&arrow(from, kind, to)), None);
    }
}

/// Why a dependency is forbidden, if it is.
fn violation(arrow: &Arrow) -> Option<String> {
    let reason = wrong_direction(arrow).or_else(|| not_for_core(arrow)).or_else(|| restricted(arrow))?;
    Some(format!("{} → {}: {reason}", arrow.from, arrow.to))
}

fn wrong_direction(arrow: &Arrow) -> Option<&'static str> {
    let is_ours = CRATES.iter().any(|rule| rule.name == arrow.to);
    let rule = CRATES.iter().find(|rule| rule.name == arrow.from)?;
    let may = match arrow.kind {
        Kind::Product => rule.may_use.contains(&arrow.to.as_str()),
        Kind::Test => !ALONE.contains(&rule.name),
    };
    (is_ours && !may).then_some(rule.reason)
}

fn not_for_core(arrow: &Arrow) -> Option<&'static str> {
    let is_core = arrow.from == "baton-core" && arrow.kind == Kind::Product;
    (is_core && !CORE_MAY_USE.contains(&arrow.to.as_str()))
        .then_some("core may only use the crates of CORE_MAY_USE")
}

fn restricted(arrow: &Arrow) -> Option<&'static str> {
    let (_, allowed, reason) = RESTRICTED.iter().find(|(name, _, _)| *name == arrow.to)?;
    (arrow.kind == Kind::Product && !allowed.contains(&arrow.from.as_str())).then_some(reason)
}

fn arrow(from: &str, kind: Kind, to: &str) -> Arrow {
    Arrow { from: from.to_owned(), to: to.to_owned(), kind }
}

/// The workspace's crates and their declared dependencies.
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
            // A normal dependency has no kind; the others are "dev" and "build".
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
