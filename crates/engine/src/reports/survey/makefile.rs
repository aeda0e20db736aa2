//! Make: the targets a person would type, with the `##` comments that many Makefiles carry.

use std::path::Path;

use crate::reports::survey::{Suggestion, is_plain, read, suggestion};

const FILE: &str = "Makefile";

pub(super) fn find(root: &Path) -> Vec<Suggestion> {
    let text = [FILE, "makefile", "GNUmakefile"].iter().find_map(|name| read(root, name)).unwrap_or_default();
    let mut found: Vec<Suggestion> = Vec::new();
    let mut above = "";
    for line in text.lines() {
        if let Some((name, description)) = target(line) {
            let said = description.or_else(|| above.strip_prefix("##")).map(str::trim).unwrap_or_default();
            let said = if said.is_empty() { format!("Runs: make {name}") } else { said.to_owned() };
            if found.iter().all(|known| known.name != name) {
                found.push(suggestion(name, &said, &format!("make {name}"), FILE));
            }
        }
        above = line;
    }
    found
}

/// The name before a rule's colon and the comment behind it. Patterns, variables and recipes are not targets, and
/// neither are files: what has a dot in it is made, not done.
fn target(line: &str) -> Option<(&str, Option<&str>)> {
    let (name, rest) = line.split_once(':')?;
    let name = name.trim_end();
    let is_rule = is_plain(name) && !name.contains('.') && !rest.starts_with(['=', ':']);
    is_rule.then(|| (name, rest.split_once("##").map(|(_, said)| said)))
}
