//! Renders a parsed template node by node.

mod call;
mod data;
mod eval;

use std::collections::HashMap;

use crate::go::Map;
use crate::go::literal;
use crate::template::error::TemplateError;
use crate::template::host::Host;
use crate::template::limits::{DEPTH_MAX, STEPS_MAX, TEXT_MAX, WORK_MAX};
use crate::template::node::{Control, ControlKind, TemplateNode, TemplatePipeline, TemplateSite};
use crate::template::parser::Definitions;
use crate::template::print;
use crate::template::val::{Elem, Val};

pub(crate) type Result<T, E = TemplateError> = std::result::Result<T, E>;

/// A value, and whether Go holds it in an `interface {}`, as it does the elements of maps and lists.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) val: Val,
    pub(crate) boxed: bool,
}

impl Operand {
    pub(crate) fn plain(val: Val) -> Operand {
        Operand { val, boxed: false }
    }

    /// An element of a list or map of this type.
    pub(crate) fn element(val: Val, elem: Elem) -> Operand {
        Operand { val, boxed: elem == Elem::Any }
    }

    pub(crate) fn invalid() -> Operand {
        Operand::plain(Val::Invalid)
    }

    /// Takes the value out of its interface; a nil interface gives no value.
    pub(crate) fn unboxed(self) -> Operand {
        match self.val {
            Val::Nil => Operand::invalid(),
            val => Operand::plain(val),
        }
    }

    pub(crate) fn type_name(&self) -> String {
        if self.boxed || matches!(self.val, Val::Nil) {
            "interface {}".to_owned()
        } else {
            self.val.type_name()
        }
    }
}

/// What follows a node: the next node, or leaving the loop or its iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoopFlow {
    Next,
    Break,
    Continue,
}

pub(crate) struct TemplateRenderer<'t> {
    pub(crate) name: &'t str,
    pub(crate) text: &'t str,
    pub(crate) definitions: &'t Definitions,
    pub(crate) data: &'t Map,
    pub(crate) host: &'t dyn Host,
    /// The template being rendered: the root, or one that was called.
    current: &'t str,
    pub(crate) at: Option<TemplateSite<'t>>,
    pub(crate) variables: Vec<(&'t str, Operand)>,
    out: String,
    /// Lists and maps of the data, converted once so that later reads see changes.
    converted: HashMap<String, Val>,
    whole: Option<Val>,
    depth: usize,
    steps: u64,
    work: u64,
    pub(crate) nested_sets: usize,
}

impl<'t> TemplateRenderer<'t> {
    pub(crate) fn new(
        name: &'t str,
        text: &'t str,
        definitions: &'t Definitions,
        data: &'t Map,
        host: &'t dyn Host,
    ) -> Self {
        TemplateRenderer {
            name,
            text,
            definitions,
            data,
            host,
            current: name,
            at: None,
            variables: vec![("$", Operand::plain(Val::Root))],
            out: String::new(),
            converted: HashMap::new(),
            whole: None,
            depth: 0,
            steps: 0,
            work: 0,
            nested_sets: 0,
        }
    }

    pub(crate) fn render(mut self) -> Result<String> {
        self.walk_all(&Operand::plain(Val::Root), &self.definitions.root)?;
        Ok(self.out)
    }

    /// The value of the last action, for `ref:`.
    pub(crate) fn resolve(mut self) -> Result<Val> {
        let dot = Operand::plain(Val::Root);
        let mut value = Val::Invalid;
        for node in &self.definitions.root {
            self.at = Some(TemplateSite::Node(node));
            if let TemplateNode::Action { pipe, .. } = node {
                value = self.eval_pipeline(&dot, pipe)?.val;
            } else {
                self.walk(&dot, node)?;
            }
        }
        self.materialize(value)
    }

    pub(crate) fn fail<T>(&self, message: impl AsRef<str>) -> Result<T> {
        Err(self.error(message))
    }

    pub(crate) fn error(&self, message: impl AsRef<str>) -> TemplateError {
        let message = message.as_ref();
        let Some(at) = self.at else {
            let message = format!("template: {}: {message}", self.name);
            return TemplateError { message, line: 1, column: None };
        };
        let before = self.text.get(..at.pos()).unwrap_or("");
        let line = 1 + before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
        let message = format!(
            "template: {}:{line}:{column}: executing {} at <{at}>: {message}",
            self.name,
            literal::quote(self.current)
        );
        TemplateError { message, line, column: Some(column) }
    }

