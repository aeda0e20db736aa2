//! The value of a variable: plain data, as YAML and templates produce it.
//!
//! Maps keep insertion order; where Go sorts by key (printing, ranging), so do we.

use super::{float, time};

/// A map in insertion order.
pub type Map = indexmap::IndexMap<String, Value>;

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    #[default]
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    List(Vec<Value>),
    Map(Map),
    /// A time with its zone, from `toDate` or `now`.
    Time(Box<jiff::Zoned>),
}

impl Value {
    /// Go's truth: anything but the zero value of its type.
    pub fn truth(&self) -> bool {
        match self {
            Value::Nil => false,
            Value::Bool(b) => *b,
            Value::Int(n) => *n != 0,
            Value::Float(f) => *f != 0.0,
            Value::Str(s) => !s.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(map) => !map.is_empty(),
            Value::Time(_) => true,
        }
    }

    /// Go's `%v`.
    pub fn display(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Value::Nil => out.push_str("<nil>"),
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Int(n) => out.push_str(&n.to_string()),
            Value::Float(f) => out.push_str(&float::display(*f)),
            Value::Str(s) => out.push_str(s),
            Value::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(' ');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Value::Map(map) => {
                out.push_str("map[");
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                for (i, (key, value)) in entries.into_iter().enumerate() {
                    if i > 0 {
                        out.push(' ');
                    }
                    out.push_str(key);
                    out.push(':');
                    value.write(out);
                }
                out.push(']');
            }
            Value::Time(time) => out.push_str(&time::display(time)),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Str(text.to_owned())
    }
}

macro_rules! from_plain {
    ($($from:ty => $variant:ident),*) => {
        $(impl From<$from> for Value {
            fn from(plain: $from) -> Self {
                Value::$variant(plain)
            }
        })*
    };
}

from_plain!(String => Str, i64 => Int, f64 => Float, bool => Bool, Map => Map);

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}
