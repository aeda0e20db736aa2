//! Python: pytest and ruff, where the project names them, through the project's own environment.

use std::path::Path;

use crate::reports::survey::{Suggestion, read, suggestion};

const FILE: &str = "pyproject.toml";

pub(super) fn find(root: &Path) -> Vec<Suggestion> {
    let project = read(root, FILE).unwrap_or_default();
    let others: String = ["pytest.ini", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"]
        .iter()
        .filter_map(|name| read(root, name))
        .collect();
    let says = |word: &str| project.contains(word) || others.contains(word);
    let runner = if root.join("uv.lock").is_file() {
        "uv run "
    } else if root.join("poetry.lock").is_file() {
        "poetry run "
    } else {
        ""
    };
    let mut found = Vec::new();
    if says("pytest") || root.join("pytest.ini").is_file() {
        found.push(suggestion("test", "Run all tests", &format!("{runner}pytest {{{{.CLI_ARGS}}}}"), FILE));
    }
    if says("ruff") {
        found.push(suggestion("lint", "Look for mistakes", &format!("{runner}ruff check"), FILE));
        found.push(suggestion("format", "Format the code", &format!("{runner}ruff format"), FILE));
    }
    found
}
