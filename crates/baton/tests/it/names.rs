//! A type name means one thing in the whole workspace.

use std::collections::BTreeMap;

use crate::source::{crates, product_files};

/// Names that mean the same thing wherever they are.
const SHARED: &[(&str, &str)] = &[("Result", "an alias of std's Result with the module's own error")];

/// Names that are used more than once today, and how often. This table only shrinks: lower a count, or remove its entry,
/// as soon as the test says so.
#[rustfmt::skip]
const USED_MORE_THAN_ONCE: &[(&str, usize)] = &[
    ("About", 2), ("Answer", 9), ("Answered", 2), ("Approval", 2), ("Asked", 3), ("At", 3), ("AttemptLog", 2),
    ("Batch", 2), ("Body", 2), ("Call", 5), ("Candidate", 2), ("Check", 2), ("Client", 3), ("Clock", 2),
    ("Command", 3), ("Counts", 2), ("Decision", 2), ("Done", 2), ("Edge", 3), ("Edges", 2), ("Ended", 4),
    ("Engine", 2), ("Entry", 6), ("Environment", 2), ("Errand", 2), ("Event", 2), ("Excerpt", 3), ("Exit", 2),
    ("Failure", 2), ("Fault", 5), ("Faults", 2), ("Fields", 8), ("File", 2), ("Flags", 2), ("Form", 2),
    ("Found", 5), ("Graph", 2), ("Guard", 2), ("Handshake", 2), ("Health", 2), ("Hold", 2), ("Incoming", 2),
    ("Inner", 7), ("Item", 3), ("Job", 3), ("Kept", 3), ("Key", 4), ("Kind", 5), ("Known", 3), ("Layout", 2),
    ("Limits", 2), ("Line", 3), ("List", 2), ("Listed", 2), ("Message", 2), ("NewProject", 2), ("NewRun", 2),
    ("News", 2), ("Next", 3), ("Node", 5), ("Notice", 2), ("Open", 5), ("Origin", 2), ("Outcome", 3), ("Over", 2),
    ("Parsed", 2), ("Part", 2), ("Pending", 3), ("Piece", 2), ("Pipe", 3), ("Place", 7), ("Preview", 2),
    ("Progress", 3), ("Pruned", 2), ("Queue", 2), ("Reader", 4), ("Record", 2), ("Rendered", 2), ("Renderer", 2),
    ("Reply", 2), ("Report", 3), ("Request", 3), ("Resume", 2), ("Retention", 2), ("Row", 3), ("Rule", 2),
    ("Run", 2), ("Running", 4), ("Said", 3), ("Scope", 2), ("Seen", 5), ("Setup", 2), ("Sighting", 2),
    ("Source", 4), ("Stage", 2), ("Stand", 2), ("Standing", 3), ("Start", 2), ("Step", 6), ("Style", 2),
    ("Taken", 2), ("Talk", 2), ("Tally", 2), ("Task", 2), ("Token", 2), ("ToolCall", 2), ("ToolKind", 2),
    ("Transition", 2), ("Turn", 3), ("Unreadable", 2), ("Url", 2), ("Usage", 2), ("Verdict", 4), ("Waiting", 2),
    ("Wanted", 6), ("Way", 2), ("Written", 5),
];

#[test]
fn every_type_has_a_name_of_its_own() {
    let mut faults = Vec::new();
    let found = definitions();
    for (name, places) in found.iter().filter(|(name, _)| SHARED.iter().all(|(shared, _)| shared != name)) {
        let listed =
            USED_MORE_THAN_ONCE.iter().find(|(listed, _)| listed == name).map_or(1, |(_, count)| *count);
        if places.len() > listed {
            faults.push(format!("{name} is defined {} times: {}", places.len(), places.join(", ")));
        }
    }
    for (name, count) in USED_MORE_THAN_ONCE {
        let actual = found.get(*name).map_or(0, Vec::len);
        if actual < *count {
            faults.push(match actual {
                0 | 1 => format!("{name} is unique now: remove it from USED_MORE_THAN_ONCE"),
                _ => format!("{name} is defined {actual} times now: lower its count from {count}"),
            });
        }
    }
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
