//! As much of JSON Schema as the document uses. Stricter than the standard: a response may contain no key that its
//! schema does not name, unless the schema allows it.

use serde_json::Value;

/// The violations in `value`, each with its path.
pub(crate) fn faults(document: &Value, shape: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(name) = shape["$ref"].as_str() {
        let shape =
            document.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("no shape {name}"));
        return faults(document, shape, value, place);
    }
    if let Some(choices) = shape["anyOf"].as_array().or(shape["oneOf"].as_array()) {
        let all: Vec<Vec<String>> =
            choices.iter().map(|choice| faults(document, choice, value, place)).collect();
        return all.into_iter().min_by_key(Vec::len).unwrap_or_default();
    }
    let kinds = match &shape["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::String(kind) => vec![kind.as_str()],
        _ => panic!("{place}: a schema without a type"),
    };
    let is_kind = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{place}: unexpected type {other}"),
    };
    if !kinds.iter().any(|kind| is_kind(kind)) {
        return vec![format!("{place}: {value} is not {}", kinds.join(" or "))];
    }
    if shape.get("const").is_some_and(|only| only != value) {
        return vec![format!("{place}: {value} is not {}", shape["const"])];
    }
    if let Some(words) = shape["enum"].as_array()
        && !words.contains(value)
    {
        return vec![format!("{place}: {value} is not among {words:?}")];
    }
    match value {
        Value::Array(items) => items
            .iter()
            .flat_map(|item| faults(document, &shape["items"], item, &format!("{place}[]")))
            .collect(),
        Value::Object(fields) => {
            let required = shape["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let mut found: Vec<String> = required
                .filter(|name| !fields.contains_key(*name))
                .map(|name| format!("{place}: {name} is missing"))
                .collect();
            for (name, inner) in fields {
                let place = format!("{place}.{name}");
                let other = &shape["additionalProperties"];
                match shape["properties"].get(name) {
                    Some(known) => found.extend(faults(document, known, inner, &place)),
                    None if other.is_object() => found.extend(faults(document, other, inner, &place)),
                    None if *other == true => {}
                    None => found.push(format!("{place} is not in the document")),
                }
            }
            found
        }
        _ => Vec::new(),
    }
}