    /// Counts depth and steps; every recursion of rendering goes through here.
    pub(crate) fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        self.steps += 1;
        if self.depth > DEPTH_MAX {
            return self.fail(format!("nested more than {DEPTH_MAX} deep"));
        }
        if self.steps > STEPS_MAX {
            return self.fail(format!("stopped after {STEPS_MAX} steps"));
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn charge(&mut self, value: &Val) -> Result<()> {
        self.work += value.weight();
        if let Val::Str(text) = value
            && text.len() > TEXT_MAX
        {
            return self.fail(format!("a text of more than {TEXT_MAX} bytes"));
        }
        if self.work > WORK_MAX {
            return self.fail(format!("stopped after making {WORK_MAX} bytes"));
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<()> {
        if self.out.len() + text.len() > TEXT_MAX {
            return self.fail(format!("the output is longer than {TEXT_MAX} bytes"));
        }
        self.out.push_str(text);
        Ok(())
    }

    /// A field of the data.
    pub(crate) fn data_field(&mut self, name: &str) -> Result<Operand> {
        if let Some(Val::Dict(whole)) = &self.whole {
            return Ok(whole.get(name).map_or_else(Operand::invalid, |val| Operand::element(val, Elem::Any)));
        }
        if let Some(known) = self.converted.get(name) {
            return Ok(Operand::element(known.clone(), Elem::Any));
        }
        let Some(value) = self.data.get(name) else { return Ok(Operand::invalid()) };
        let val = Val::from_value(value).map_err(|message| self.error(message))?;
        if val.is_container() {
            self.converted.insert(name.to_owned(), val.clone());
        }
        Ok(Operand::element(val, Elem::Any))
    }

    /// Converts the root data to a map value, where a template needs all of it.
    pub(crate) fn materialize(&mut self, val: Val) -> Result<Val> {
        if !matches!(val, Val::Root) {
            return Ok(val);
        }
        if let Some(whole) = &self.whole {
            return Ok(whole.clone());
        }
        let mut entries = indexmap::IndexMap::with_capacity(self.data.len());
        for name in self.data.keys() {
            entries.insert(name.clone(), self.data_field(name)?.val);
        }
        let whole = Val::dict(entries).map_err(|message| self.error(message))?;
        self.whole = Some(whole.clone());
        Ok(whole)
    }

    fn walk_all(&mut self, dot: &Operand, nodes: &'t [TemplateNode]) -> Result<LoopFlow> {
        self.enter()?;
        for node in nodes {
            let flow = self.walk(dot, node)?;
            if flow != LoopFlow::Next {
                self.leave();
                return Ok(flow);
            }
        }
        self.leave();
        Ok(LoopFlow::Next)
    }

    fn walk(&mut self, dot: &Operand, node: &'t TemplateNode) -> Result<LoopFlow> {
        self.at = Some(TemplateSite::Node(node));
        match node {
            TemplateNode::Text(text) => self.write(text)?,
            TemplateNode::Action { pipe, .. } => {
                let value = self.eval_pipeline(dot, pipe)?;
                if pipe.variables.is_empty() {
                    self.at = Some(TemplateSite::Node(node));
                    self.print(value.val)?;
                }
            }
            TemplateNode::Control(control) if control.kind == ControlKind::Range => {
                return self.walk_range(dot, control);
            }
            TemplateNode::Control(control) => return self.walk_if_or_with(dot, control),
            TemplateNode::Template { name, pipe, .. } => self.walk_template(dot, name, pipe.as_ref())?,
            TemplateNode::Break => return Ok(LoopFlow::Break),
            TemplateNode::Continue => return Ok(LoopFlow::Continue),
        }
        Ok(LoopFlow::Next)
    }

    fn print(&mut self, value: Val) -> Result<()> {
        match self.materialize(value)? {
            Val::Str(text) => self.write(&text),
            value => {
                let text = print::display(&value).map_err(|message| self.error(message))?;
                self.write(&text)
            }
        }
    }

    fn walk_if_or_with(&mut self, dot: &Operand, control: &'t Control) -> Result<LoopFlow> {
        let mark = self.variables.len();
        let value = self.eval_pipeline(dot, &control.pipe)?;
        let flow = if value.val.truth() {
            let dot = if control.kind == ControlKind::With { &value } else { dot };
            self.walk_all(dot, &control.body)?
        } else {
            control.else_body.as_ref().map_or(Ok(LoopFlow::Next), |nodes| self.walk_all(dot, nodes))?
        };
        self.variables.truncate(mark);
        Ok(flow)
    }

    fn walk_range(&mut self, dot: &Operand, control: &'t Control) -> Result<LoopFlow> {
        let mark = self.variables.len();
        let value = self.eval_pipeline(dot, &control.pipe)?.val;
        let iterations = self.iterations(value, &control.pipe)?;
        if iterations.is_empty() {
            let flow =
                control.else_body.as_ref().map_or(Ok(LoopFlow::Next), |nodes| self.walk_all(dot, nodes))?;
            self.variables.truncate(mark);
            return Ok(flow);
        }
        for (index, element) in iterations {
            let inner = self.variables.len();
            self.bind(&control.pipe, index, &element)?;
            let flow = self.walk_all(&element, &control.body)?;
            self.variables.truncate(inner);
            if flow == LoopFlow::Break {
                break;
            }
        }
        self.variables.truncate(mark);
        Ok(LoopFlow::Next)
    }

    /// The iterations of a range: an index or key, and an element.
    fn iterations(&mut self, value: Val, pipe: &TemplatePipeline) -> Result<Vec<(Val, Operand)>> {
        Ok(match self.materialize(value)? {
            Val::Invalid | Val::Nil => Vec::new(),
            Val::List(list) => (0_i64..)
                .zip(&list.items)
                .map(|(i, item)| (Val::Int(i), Operand::element(item.clone(), list.elem)))
                .collect(),
            Val::Dict(dict) => dict
                .sorted()
                .into_iter()
                .map(|(key, item)| (Val::text(key), Operand::element(item, dict.elem)))
                .collect(),
            Val::Int(count) => self.count_to(count, Val::Int, pipe)?,
            Val::Int64(count) => self.count_to(count, Val::Int64, pipe)?,
            other => {
                let shown = print::display(&other).map_err(|message| self.error(message))?;
                return self.fail(format!("range can't iterate over {shown}"));
            }
        })
    }

    fn count_to(
        &self,
        count: i64,
        number: fn(i64) -> Val,
        pipe: &TemplatePipeline,
    ) -> Result<Vec<(Val, Operand)>> {
        if pipe.variables.len() > 1 {
            return self.fail(format!("can't use {count} to iterate over more than one variable"));
        }
        let count = count.max(0);
        if usize::try_from(count).is_ok_and(|count| count > crate::template::limits::ITEMS_MAX) {
            return self.fail(format!("range over more than {} numbers", crate::template::limits::ITEMS_MAX));
        }
        Ok((0..count).map(|i| (Val::Invalid, Operand::plain(number(i)))).collect())
    }

    fn bind(&mut self, pipe: &'t TemplatePipeline, index: Val, element: &Operand) -> Result<()> {
        let index = Operand::plain(index);
        let values = match pipe.variables.as_slice() {
            [] => return Ok(()),
            [one] => vec![(one, element.clone())],
            [first, second, ..] => vec![(first, index), (second, element.clone())],
        };
        for (name, value) in values {
            self.set_variable(name, value)?;
        }
        Ok(())
    }

    pub(crate) fn set_variable(&mut self, name: &str, value: Operand) -> Result<()> {
        match self.variables.iter_mut().rev().find(|(known, _)| *known == name) {
            Some((_, slot)) => {
                *slot = value;
                Ok(())
            }
            None => self.fail(format!("undefined variable: {name}")),
        }
    }

    fn walk_template(
        &mut self,
        dot: &Operand,
        name: &'t str,
        pipe: Option<&'t TemplatePipeline>,
    ) -> Result<()> {
        let definitions = self.definitions;
        let nodes = match definitions.named.get_key_value(name) {
            Some((_, nodes)) => nodes,
            None if name == self.name => &definitions.root,
            None => return self.fail(format!("template {} not defined", literal::quote(name))),
        };
        let dot = match pipe {
            Some(pipe) => self.eval_pipeline(dot, pipe)?,
            None => Operand::invalid(),
        };
        let variables = std::mem::replace(&mut self.variables, vec![("$", dot.clone())]);
        let caller = std::mem::replace(&mut self.current, name);
        self.walk_all(&dot, nodes)?;
        self.variables = variables;
        self.current = caller;
        Ok(())
    }
}
