//! Reads a template's tokens into nodes, as strictly as Go: an action that is not closed, an `end`
//! too many or an unknown function is an error before anything is rendered.

mod expression;
mod lexer;
mod token;

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::go::literal;
use crate::template::error::TemplateError;
use crate::template::limits::NESTING_MAX;
use crate::template::node::{Control, ControlKind, Node};
use lexer::Lexer;
use token::{Kind, Token};

type Parsed<T> = Result<T, TemplateError>;

/// What a template's text defines: the nodes of the whole, and those of each `{{define}}`.
pub(crate) struct Definitions {
    pub(crate) root: Vec<Node>,
    pub(crate) named: HashMap<String, Vec<Node>>,
}

/// Where a list of nodes ended.
enum Stop {
    End,
    Else,
}

impl Stop {
    fn shown(&self) -> &'static str {
        match self {
            Stop::End => "{{end}}",
            Stop::Else => "{{else}}",
        }
    }
}

enum Item {
    Node(Node),
    Stop(Stop),
}

pub(crate) struct Parser<'t> {
    name: &'t str,
    lexer: Lexer<'t>,
    /// Tokens given back, the next one last.
    pending: Vec<Token>,
    /// The line of the token read last, which is where a complaint points.
    last_line: usize,
    /// The line of the action being read; 0 outside of one.
    action_line: usize,
    variables: Vec<String>,
    range_depth: usize,
    nesting: usize,
    named: HashMap<String, Vec<Node>>,
}

impl<'t> Parser<'t> {
    pub(crate) fn parse(name: &'t str, text: &'t str) -> Parsed<Definitions> {
        let mut parser = Parser {
            name,
            lexer: Lexer::new(text),
            pending: Vec::new(),
            last_line: 1,
            action_line: 0,
            variables: vec!["$".to_owned()],
            range_depth: 0,
            nesting: 0,
            named: HashMap::new(),
        };
        let root = parser.root()?;
        if let Some(defined) = parser.named.remove(name) {
            if !is_blank(&defined) && !is_blank(&root) {
                return Err(parser.multiple_definition(name));
            }
            if is_blank(&root) {
                return Ok(Definitions { root: defined, named: parser.named });
            }
        }
        Ok(Definitions { root, named: parser.named })
    }

    fn error(&self, complaint: impl AsRef<str>) -> TemplateError {
        let message = format!("template: {}:{}: {}", self.name, self.last_line, complaint.as_ref());
        TemplateError { message, line: self.last_line, column: None }
    }

    fn multiple_definition(&self, name: &str) -> TemplateError {
        self.error(format!("template: multiple definition of template {}", literal::quote(name)))
    }

