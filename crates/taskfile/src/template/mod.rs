//! Go's text/template with go-task's and slim-sprig's functions.
//!
//! A template is parsed once and rendered any number of times. Its only inputs are its data and its [`Host`],
//! so the same data and host always give the same text.

mod error;
#[expect(clippy::unnecessary_wraps, reason = "all functions have one signature, also those that never fail")]
mod functions;
mod host;
mod limits;
mod node;
mod parser;
mod print;
mod render;
mod val;

pub use error::TemplateError;
pub use host::{Host, System};

use std::borrow::Cow;

use parser::{Definitions, Parser};
use render::TemplateRenderer;

use crate::go::{Map, Value};

/// What Go prints for a missing value; go-task removes it from every rendered text.
const NO_VALUE: &str = "<no value>";

/// The name of a `ref:` expression in Go's error messages.
const REFERENCE: &str = "resolver";

/// A parsed template.
pub struct Template {
    text: String,
    /// `None` for a text without actions, which renders as itself.
    definitions: Option<Definitions>,
}

impl Template {
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let definitions = if has_actions(text) { Some(Parser::parse("", text)?) } else { None };
        Ok(Template { text: text.to_owned(), definitions })
    }

    /// Renders the template; a missing value prints as nothing.
    pub fn render(&self, data: &Map, host: &dyn Host) -> Result<String, TemplateError> {
        match &self.definitions {
            None => Ok(self.text.clone()),
            Some(definitions) => render_parsed(&self.text, definitions, data, host),
        }
    }
}

/// Whether a text is a template at all.
pub fn has_actions(text: &str) -> bool {
    text.contains("{{")
}

/// Parses and renders; a text without actions is returned as it is.
pub fn render<'t>(text: &'t str, data: &Map, host: &dyn Host) -> Result<Cow<'t, str>, TemplateError> {
    if !has_actions(text) {
        return Ok(Cow::Borrowed(text));
    }
    let definitions = Parser::parse("", text)?;
    render_parsed(text, &definitions, data, host).map(Cow::Owned)
}

fn render_parsed(
    text: &str,
    definitions: &Definitions,
    data: &Map,
    host: &dyn Host,
) -> Result<String, TemplateError> {
    let rendered = TemplateRenderer::new("", text, definitions, data, host).render()?;
    Ok(if rendered.contains(NO_VALUE) { rendered.replace(NO_VALUE, "") } else { rendered })
}

/// Evaluates an expression to a value, for `ref:`.
pub fn evaluate(expression: &str, data: &Map, host: &dyn Host) -> Result<Value, TemplateError> {
    if expression == "." {
        return Ok(Value::Map(data.clone()));
    }
    let text = format!("{{{{{expression}}}}}");
    let definitions = Parser::parse(REFERENCE, &text)?;
    TemplateRenderer::new(REFERENCE, &text, &definitions, data, host).resolve().map(val::Val::into_value)
}
