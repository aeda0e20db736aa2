//! Opens stores of every earlier schema, as the program of that time left them.
//!
//! Each schema has a fixture, `tests/it/fixtures/BACKEND/NNN.sql`, with rows written under it. A schema without one
//! fails the tests; `BATON_BLESS=1 cargo nextest run -p baton-store migrations` writes the newest. An existing
//! fixture is never overwritten.

mod postgres;
mod sqlite;
mod story;

use std::fs;
use std::path::{Path, PathBuf};

/// Tables, each with its columns.
type Shape = Vec<(String, Vec<String>)>;

/// The numbered files of a directory, in order.
fn numbered(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "sql")).collect();
    files.sort();
    for (number, file) in (1..).zip(&files) {
        assert_eq!(file.file_stem().unwrap().to_str().unwrap(), format!("{number:03}"), "{}", file.display());
    }
    files
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn fixture(backend: &str, schema: usize) -> PathBuf {
    folder("tests/it/fixtures").join(backend).join(format!("{schema:03}.sql"))
}

/// The rows written under a schema. If there are none for the newest and blessing is asked for, writes them.
fn rows_of(backend: &str, schema: usize, make: impl FnOnce() -> String) -> String {
    let file = fixture(backend, schema);
    if !file.exists() && std::env::var_os("BATON_BLESS").is_some() {
        fs::write(&file, make()).unwrap();
    }
    fs::read_to_string(&file).unwrap_or_else(|_| {
        panic!(
            "schema {schema} of {backend} has no rows in {}: add a migration together with its fixture, \
             BATON_BLESS=1 cargo nextest run -p baton-store migrations",
            file.display()
        )
    })
}