    fn unexpected(&self, token: &Token, context: &str) -> TemplateError {
        if token.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", token.shown()));
        }
        let mut complaint = token.text.clone();
        if self.action_line != 0 && self.action_line != token.line {
            if !complaint.ends_with(" action") {
                complaint.push_str(" in action");
            }
            _ = write!(complaint, " started at {}:{}", self.name, self.action_line);
        }
        self.error(complaint)
    }

    fn next(&mut self) -> Token {
        if let Some(token) = self.pending.pop() {
            return token;
        }
        let token = self.lexer.next_token();
        self.last_line = token.line;
        token
    }

    fn back(&mut self, token: Token) {
        self.pending.push(token);
    }

    fn peek(&mut self) -> Kind {
        let token = self.next();
        let kind = token.kind;
        self.back(token);
        kind
    }

    fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token {
        let token = self.next_non_space();
        self.back(token.clone());
        token
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Parsed<Token> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(&token, context)) }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= NESTING_MAX {
            return Err(self.error(format!("nested more than {NESTING_MAX} deep")));
        }
        self.nesting += 1;
        let read = read(self);
        self.nesting -= 1;
        read
    }

    fn root(&mut self) -> Parsed<Vec<Node>> {
        let mut nodes = Vec::new();
        loop {
            let token = self.next();
            match token.kind {
                Kind::Eof => return Ok(nodes),
                Kind::LeftDelim => {
                    let word = self.next_non_space();
                    if word.kind == Kind::Define {
                        self.definition()?;
                        continue;
                    }
                    self.back(word);
                }
                _ => {}
            }
            self.back(token);
            match self.text_or_action()? {
                Item::Node(node) => nodes.push(node),
                Item::Stop(stop) => return Err(self.error(format!("unexpected {}", stop.shown()))),
            }
        }
    }

    fn definition(&mut self) -> Parsed<()> {
        const CONTEXT: &str = "define clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        self.expect(Kind::RightDelim, CONTEXT)?;
        let body = self.separate_body(CONTEXT)?;
        self.define(name, body)
    }

    /// The body of a template of its own: it sees no variable of the one around it.
    fn separate_body(&mut self, context: &str) -> Parsed<Vec<Node>> {
        let variables = std::mem::replace(&mut self.variables, vec!["$".to_owned()]);
        let range_depth = std::mem::take(&mut self.range_depth);
        let (body, stop) = self.deeper(Self::nodes)?;
        self.variables = variables;
        self.range_depth = range_depth;
        match stop {
            Stop::End => Ok(body),
            Stop::Else => Err(self.error(format!("unexpected {} in {context}", stop.shown()))),
        }
    }

    fn define(&mut self, name: String, body: Vec<Node>) -> Parsed<()> {
        match self.named.get(&name) {
            Some(known) if !is_blank(known) => {
                if is_blank(&body) {
                    return Ok(());
                }
                Err(self.multiple_definition(&name))
            }
            _ => {
                self.named.insert(name, body);
                Ok(())
            }
        }
    }

    fn nodes(&mut self) -> Parsed<(Vec<Node>, Stop)> {
        let mut nodes = Vec::new();
        while self.peek_non_space().kind != Kind::Eof {
            match self.text_or_action()? {
                Item::Node(node) => nodes.push(node),
                Item::Stop(stop) => return Ok((nodes, stop)),
            }
        }
        Err(self.error("unexpected EOF"))
    }

    fn text_or_action(&mut self) -> Parsed<Item> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text(token.text))),
            Kind::LeftDelim => {
                self.action_line = token.line;
                let item = self.action();
                self.action_line = 0;
                item
            }
            _ => Err(self.unexpected(&token, "input")),
        }
    }

    fn action(&mut self) -> Parsed<Item> {
        let token = self.next_non_space();
        let node = match token.kind {
            Kind::Block => self.block()?,
            Kind::Break | Kind::Continue => self.leave_range(token.kind)?,
            Kind::Else => return self.otherwise().map(Item::Stop),
            Kind::End => {
                self.expect(Kind::RightDelim, "end")?;
                return Ok(Item::Stop(Stop::End));
            }
            Kind::If => self.control(ControlKind::If)?,
            Kind::Range => self.control(ControlKind::Range)?,
            Kind::With => self.control(ControlKind::With)?,
            Kind::Template => self.template()?,
            _ => {
                let pos = token.pos;
                self.back(token);
                Node::Action { pos, pipe: self.pipeline("command", Kind::RightDelim)? }
            }
        };
        Ok(Item::Node(node))
    }

    fn leave_range(&mut self, kind: Kind) -> Parsed<Node> {
        let (word, node) = match kind {
            Kind::Break => ("{{break}}", Node::Break),
            _ => ("{{continue}}", Node::Continue),
        };
        let token = self.next_non_space();
        if token.kind != Kind::RightDelim {
            return Err(self.unexpected(&token, word));
        }
        if self.range_depth == 0 {
            return Err(self.error(format!("{word} outside {{{{range}}}}")));
        }
        Ok(node)
    }

    /// `{{else}}`; of `{{else if …}}` the `if` stays for the one who asked.
    fn otherwise(&mut self) -> Parsed<Stop> {
        if !matches!(self.peek_non_space().kind, Kind::If | Kind::With) {
            self.expect(Kind::RightDelim, "else")?;
        }
        Ok(Stop::Else)
    }

    fn control(&mut self, kind: ControlKind) -> Parsed<Node> {
        self.deeper(|parser| parser.control_body(kind))
    }

    fn control_body(&mut self, kind: ControlKind) -> Parsed<Node> {
        let context = match kind {
            ControlKind::If => "if",
            ControlKind::With => "with",
            ControlKind::Range => "range",
        };
        let scope = self.variables.len();
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        let ranges = usize::from(kind == ControlKind::Range);
        self.range_depth += ranges;
        let (body, stop) = self.nodes()?;
        self.range_depth -= ranges;
        let otherwise = match stop {
            Stop::End => None,
            Stop::Else => Some(self.else_branch(kind)?),
        };
        self.variables.truncate(scope);
        Ok(Node::Control(Box::new(Control { kind, pipe, body, otherwise })))
    }

    fn else_branch(&mut self, kind: ControlKind) -> Parsed<Vec<Node>> {
        let chained = match kind {
            ControlKind::If => Some(Kind::If),
            ControlKind::With => Some(Kind::With),
            ControlKind::Range => None,
        };
        if chained == Some(self.peek()) {
            // `{{else if b}}…{{end}}` is `{{else}}{{if b}}…{{end}}{{end}}`; its one end closes both.
            self.next();
            return Ok(vec![self.control(kind)?]);
        }
        let (otherwise, stop) = self.nodes()?;
        match stop {
            Stop::End => Ok(otherwise),
            Stop::Else => Err(self.error(format!("expected end; found {}", stop.shown()))),
        }
    }

    fn block(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Kind::RightDelim)?;
        let body = self.separate_body(CONTEXT)?;
        self.define(name.clone(), body)?;
        Ok(Node::Template { pos: token.pos, name, pipe: Some(pipe) })
    }

    fn template(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let next = self.next_non_space();
        let pipe = if next.kind == Kind::RightDelim {
            None
        } else {
            self.back(next);
            Some(self.pipeline(CONTEXT, Kind::RightDelim)?)
        };
        Ok(Node::Template { pos: token.pos, name, pipe })
    }

    fn template_name(&mut self, token: &Token, context: &str) -> Parsed<String> {
        match token.kind {
            Kind::String | Kind::RawString => {
                literal::unquote(&token.text).ok_or_else(|| self.error("invalid syntax"))
            }
            _ => Err(self.unexpected(token, context)),
        }
    }
}

/// Whether nodes hold nothing but space; such a definition gives way to another of its name.
fn is_blank(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| matches!(node, Node::Text(text) if text.trim().is_empty()))
}
