//! A page of the docs that is written from the code: compared in every test run, renewed by `scripts/reference`. The
//! tests of all crates share it.

use std::path::Path;

/// Compares what the code says with the page at this path below `docs`; where `BATON_BLESS` is set, writes it there first.
pub fn holds(path: &str, page: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(path);
    if std::env::var_os("BATON_BLESS").is_some() {
        std::fs::write(&file, page).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == page, "docs/{path} is out of date; run scripts/reference and look at the difference");
}
