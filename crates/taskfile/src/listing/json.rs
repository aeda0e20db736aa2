//! The list as JSON, in go-task's form for editors.

use std::fmt::Write;

use indexmap::IndexMap;

use super::ListedTask;
use crate::go::escape::push_json;

/// How the JSON is laid out.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonLayout {
    /// Says of each task whether it is up to date.
    pub with_status: bool,
    /// Namespaces inside each other instead of one list.
    pub nested: bool,
}

type JsonEntry = (ListedTask, Option<bool>);

/// Tasks of one namespace and the namespaces in it.
#[derive(Default)]
struct Namespace<'e> {
    tasks: Vec<&'e JsonEntry>,
    inner: IndexMap<&'e str, Namespace<'e>>,
}

pub fn json(entries: &[JsonEntry], location: &str, layout: JsonLayout) -> String {
    let mut root = Namespace::default();
    for entry in entries {
        let mut space = &mut root;
        if layout.nested {
            let mut parts: Vec<&str> = entry.0.name.split(':').collect();
            parts.pop();
            for part in parts {
                space = space.inner.entry(part).or_default();
            }
        }
        space.tasks.push(entry);
    }
    let mut out = String::new();
    namespace(&root, Some(location), 0, &mut out);
    out.push('\n');
    out
}

fn namespace(space: &Namespace<'_>, location: Option<&str>, depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth + 1);
    let mut parts = Vec::new();
    let tasks: Vec<String> = space.tasks.iter().map(|e| task(e, depth + 2)).collect();
    // A namespace that only holds namespaces has no list at all in go-task's form; the root always has one.
    let tasks =
        if tasks.is_empty() && location.is_none() { "null".to_owned() } else { list(&tasks, depth + 1) };
    parts.push(format!("{pad}\"tasks\": {tasks}"));
    if !space.inner.is_empty() {
        let mut names: Vec<_> = space.inner.iter().collect();
        names.sort_by_key(|(name, _)| **name);
        let inner: Vec<String> = names
            .into_iter()
            .map(|(name, inner)| {
                let mut text = format!("{pad}  {}: ", string(name));
                namespace(inner, None, depth + 2, &mut text);
                text
            })
            .collect();
        parts.push(format!("{pad}\"namespaces\": {{\n{}\n{pad}}}", inner.join(",\n")));
    }
    parts.extend(location.map(|l| format!("{pad}\"location\": {}", string(l))));
    let _ = write!(out, "{{\n{}\n{}}}", parts.join(",\n"), "  ".repeat(depth));
}

fn task((listed, up_to_date): &JsonEntry, depth: usize) -> String {
    let pad = "  ".repeat(depth);
    let aliases: Vec<String> = listed.aliases.iter().map(|a| format!("{pad}    {}", string(a))).collect();
    let mut out = format!("{pad}{{\n");
    for (key, value) in [
        ("name", &listed.label),
        ("task", &listed.name),
        ("desc", &listed.desc),
        ("summary", &listed.summary),
    ] {
        let _ = writeln!(out, "{pad}  \"{key}\": {},", string(value));
    }
    let _ = writeln!(out, "{pad}  \"aliases\": {},", list(&aliases, depth + 1));
    if let Some(up_to_date) = up_to_date {
        let _ = writeln!(out, "{pad}  \"up_to_date\": {up_to_date},");
    }
    let place = format!(
        "{pad}    \"line\": {},\n{pad}    \"column\": {},\n{pad}    \"taskfile\": {}",
        listed.line,
        listed.column,
        string(&listed.taskfile)
    );
    let _ = write!(out, "{pad}  \"location\": {{\n{place}\n{pad}  }}\n{pad}}}");
    out
}

fn list(items: &[String], depth: usize) -> String {
    if items.is_empty() {
        return "[]".to_owned();
    }
    format!("[\n{}\n{}]", items.join(",\n"), "  ".repeat(depth))
}

/// A text in quotes, escaped as Go escapes it.
fn string(text: &str) -> String {
    let mut out = String::new();
    push_json(&mut out, text, true);
    out
}
