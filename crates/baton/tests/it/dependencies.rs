//! `docs/dependencies.md` has one line for each dependency of the workspace, and none for others.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

#[test]
fn every_dependency_has_its_reason() {
    let manifest = read("Cargo.toml").expect("the workspace has a Cargo.toml");
    let reasons = read("docs/dependencies.md").expect("the reasons are written down");
    let named = dependencies_of(&manifest);
    let explained = explained_in(&reasons);
    assert!(!named.is_empty(), "no dependency was found in Cargo.toml");

    let unexplained: Vec<_> = named.difference(&explained).collect();
    assert!(unexplained.is_empty(), "add a line to docs/dependencies.md for {unexplained:?}");
    let gone: Vec<_> = explained.difference(&named).collect();
    assert!(gone.is_empty(), "docs/dependencies.md explains {gone:?}, which Cargo.toml does not name");
}

#[test]
fn every_way_to_write_a_dependency_is_seen() {
    let manifest = r#"
[workspace.dependencies]
baton-core = { path = "crates/core" }
# a comment = with an equals sign
short = "1"
long = { version = "1", features = [
    "one",
] }
dotted.version = "1"

[workspace.dependencies.table]
version = "1"

[workspace.lints.rust]
unsafe_code = "forbid"
"#;
    let expected = ["dotted", "long", "short", "table"].map(str::to_owned);
    assert_eq!(dependencies_of(manifest), BTreeSet::from(expected));
}

/// The names in `[workspace.dependencies]`, without our own crates.
fn dependencies_of(manifest: &str) -> BTreeSet<String> {
    const SECTION: &str = "[workspace.dependencies";
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines() {
        if let Some(rest) = line.strip_prefix(SECTION) {
            inside = rest == "]";
            names.extend(rest.strip_prefix('.').map(|name| name.trim_end_matches(']').to_owned()));
        } else if line.starts_with('[') {
            inside = false;
        } else if inside && line.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            let is_ours = line.contains("path = ");
            let name = line.split(['=', '.']).next().unwrap_or_default().trim();
            names.extend((!is_ours).then(|| name.to_owned()));
        }
    }
    names
}

/// The first cell of each table row, when it is a name in backticks.
fn explained_in(reasons: &str) -> BTreeSet<String> {
    let rows = reasons.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` | ")).map(|(name, _)| name.to_owned()).collect()
}

fn read(path: &str) -> io::Result<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path))
}
