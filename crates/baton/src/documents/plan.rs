//! A plan as an editable document: YAML, which includes JSON.

use std::fmt::Write;

use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::recycle::plan::{Plan, PlanDraft, PlanItem};
use baton_engine::yaml::{self, Position, YamlError, YamlKind, YamlNode};
use serde_json::{Map, Value};

/// Why a document is not a plan, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PlanDocumentError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

pub(crate) fn parse(text: &str) -> Result<PlanDraft, PlanDocumentError> {
    // A file of comments is a plan without items, which is refused later.
    let root = yaml::parse_strict(text)?.filter(|root| !root.is_null());
    let mut items: &[YamlNode] = &[];
    if let Some(root) = &root {
        let entries = root.entries().ok_or_else(|| bad(root.position, "a plan starts with items:"))?;
        for (key, value) in entries {
            match (key.key(), value.items()) {
                ("items" | "tasks" | "subtasks", Some(found)) => items = found,
                ("items" | "tasks" | "subtasks", None) if value.is_null() => {}
                (name, _) => {
                    return Err(bad(
                        key.position,
                        format!("unexpected key {name}; a plan has a list of items"),
                    ));
                }
            }
        }
    }
    let mut draft = PlanDraft::default();
    for node in items {
        let item = serde_json::from_value(value(node)?);
        draft.items.push(item.map_err(|error| bad(node.position, error.to_string()))?);
    }
    Ok(draft)
}

/// Converts to JSON; duplicate keys are errors.
fn value(node: &YamlNode) -> Result<Value, PlanDocumentError> {
    Ok(match (&node.kind, node.value()) {
        (YamlKind::List(items), _) => items.iter().map(value).collect::<Result<Vec<Value>, _>>()?.into(),
        (YamlKind::Map(pairs), _) => {
            let mut object = Map::new();
            for (key, node) in pairs {
                if object.contains_key(key.key()) {
                    return Err(bad(key.position, format!("duplicate key {}", key.key())));
                }
                object.insert(key.key().to_owned(), value(node)?);
            }
            object.into()
        }
        (YamlKind::Scalar { .. }, yaml::Value::Nil) => Value::Null,
        (YamlKind::Scalar { .. }, yaml::Value::Bool(value)) => Value::from(value),
        (YamlKind::Scalar { .. }, yaml::Value::Int(value)) => Value::from(value),
        // Nothing in a plan is a fraction; a title may look like one.
        (YamlKind::Scalar { text, .. }, _) => Value::from(text.as_str()),
    })
}

fn bad(at: Position, message: impl Into<String>) -> PlanDocumentError {
    PlanDocumentError { line: at.line, column: at.column, message: message.into() }
}

impl From<YamlError> for PlanDocumentError {
    fn from(error: YamlError) -> Self {
        bad(error.position, error.message)
    }
}

/// The document to edit: the current plan, or an example.
pub(crate) fn write(breakdown: TaskId, title: &str, plan: Option<&Plan>) -> String {
    let title = title.replace(char::is_control, " ");
    let mut text = format!(
        "# Plan for {breakdown}: {title}\n\
         # Items run in any order that depends_on allows (numbers of other items, from 1).\n\
         # Optional: description, priority (P0 to P3), acceptance_criteria and verification (lists).\n\
         items:\n"
    );
    match plan {
        Some(plan) => plan.items().iter().for_each(|item| write_item(&mut text, item)),
        None => text.push_str("  - title: First part\n  - title: Second part\n    depends_on: [1]\n"),
    }
    text
}

fn write_item(text: &mut String, item: &PlanItem) {
    let _ = writeln!(text, "  - title: {}", quoted(item.title.as_str()));
    if !item.description.is_empty() {
        let _ = writeln!(text, "    description: {}", block(&item.description));
    }
    if let Some(priority) = item.priority {
        let _ = writeln!(text, "    priority: {}", priority.as_str());
    }
    write_list(text, "acceptance_criteria", &item.acceptance_criteria);
    write_list(text, "verification", &item.verification);
    if !item.depends_on.is_empty() {
        let _ = writeln!(text, "    depends_on: {:?}", item.depends_on);
    }
}

fn write_list(text: &mut String, name: &str, entries: &[NonBlank]) {
    if !entries.is_empty() {
        let _ = writeln!(text, "    {name}:");
        for entry in entries {
            let _ = writeln!(text, "      - {}", quoted(entry.as_str()));
        }
    }
}

/// A block scalar for text of several lines, if that keeps it unchanged; else quoted.
fn block(text: &str) -> String {
    let is_plain = |c: char| c == '\n' || (!c.is_control() && !"\u{feff}\u{2028}\u{2029}".contains(c));
    let is_safe = text.contains('\n')
        && !text.starts_with(char::is_whitespace)
        && !text.ends_with('\n')
        && text.chars().all(is_plain);
    if !is_safe {
        return quoted(text);
    }
    text.lines().fold(
        "|-".to_owned(),
        |block, line| {
            if line.is_empty() { block + "\n" } else { block + "\n      " + line }
        },
    )
}

/// A JSON string, which is valid YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(json: serde_json::Value) -> Plan {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_written_plan_reads_back_the_same() {
        let there = plan(serde_json::json!({ "items": [
            { "title": "Say \"yes\": no # comment", "description": "One line.\n\n  indented: {x}\n- list" },
            { "title": "- Second", "description": " starts with a space\n", "priority": "P1",
              "acceptance_criteria": ["it: works", "ü\tok"], "verification": ["run `x`"], "depends_on": [1] },
            { "title": "yes", "description": "a\u{0}b\u{85}c" , "depends_on": [1, 2] },
        ]}));
        let text = write(TaskId::from_bits(7), "Ä title\nof two lines", Some(&there));
        assert_eq!(Plan::check(parse(&text).unwrap()).unwrap(), there, "{text}");
    }

    #[test]
    fn the_example_is_a_valid_plan() {
        assert_eq!(
            Plan::check(parse(&write(TaskId::from_bits(7), "t", None)).unwrap()).unwrap().items().len(),
            2
        );
    }

    #[test]
    fn yaml_and_json_are_read_and_errors_have_a_position() {
        assert_eq!(parse("items:\n- title: a\n- title: b\n  depends_on: 1\n").unwrap().items.len(), 2);
        assert_eq!(parse("{\"items\": [{\"title\": \"a\"}]}").unwrap().items.len(), 1);
        assert_eq!(parse("# nothing\n").unwrap().items.len(), 0);
        let bad = parse("items:\n  - title: [a\n").unwrap_err();
        assert!(bad.line >= 2, "{bad:?}");
        let bad = parse("items:\n  - title: a\n    title: b\n").unwrap_err();
        assert_eq!(bad.line, 3, "{bad:?}");
        let bad = parse("items:\n  - title:\n      deep: 1\n").unwrap_err();
        assert!(bad.line >= 2 && !bad.message.is_empty(), "{bad:?}");
    }
}
