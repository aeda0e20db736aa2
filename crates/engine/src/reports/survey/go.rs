//! Go: what every module can do.

use std::path::Path;

use crate::reports::survey::{Suggestion, read, suggestion};

const FILE: &str = "go.mod";

pub(super) fn find(root: &Path) -> Vec<Suggestion> {
    if read(root, FILE).is_none() {
        return Vec::new();
    }
    vec![
        suggestion("test", "Run all tests", "go test {{.CLI_ARGS}} ./...", FILE),
        suggestion("build", "Build everything", "go build ./...", FILE),
        suggestion("lint", "Look for mistakes", "go vet ./...", FILE),
    ]
}
