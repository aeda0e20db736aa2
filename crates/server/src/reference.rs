//! The pages of `docs/reference` that are written from the server: compared in every test run, renewed by
//! `scripts/reference`.

use std::path::Path;

/// Compares a page with what is kept, or keeps it.
pub fn holds(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("BATON_BLESS").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/reference/{name} is out of date; run scripts/reference and look at the difference"
    );
}
