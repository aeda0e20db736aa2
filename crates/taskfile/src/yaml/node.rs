//! One node of a YAML document.

/// A position in a file. Line and column count from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// A node with its position and the suffix of its `!!tag`, if it has one.
#[derive(Debug, Clone)]
pub struct YamlNode {
    pub position: Position,
    pub tag: Option<String>,
    pub kind: YamlKind,
    /// The number of nodes in this subtree, with aliases expanded.
    pub(super) weight: usize,
}

#[derive(Debug, Clone)]
pub enum YamlKind {
    Scalar { text: String, plain: bool },
    List(Vec<YamlNode>),
    Map(Vec<(YamlNode, YamlNode)>),
}

impl YamlNode {
    pub(super) fn new(position: Position, tag: Option<String>, kind: YamlKind) -> YamlNode {
        let weight = 1 + match &kind {
            YamlKind::Scalar { .. } => 0,
            YamlKind::List(items) => items.iter().map(|n| n.weight).sum::<usize>(),
            YamlKind::Map(pairs) => pairs.iter().map(|(k, v)| k.weight + v.weight).sum(),
        };
        YamlNode { position, tag, kind, weight }
    }

    /// The text of a scalar, whatever it resolves to; `None` for null.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            YamlKind::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// The text of a key: a scalar as written, anything else empty.
    pub fn key(&self) -> &str {
        match &self.kind {
            YamlKind::Scalar { text, .. } => text,
            _ => "",
        }
    }

    pub fn is_scalar(&self) -> bool {
        matches!(self.kind, YamlKind::Scalar { .. })
    }

    pub fn is_null(&self) -> bool {
        self.short_tag() == "!!null"
    }

    pub fn entries(&self) -> Option<&[(YamlNode, YamlNode)]> {
        match &self.kind {
            YamlKind::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    pub fn items(&self) -> Option<&[YamlNode]> {
        match &self.kind {
            YamlKind::List(items) => Some(items),
            _ => None,
        }
    }
}
