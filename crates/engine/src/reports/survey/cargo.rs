//! Rust: what every Cargo project can do.

use std::path::Path;

use crate::reports::survey::{Suggestion, read, suggestion};

const FILE: &str = "Cargo.toml";

pub(super) fn find(root: &Path) -> Vec<Suggestion> {
    let Some(manifest) = read(root, FILE) else { return Vec::new() };
    let scope = if manifest.contains("[workspace]") { " --workspace" } else { "" };
    vec![
        suggestion("test", "Run all tests", &format!("cargo test{scope} {{{{.CLI_ARGS}}}}"), FILE),
        suggestion("build", "Build everything", &format!("cargo build{scope} --all-targets"), FILE),
        suggestion(
            "lint",
            "Lint everything, warnings are errors",
            &format!("cargo clippy{scope} --all-targets -- -D warnings"),
            FILE,
        ),
        suggestion("format", "Format the code", "cargo fmt", FILE),
    ]
}
