//! Parses tokens into nodes as strictly as Go: an unclosed action, a stray `end` or an unknown function is an error
//! before anything is rendered.

mod expression;
mod lexer;
mod token;

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::go::literal;
use crate::template::error::TemplateError;
use crate::template::limits::NESTING_MAX;
use crate::template::node::{Control, ControlKind, TemplateNode};
use lexer::Lexer;
use token::{TemplateToken, TokenKind};

type Result<T, E = TemplateError> = std::result::Result<T, E>;

/// The nodes of a template, and those of each `{{define}}` in it.
pub(crate) struct Definitions {
    pub(crate) root: Vec<TemplateNode>,
    pub(crate) named: HashMap<String, Vec<TemplateNode>>,
}

/// How a list of nodes ended.
enum BlockEnd {
    End,
    Else,
}

impl BlockEnd {
    fn describe(&self) -> &'static str {
        match self {
            BlockEnd::End => "{{end}}",
            BlockEnd::Else => "{{else}}",
        }
    }
}

enum ParsedItem {
    Node(TemplateNode),
    Stop(BlockEnd),
}

pub(crate) struct Parser<'t> {
    name: &'t str,
    lexer: Lexer<'t>,
    /// Tokens pushed back, the next one last.
    pending: Vec<TemplateToken>,
    /// The line of the last token, which errors name.
    last_line: usize,
    /// The line of the action being read; 0 outside of one.
    action_line: usize,
    variables: Vec<String>,
    range_depth: usize,
    nesting: usize,
    named: HashMap<String, Vec<TemplateNode>>,
}

impl<'t> Parser<'t> {
    pub(crate) fn parse(name: &'t str, text: &'t str) -> Result<Definitions> {
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

    fn error(&self, message: impl AsRef<str>) -> TemplateError {
        let message = format!("template: {}:{}: {}", self.name, self.last_line, message.as_ref());
        TemplateError { message, line: self.last_line, column: None }
    }

    fn multiple_definition(&self, name: &str) -> TemplateError {
        self.error(format!("template: multiple definition of template {}", literal::quote(name)))
    }

    fn unexpected(&self, token: &TemplateToken, context: &str) -> TemplateError {
        if token.kind != TokenKind::Error {
            return self.error(format!("unexpected {} in {context}", token.describe()));
        }
        let mut message = token.text.clone();
        if self.action_line != 0 && self.action_line != token.line {
            if !message.ends_with(" action") {
                message.push_str(" in action");
            }
            _ = write!(message, " started at {}:{}", self.name, self.action_line);
        }
        self.error(message)
    }

    fn next(&mut self) -> TemplateToken {
        if let Some(token) = self.pending.pop() {
            return token;
        }
        let token = self.lexer.next_token();
        self.last_line = token.line;
        token
    }

    fn unread(&mut self, token: TemplateToken) {
        self.pending.push(token);
    }

    fn peek(&mut self) -> TokenKind {
        let token = self.next();
        let kind = token.kind;
        self.unread(token);
        kind
    }

    fn next_non_space(&mut self) -> TemplateToken {
        loop {
            let token = self.next();
            if token.kind != TokenKind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> TemplateToken {
        let token = self.next_non_space();
        self.unread(token.clone());
        token
    }

    fn expect(&mut self, kind: TokenKind, context: &str) -> Result<TemplateToken> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(&token, context)) }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting >= NESTING_MAX {
            return Err(self.error(format!("nested more than {NESTING_MAX} deep")));
        }
        self.nesting += 1;
        let read = read(self);
        self.nesting -= 1;
        read
    }

    fn root(&mut self) -> Result<Vec<TemplateNode>> {
        let mut nodes = Vec::new();
        loop {
            let token = self.next();
            match token.kind {
                TokenKind::Eof => return Ok(nodes),
                TokenKind::LeftDelim => {
                    let word = self.next_non_space();
                    if word.kind == TokenKind::Define {
                        self.definition()?;
                        continue;
                    }
                    self.unread(word);
                }
                _ => {}
            }
            self.unread(token);
            match self.text_or_action()? {
                ParsedItem::Node(node) => nodes.push(node),
                ParsedItem::Stop(stop) => return Err(self.error(format!("unexpected {}", stop.describe()))),
            }
        }
    }

    fn definition(&mut self) -> Result<()> {
        const CONTEXT: &str = "define clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        self.expect(TokenKind::RightDelim, CONTEXT)?;
        let body = self.separate_body(CONTEXT)?;
        self.define(name, body)
    }

    /// Parses the body of a named template, which does not see the enclosing variables.
    fn separate_body(&mut self, context: &str) -> Result<Vec<TemplateNode>> {
        let variables = std::mem::replace(&mut self.variables, vec!["$".to_owned()]);
        let range_depth = std::mem::take(&mut self.range_depth);
        let (body, stop) = self.nested(Self::nodes)?;
        self.variables = variables;
        self.range_depth = range_depth;
        match stop {
            BlockEnd::End => Ok(body),
            BlockEnd::Else => Err(self.error(format!("unexpected {} in {context}", stop.describe()))),
        }
    }

