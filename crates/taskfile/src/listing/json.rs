//! The list as JSON, in go-task's form for editors.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ListedTask;

/// How the JSON is laid out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JsonLayout {
    /// Says for each task whether it is up to date.
    pub with_status: bool,
    /// Nests namespaces instead of giving one list.
    pub nested: bool,
}

/// The tasks of one namespace and the namespaces in it.
#[derive(Default, Serialize)]
struct Namespace<'t> {
    /// go-task has no list at all for a namespace that only holds namespaces; the root always has one.
    tasks: Option<Vec<JsonTask<'t>>>,
    #[serde(rename = "namespaces", skip_serializing_if = "BTreeMap::is_empty")]
    inner: BTreeMap<&'t str, Namespace<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'t str>,
}

#[derive(Serialize)]
struct JsonTask<'t> {
    name: &'t str,
    task: &'t str,
    desc: &'t str,
    summary: &'t str,
    aliases: &'t [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    up_to_date: Option<bool>,
    location: JsonLocation<'t>,
}

#[derive(Serialize)]
struct JsonLocation<'t> {
    line: usize,
    column: usize,
    taskfile: &'t str,
}

/// Tasks with, where asked for, whether each is up to date.
pub(super) fn json(entries: &[(ListedTask, Option<bool>)], location: &str, layout: JsonLayout) -> String {
    let mut root = Namespace { tasks: Some(Vec::new()), location: Some(location), ..Namespace::default() };
    for (listed, up_to_date) in entries {
        let mut space = &mut root;
        if layout.nested {
            let parts: Vec<&str> = listed.name.split(':').collect();
            for part in &parts[..parts.len() - 1] {
                space = space.inner.entry(part).or_default();
            }
        }
        space.tasks.get_or_insert_default().push(JsonTask {
            name: &listed.label,
            task: &listed.name,
            desc: &listed.desc,
            summary: &listed.summary,
            aliases: &listed.aliases,
            up_to_date: *up_to_date,
            location: JsonLocation { line: listed.line, column: listed.column, taskfile: &listed.taskfile },
        });
    }
    // Strings and integers under string keys always serialize.
    let mut text = serde_json::to_string_pretty(&root).unwrap_or_default();
    // Go escapes these; outside of strings JSON has none of them.
    for c in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        text = text.replace(c, &format!("\\u{:04x}", u32::from(c)));
    }
    text.push('\n');
    text
}
