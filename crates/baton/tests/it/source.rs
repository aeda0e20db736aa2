//! The product's own source code, read for the tests that check its structure.

use std::fs;
use std::path::{Path, PathBuf};

/// One file of a crate's `src`, without comments and without test modules.
pub(crate) struct SourceFile {
    /// From the workspace's root.
    pub(crate) path: PathBuf,
    /// The module it defines: empty for `lib.rs` and `main.rs`.
    pub(crate) module: Vec<String>,
    pub(crate) code: String,
}

pub(crate) fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folders of the crates, by name, sorted.
pub(crate) fn crates() -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = entries(&workspace_root().join("crates"))
        .into_iter()
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| (name(&path), path))
        .collect();
    found.sort();
    found
}

/// A crate's product code.
pub(crate) fn product_files(crate_folder: &Path) -> Vec<SourceFile> {
    let mut files = Vec::new();
    collect(&crate_folder.join("src"), &[], &mut files);
    files
}

fn collect(folder: &Path, module: &[String], files: &mut Vec<SourceFile>) {
    let is_root = module.is_empty();
    let mut children: Vec<PathBuf> = entries(folder);
    children.sort();
    // A module's own file names the child modules that exist for tests only.
    let own = ["mod.rs", "lib.rs", "main.rs"].iter().map(|own| folder.join(own)).find(|own| own.exists());
    let test_only = own.as_deref().map(test_only_modules).unwrap_or_default();
    for path in children {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if test_only.contains(&stem) || (is_root && stem == "bin") {
            continue;
        }
        let mut child = module.to_vec();
        if path.is_dir() {
            child.push(stem);
            collect(&path, &child, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            if !["mod", "lib", "main"].contains(&stem.as_str()) {
                child.push(stem);
            }
            let code = without_comments(without_tests(&fs::read_to_string(&path).unwrap()));
            let path = path.strip_prefix(workspace_root()).unwrap_or(&path).to_owned();
            files.push(SourceFile { path, module: child, code });
        }
    }
}

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Unit tests are the last item of a file.
fn without_tests(text: &str) -> &str {
    let starts = text.match_indices("\n#[cfg(test)]\n").map(|(at, _)| at);
    let is_inline = |at: &usize| {
        let rest = text[*at..].lines().skip(2).find(|line| !line.starts_with("#["));
        rest.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    starts.into_iter().find(is_inline).map_or(text, |at| &text[..at])
}

fn test_only_modules(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines() {
        if line == "#[cfg(test)]" {
            is_test = true;
        } else if !line.starts_with("#[") {
            let declared =
                line.trim_start_matches("pub ").trim_start_matches("pub(crate) ").strip_prefix("mod ");
            let declared = declared.and_then(|rest| rest.strip_suffix(';'));
            names.extend(declared.filter(|_| is_test).map(str::to_owned));
            is_test = false;
        }
    }
    names
}

/// A URL in a string loses its end too, which no test here looks at.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}
