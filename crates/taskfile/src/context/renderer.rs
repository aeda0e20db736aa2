//! Renders the texts of a task and keeps the first error.

use crate::ast::{Var, Vars};
use crate::go::{Map, Value};
use crate::shell::reveal;
use crate::template::{Host, Template, TemplateError, evaluate};

/// Renders the parts of one task. After an error, texts are returned unrendered: a caller that only shows the task can
/// go on, one that runs it checks [`VarRenderer::finish`].
pub(crate) struct VarRenderer<'r> {
    data: &'r Map,
    host: &'r dyn Host,
    error: Option<TemplateError>,
}

impl<'r> VarRenderer<'r> {
    pub(crate) fn new(data: &'r Map, host: &'r dyn Host) -> VarRenderer<'r> {
        VarRenderer { data, host, error: None }
    }

    /// A text that may become part of a command: the caller's arguments in it are marked as data.
    pub(crate) fn text(&mut self, text: &str) -> String {
        // Most texts contain no template.
        if self.error.is_some() || !text.contains("{{") {
            return text.to_owned();
        }
        match Template::parse(text).and_then(|t| t.render(self.data, self.host)) {
            Ok(out) => {
                if out.contains("<no value>") {
                    out.replace("<no value>", "")
                } else {
                    out
                }
            }
            Err(error) => {
                self.error = Some(error);
                text.to_owned()
            }
        }
    }

    /// A text that is not for a shell.
    pub(crate) fn plain(&mut self, text: &str) -> String {
        reveal(&self.text(text)).into_owned()
    }

    pub(crate) fn plains(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|t| self.plain(t)).collect()
    }

    pub(crate) fn texts(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|t| self.text(t)).collect()
    }

    /// Renders the strings inside a value.
    pub(crate) fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Str(text) => Value::Str(self.text(text)),
            Value::List(items) => Value::List(items.iter().map(|i| self.value(i)).collect()),
            Value::Map(map) => Value::Map(map.iter().map(|(k, v)| (k.clone(), self.value(v))).collect()),
            other => other.clone(),
        }
    }

    pub(crate) fn var(&mut self, var: &Var) -> Var {
        if let Some(reference) = &var.reference {
            return Var { value: self.reference(reference), secret: var.secret, ..Var::default() };
        }
        Var {
            value: var.value.as_ref().map(|v| self.value(v)),
            sh: var.sh.as_ref().map(|s| self.text(s)),
            reference: None,
            dir: var.dir.clone(),
            secret: var.secret,
        }
    }

    /// Evaluates an expression.
    pub(crate) fn reference(&mut self, expression: &str) -> Option<Value> {
        if self.error.is_some() {
            return None;
        }
        match evaluate(expression, self.data, self.host) {
            Ok(value) => Some(value).filter(|v| *v != Value::Nil),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }

    pub(crate) fn vars(&mut self, vars: &Vars) -> Vars {
        vars.iter().map(|(k, v)| (k.clone(), self.var(v))).collect()
    }

    /// Takes over another renderer's error, unless there is one already.
    pub(crate) fn adopt(&mut self, other: VarRenderer<'_>) {
        self.error = self.error.take().or(other.error);
    }

    pub(crate) fn finish(self) -> Result<(), TemplateError> {
        self.error.map_or(Ok(()), Err)
    }
}
