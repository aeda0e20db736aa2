//! A variable as written: a value, a command, or a reference to another variable.

use indexmap::IndexMap;

use crate::go::Value;
use crate::yaml::{YamlKind, YamlNode};

use super::decode::{DecodeError, Decoder};

/// Variables in file order; each may use those before it.
pub type Vars = IndexMap<String, Var>;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Var {
    /// `None` for `sh:`, `ref:` and null.
    pub value: Option<Value>,
    /// The command whose output is the value.
    pub sh: Option<String>,
    /// A template expression that gives the value itself, not its text.
    pub reference: Option<String>,
    /// Where `sh` runs, if the declaring file was included with a `dir`.
    pub dir: Option<String>,
    /// Printed as `*****`.
    pub secret: bool,
}

impl Var {
    pub fn from_value(value: impl Into<Value>) -> Var {
        Var { value: Some(value.into()), ..Var::default() }
    }
}

const KEYS: &[&str] = &["sh", "ref", "map", "value", "secret"];

impl Decoder {
    pub(super) fn vars(&mut self, node: &YamlNode) -> Result<Vars, DecodeError> {
        let entries = node.entries().ok_or_else(|| DecodeError::kind(node, "vars"))?;
        let mut vars = Vars::with_capacity(entries.len());
        for (key, value) in entries {
            vars.insert(key.key().to_owned(), self.var(value)?);
        }
        Ok(vars)
    }

    fn var(&mut self, node: &YamlNode) -> Result<Var, DecodeError> {
        if !matches!(node.kind, YamlKind::Map(_)) {
            return Ok(Var { value: Some(node.value()).filter(|v| *v != Value::Nil), ..Var::default() });
        }
        let mut fields = self.fields(node, "a variable", KEYS)?;
        let key = fields.first_key().unwrap_or("<none>");
        if !KEYS.contains(&key) {
            let message = format!(
                "{key:?} is not a valid variable type. Try \"sh\", \"ref\", \"map\", \"value\" or using a scalar value"
            );
            return Err(DecodeError::new(node, message));
        }
        let var = Var {
            value: fields.get("map").or_else(|| fields.get("value")).map(YamlNode::value),
            sh: fields.optional_string("sh"),
            reference: fields.optional_string("ref").filter(|r| !r.is_empty()),
            dir: None,
            secret: fields.bool("secret"),
        };
        fields.finish()?;
        Ok(var)
    }
}