    fn define(&mut self, name: String, body: Vec<TemplateNode>) -> Result<()> {
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

    fn nodes(&mut self) -> Result<(Vec<TemplateNode>, BlockEnd)> {
        let mut nodes = Vec::new();
        while self.peek_non_space().kind != TokenKind::Eof {
            match self.text_or_action()? {
                ParsedItem::Node(node) => nodes.push(node),
                ParsedItem::Stop(stop) => return Ok((nodes, stop)),
            }
        }
        Err(self.error("unexpected EOF"))
    }

    fn text_or_action(&mut self) -> Result<ParsedItem> {
        let token = self.next_non_space();
        match token.kind {
            TokenKind::Text => Ok(ParsedItem::Node(TemplateNode::Text(token.text))),
            TokenKind::LeftDelim => {
                self.action_line = token.line;
                let item = self.action();
                self.action_line = 0;
                item
            }
            _ => Err(self.unexpected(&token, "input")),
        }
    }

    fn action(&mut self) -> Result<ParsedItem> {
        let token = self.next_non_space();
        let node = match token.kind {
            TokenKind::Block => self.block()?,
            TokenKind::Break | TokenKind::Continue => self.leave_range(token.kind)?,
            TokenKind::Else => return self.else_body().map(ParsedItem::Stop),
            TokenKind::End => {
                self.expect(TokenKind::RightDelim, "end")?;
                return Ok(ParsedItem::Stop(BlockEnd::End));
            }
            TokenKind::If => self.control(ControlKind::If)?,
            TokenKind::Range => self.control(ControlKind::Range)?,
            TokenKind::With => self.control(ControlKind::With)?,
            TokenKind::Template => self.template()?,
            _ => {
                let pos = token.pos;
                self.unread(token);
                TemplateNode::Action { pos, pipe: self.pipeline("command", TokenKind::RightDelim)? }
            }
        };
        Ok(ParsedItem::Node(node))
    }

    fn leave_range(&mut self, kind: TokenKind) -> Result<TemplateNode> {
        let (word, node) = match kind {
            TokenKind::Break => ("{{break}}", TemplateNode::Break),
            _ => ("{{continue}}", TemplateNode::Continue),
        };
        let token = self.next_non_space();
        if token.kind != TokenKind::RightDelim {
            return Err(self.unexpected(&token, word));
        }
        if self.range_depth == 0 {
            return Err(self.error(format!("{word} outside {{{{range}}}}")));
        }
        Ok(node)
    }

    /// `{{else}}`; the `if` of `{{else if …}}` is left for the caller.
    fn else_body(&mut self) -> Result<BlockEnd> {
        if !matches!(self.peek_non_space().kind, TokenKind::If | TokenKind::With) {
            self.expect(TokenKind::RightDelim, "else")?;
        }
        Ok(BlockEnd::Else)
    }

    fn control(&mut self, kind: ControlKind) -> Result<TemplateNode> {
        self.nested(|parser| parser.control_body(kind))
    }

    fn control_body(&mut self, kind: ControlKind) -> Result<TemplateNode> {
        let context = match kind {
            ControlKind::If => "if",
            ControlKind::With => "with",
            ControlKind::Range => "range",
        };
        let scope = self.variables.len();
        let pipe = self.pipeline(context, TokenKind::RightDelim)?;
        let ranges = usize::from(kind == ControlKind::Range);
        self.range_depth += ranges;
        let (body, stop) = self.nodes()?;
        self.range_depth -= ranges;
        let else_body = match stop {
            BlockEnd::End => None,
            BlockEnd::Else => Some(self.else_branch(kind)?),
        };
        self.variables.truncate(scope);
        Ok(TemplateNode::Control(Box::new(Control { kind, pipe, body, else_body })))
    }

    fn else_branch(&mut self, kind: ControlKind) -> Result<Vec<TemplateNode>> {
        let chained = match kind {
            ControlKind::If => Some(TokenKind::If),
            ControlKind::With => Some(TokenKind::With),
            ControlKind::Range => None,
        };
        if chained == Some(self.peek()) {
            // `{{else if b}}…{{end}}` is `{{else}}{{if b}}…{{end}}{{end}}`; its one end closes both.
            self.next();
            return Ok(vec![self.control(kind)?]);
        }
        let (else_body, stop) = self.nodes()?;
        match stop {
            BlockEnd::End => Ok(else_body),
            BlockEnd::Else => Err(self.error(format!("expected end; found {}", stop.describe()))),
        }
    }

    fn block(&mut self) -> Result<TemplateNode> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, TokenKind::RightDelim)?;
        let body = self.separate_body(CONTEXT)?;
        self.define(name.clone(), body)?;
        Ok(TemplateNode::Template { pos: token.pos, name, pipe: Some(pipe) })
    }

    fn template(&mut self) -> Result<TemplateNode> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let next = self.next_non_space();
        let pipe = if next.kind == TokenKind::RightDelim {
            None
        } else {
            self.unread(next);
            Some(self.pipeline(CONTEXT, TokenKind::RightDelim)?)
        };
        Ok(TemplateNode::Template { pos: token.pos, name, pipe })
    }

    fn template_name(&mut self, token: &TemplateToken, context: &str) -> Result<String> {
        match token.kind {
            TokenKind::String | TokenKind::RawString => {
                literal::unquote(&token.text).ok_or_else(|| self.error("invalid syntax"))
            }
            _ => Err(self.unexpected(token, context)),
        }
    }
}

/// Whether nodes contain only whitespace; another definition may replace such a one.
fn is_blank(nodes: &[TemplateNode]) -> bool {
    nodes.iter().all(|node| matches!(node, TemplateNode::Text(text) if text.trim().is_empty()))
}
