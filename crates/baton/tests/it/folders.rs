//! The order inside each crate: few entries at the top of `src`, folders that say what belongs in them, and no cycle
//! between the top-level modules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use crate::source::{SourceFile, crates, entries, name, product_files};

/// Entries at the top of `src`: more than a table of contents can list.
const TOP_ENTRIES_MAX: usize = 18;

/// Rules that a crate does not follow yet. This table only shrinks: a line that is no longer needed fails the test.
#[rustfmt::skip]
const NOT_YET: &[(&str, Rule)] = &[
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// At most `TOP_ENTRIES_MAX` entries at the top of `src`.
    TopEntries,
    /// No top-level module imports, directly or indirectly, a module that imports it.
    NoCycles,
    /// Every folder has a `mod.rs` that begins with a doc comment; no `x.rs` stands beside a folder `x`.
    ModFiles,
}

impl Rule {
    const ALL: [Self; 3] = [Self::TopEntries, Self::NoCycles, Self::ModFiles];

    fn violations(self, folder: &Path) -> Vec<String> {
        match self {
            Self::TopEntries => too_many_entries(folder),
            Self::NoCycles => cycle(&imports(&product_files(folder))).into_iter().collect(),
            Self::ModFiles => bad_folders(&folder.join("src")),
        }
    }
}

#[test]
fn the_modules_of_every_crate_are_in_order() {
    let mut faults = Vec::new();
    for (name, folder) in crates() {
        for rule in Rule::ALL {
            let violations = rule.violations(&folder);
            match (violations.is_empty(), NOT_YET.contains(&(name.as_str(), rule))) {
                (false, false) => faults.push(format!("{name}, {rule:?}:\n  {}", violations.join("\n  "))),
                (true, true) => faults.push(format!("{name} follows {rule:?} now: remove it from NOT_YET")),
                (true, false) | (false, true) => {}
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

fn too_many_entries(folder: &Path) -> Vec<String> {
    let count = entries(&folder.join("src")).len();
    if count > TOP_ENTRIES_MAX { vec![format!("{count} entries; at most {TOP_ENTRIES_MAX}")] } else { vec![] }
}

fn bad_folders(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for path in entries(folder) {
        if !path.is_dir() || name(&path) == "bin" {
            continue;
        }
        let has_code = entries(&path).iter().any(|file| file.extension().is_some_and(|end| end == "rs"));
        let doc = fs::read_to_string(path.join("mod.rs")).unwrap_or_default();
        if has_code && !doc.starts_with("//!") {
            found.push(format!("{} has no mod.rs that begins with a doc comment", path.display()));
        }
        if path.with_extension("rs").exists() {
            found.push(format!("{} stands beside a file of the same name", path.display()));
        }
        found.extend(bad_folders(&path));
    }
    found
}

/// For each top-level module: the others it imports, each with a file that does so.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

fn imports(files: &[SourceFile]) -> Imports {
    let top: BTreeSet<&str> =
        files.iter().filter_map(|file| file.module.first()).map(String::as_str).collect();
    let mut imports = Imports::new();
    for file in files {
        let Some(from) = file.module.first() else { continue };
        for to in root_paths(&file.code, file.module.len()) {
            if to != *from && top.contains(to.as_str()) {
                let file = file.path.display().to_string();
                imports.entry(from.clone()).or_default().entry(to).or_insert(file);
            }
        }
    }
    imports
}

/// The first segments of all paths that start at the crate's root: `crate::x`, and `super::x` from `depth` below it.
fn root_paths(code: &str, depth: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for prefix in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in code.match_indices(&prefix) {
            // Not the end of a longer word, and not the rest of a longer chain of `super::`.
            let before = &code[..at];
            if before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            // `super::` here is a longer chain, which is matched from its start at another depth.
            let segments = first_segments(&code[at + prefix.len()..]);
            found.extend(segments.into_iter().filter(|segment| segment != "super"));
        }
    }
    found
}

/// `a` of `a::b`, and `a` and `c` of `{a::{b}, c}`.
fn first_segments(path: &str) -> Vec<String> {
    let segment =
        |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let Some(group) = path.strip_prefix('{') else { return vec![segment(path)] };
    let mut segments = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                segments.push(segment(group[start..at].trim_start()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    segments
}

/// The shortest cycle, with the files that cause it.
fn cycle(imports: &Imports) -> Option<String> {
    let shortest = imports.keys().filter_map(|start| path_back_to(start, imports)).min_by_key(Vec::len)?;
    let steps: Vec<String> = shortest
        .windows(2)
        .map(|pair| format!("{} imports {} ({})", pair[0], pair[1], imports[&pair[0]][&pair[1]]))
        .collect();
    Some(steps.join(", "))
}

fn path_back_to(start: &String, imports: &Imports) -> Option<Vec<String>> {
    let mut reached_from: BTreeMap<&String, &String> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for to in imports.get(at).into_iter().flat_map(BTreeMap::keys) {
            if to == start {
                let mut path = vec![start.clone(), at.clone()];
                let mut back = at;
                while back != start {
                    back = reached_from[back];
                    path.push(back.clone());
                }
                path.reverse();
                return Some(path);
            }
            if !reached_from.contains_key(to) {
                reached_from.insert(to, at);
                queue.push_back(to);
            }
        }
    }
    None
}

#[test]
fn imports_are_read_in_all_their_forms() {
    let code = "use crate::{a::{x, y}, b};\nuse super::c::Z;\nfn f() { crate::d::g(); super::super::e::h() }";
    let found: Vec<String> = root_paths(code, 1).into_iter().collect();
    assert_eq!(found, ["a", "b", "c", "d"]);
    assert!(root_paths(code, 2).contains("e"));
    assert!(!root_paths("use mycrate::a;", 1).contains("a"));
}

#[test]
fn a_cycle_is_named_with_its_files() {
    let edge = |to: &str| BTreeMap::from([(to.to_owned(), format!("uses_{to}.rs"))]);
    let mut imports = Imports::from([("a".to_owned(), edge("b")), ("b".to_owned(), edge("c"))]);
    assert_eq!(cycle(&imports), None);
    imports.insert("c".to_owned(), edge("a"));
    assert_eq!(
        cycle(&imports).unwrap(),
        "a imports b (uses_b.rs), b imports c (uses_c.rs), c imports a (uses_a.rs)"
    );
}
