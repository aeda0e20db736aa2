//! JavaScript: the scripts of package.json, through the package manager whose lock file is there.

use std::path::Path;

use serde_json::{Map, Value};

use crate::reports::survey::{Suggestion, is_plain, read, suggestion};

const FILE: &str = "package.json";

pub(super) fn find(root: &Path) -> Vec<Suggestion> {
    let manifest: Option<Map<String, Value>> =
        read(root, FILE).and_then(|text| serde_json::from_str(&text).ok());
    let scripts = manifest.as_ref().and_then(|all| all.get("scripts")).and_then(Value::as_object);
    let manager = manager(root);
    scripts
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_plain(name) && !is_hook(name))
        .map(|(name, script)| {
            let says: String = script.as_str().unwrap_or_default().chars().take(60).collect();
            // npm hands arguments on only behind its own dashes.
            let dashes = if manager == "npm" { "-- " } else { "" };
            let command = format!("{manager} run {name} {dashes}{{{{.CLI_ARGS}}}}");
            suggestion(&name.replace(':', "-"), &format!("Runs: {says}"), &command, FILE)
        })
        .collect()
}

fn manager(root: &Path) -> &'static str {
    let locks =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"), ("bun.lock", "bun")];
    locks.iter().find(|(lock, _)| root.join(lock).is_file()).map_or("npm", |(_, manager)| manager)
}

/// Scripts the package manager runs by itself around others.
fn is_hook(name: &str) -> bool {
    name.starts_with("pre") || name.starts_with("post")
}
