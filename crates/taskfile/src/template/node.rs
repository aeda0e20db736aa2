//! The nodes of a parsed template, and how error messages show them.

use std::fmt;

use super::functions::Function;
use crate::go::literal::{self, Number};

/// An expression.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Bool {
        pos: usize,
        value: bool,
    },
    Nil {
        pos: usize,
    },
    Dot {
        pos: usize,
    },
    Number {
        pos: usize,
        number: Number,
    },
    Str {
        pos: usize,
        quoted: String,
        text: std::sync::Arc<str>,
    },
    Field {
        pos: usize,
        path: Vec<String>,
    },
    /// `$x.a.b`: the first element is the variable, with its dollar.
    Variable {
        pos: usize,
        path: Vec<String>,
    },
    Function {
        pos: usize,
        function: &'static Function,
    },
    /// `(pipeline).a.b`, `now.Year`
    Chain {
        pos: usize,
        of: Box<Expr>,
        path: Vec<String>,
    },
    Pipe(Box<TemplatePipeline>),
}

#[derive(Clone, Debug)]
pub(crate) struct TemplateCommand {
    pub(crate) pos: usize,
    pub(crate) args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct TemplatePipeline {
    pub(crate) pos: usize,
    /// `=` instead of `:=`.
    pub(crate) assigns: bool,
    pub(crate) variables: Vec<String>,
    pub(crate) commands: Vec<TemplateCommand>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlKind {
    If,
    With,
    Range,
}

#[derive(Clone, Debug)]
pub(crate) struct Control {
    pub(crate) kind: ControlKind,
    pub(crate) pipe: TemplatePipeline,
    pub(crate) body: Vec<TemplateNode>,
    pub(crate) else_body: Option<Vec<TemplateNode>>,
}

#[derive(Clone, Debug)]
pub(crate) enum TemplateNode {
    Text(String),
    Action { pos: usize, pipe: TemplatePipeline },
    Control(Box<Control>),
    Template { pos: usize, name: String, pipe: Option<TemplatePipeline> },
    Break,
    Continue,
}

/// The part of a template being evaluated, for error messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TemplateSite<'t> {
    Expr(&'t Expr),
    Pipe(&'t TemplatePipeline),
    Command(&'t TemplateCommand),
    Node(&'t TemplateNode),
}

impl Expr {
    pub(crate) fn pos(&self) -> usize {
        match self {
            Expr::Bool { pos, .. }
            | Expr::Nil { pos }
            | Expr::Dot { pos }
            | Expr::Number { pos, .. }
            | Expr::Str { pos, .. }
            | Expr::Field { pos, .. }
            | Expr::Variable { pos, .. }
            | Expr::Function { pos, .. }
            | Expr::Chain { pos, .. } => *pos,
            Expr::Pipe(pipe) => pipe.pos,
        }
    }
}

impl TemplateSite<'_> {
    pub(crate) fn pos(&self) -> usize {
        match self {
            TemplateSite::Expr(expr) => expr.pos(),
            TemplateSite::Pipe(pipe) => pipe.pos,
            TemplateSite::Command(command) => command.pos,
            TemplateSite::Node(TemplateNode::Action { pos, .. } | TemplateNode::Template { pos, .. }) => *pos,
            TemplateSite::Node(TemplateNode::Control(control)) => control.pipe.pos,
            TemplateSite::Node(TemplateNode::Text(_) | TemplateNode::Break | TemplateNode::Continue) => 0,
        }
    }
}

impl fmt::Display for TemplateSite<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateSite::Expr(expr) => expr.fmt(f),
            TemplateSite::Pipe(pipe) => pipe.fmt(f),
            TemplateSite::Command(command) => command.fmt(f),
            TemplateSite::Node(node) => node.fmt(f),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Bool { value, .. } => value.fmt(f),
            Expr::Nil { .. } => f.write_str("nil"),
            Expr::Dot { .. } => f.write_str("."),
            Expr::Number { number, .. } => f.write_str(&number.text),
            Expr::Str { quoted, .. } => f.write_str(quoted),
            Expr::Field { path, .. } => path.iter().try_for_each(|name| write!(f, ".{name}")),
            Expr::Variable { path, .. } => f.write_str(&path.join(".")),
            Expr::Function { function, .. } => f.write_str(function.name),
            Expr::Chain { of, path, .. } => {
                match &**of {
                    Expr::Pipe(pipe) => write!(f, "({pipe})")?,
                    other => other.fmt(f)?,
                }
                path.iter().try_for_each(|name| write!(f, ".{name}"))
            }
            Expr::Pipe(pipe) => pipe.fmt(f),
        }
    }
}

impl fmt::Display for TemplateCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, arg) in self.args.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            match arg {
                Expr::Pipe(pipe) => write!(f, "({pipe})")?,
                other => other.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for TemplatePipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            let sign = if self.assigns { "=" } else { ":=" };
            write!(f, "{} {sign} ", self.variables.join(", "))?;
        }
        for (i, command) in self.commands.iter().enumerate() {
            if i > 0 {
                f.write_str(" | ")?;
            }
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for TemplateNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateNode::Text(text) => f.write_str(text),
            TemplateNode::Action { pipe, .. } => write!(f, "{{{{{pipe}}}}}"),
            TemplateNode::Control(control) => {
                let word = match control.kind {
                    ControlKind::If => "if",
                    ControlKind::With => "with",
                    ControlKind::Range => "range",
                };
                write!(f, "{{{{{word} {}}}}}", control.pipe)?;
                control.body.iter().try_for_each(|node| node.fmt(f))?;
                if let Some(else_body) = &control.else_body {
                    f.write_str("{{else}}")?;
                    else_body.iter().try_for_each(|node| node.fmt(f))?;
                }
                f.write_str("{{end}}")
            }
            TemplateNode::Template { name, pipe, .. } => {
                write!(f, "{{{{template {}", literal::quote(name))?;
                if let Some(pipe) = pipe {
                    write!(f, " {pipe}")?;
                }
                f.write_str("}}")
            }
            TemplateNode::Break => f.write_str("{{break}}"),
            TemplateNode::Continue => f.write_str("{{continue}}"),
        }
    }
}
