//! A type name means one thing in the whole workspace.

use std::collections::BTreeMap;

use crate::source::{crates, product_files};

/// Names that mean the same thing wherever they are.
const SHARED: &[(&str, &str)] = &[("Result", "an alias of std's Result with the module's own error")];

#[test]
fn every_type_has_a_name_of_its_own() {
    let faults: Vec<String> = definitions()
        .iter()
        .filter(|(name, _)| SHARED.iter().all(|(shared, _)| shared != name))
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("{name} is defined {} times: {}", places.len(), places.join(", ")))
        .collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Where each type of the product code is defined.
fn definitions() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, folder) in crates() {
        for file in product_files(&folder) {
            for (number, line) in (1..).zip(file.code.lines()) {
                if let Some(name) = defined(line) {
                    found.entry(name).or_default().push(format!("{}:{number}", file.path.display()));
                }
            }
        }
    }
    found
}

/// The type a line defines. An associated type, which is indented, belongs to its trait.
fn defined(line: &str) -> Option<String> {
    let declaration = line.trim_start();
    let is_indented = declaration.len() < line.len();
    let declaration = match declaration.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or(rest, |(_, rest)| rest),
        Some(rest) => rest.trim_start(),
        None => declaration,
    };
    let (keyword, rest) = declaration.split_once(' ')?;
    let is_type = ["struct", "enum", "trait"].contains(&keyword) || (keyword == "type" && !is_indented);
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (is_type && name.starts_with(|c: char| c.is_uppercase())).then_some(name)
}

#[test]
fn definitions_are_read_in_all_their_forms() {
    for line in [
        "struct Task {",
        "pub enum Task {",
        "pub(crate) struct Task;",
        "type Task = u8;",
        "    struct Task<'a> {",
    ] {
        assert_eq!(defined(line).as_deref(), Some("Task"), "{line}");
    }
    for line in
        ["    type Err = String;", "impl Task {", "let task = Task {", "use a::Task;", "trait_object()"]
    {
        assert_eq!(defined(line), None, "{line}");
    }
}
