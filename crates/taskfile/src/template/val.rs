//! Values during rendering: with their Go type, and with maps shared by reference as in Go.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Zoned;

use super::limits::{ITEMS_MAX, VALUE_DEPTH_MAX};
use crate::go::{Map, Value};

#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// No value at all: a missing field of a map.
    Invalid,
    /// A present nil value.
    Nil,
    /// The template's data; converted only when needed as a whole.
    Root,
    Bool(bool),
    Int(i64),
    /// The result of arithmetic, which Go does not accept for an int parameter.
    Int64(i64),
    Byte(u8),
    Float(f64),
    Str(Arc<str>),
    List(Rc<ValList>),
    Dict(Rc<ValDict>),
    Time(Rc<Zoned>),
    /// A month or a weekday: a number that prints as its name.
    Named(&'static str, i64, &'static str),
    Duration(i64),
}

/// The element type of a list or map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elem {
    Any,
    Str,
    Int,
    Lists,
}

impl Elem {
    fn name(self) -> &'static str {
        match self {
            Elem::Any => "interface {}",
            Elem::Str => "string",
            Elem::Int => "int",
            Elem::Lists => "[]interface {}",
        }
    }
}

#[derive(Debug)]
pub(crate) struct ValList {
    pub(crate) elem: Elem,
    pub(crate) items: Vec<Val>,
    size: usize,
    depth: usize,
}

#[derive(Debug)]
pub(crate) struct ValDict {
    pub(crate) elem: Elem,
    pub(crate) entries: RefCell<IndexMap<String, Val>>,
    size: Cell<usize>,
    depth: Cell<usize>,
}

/// The result of a function, or its error message.
pub(crate) type Result<T, E = String> = std::result::Result<T, E>;

fn measure<'v>(values: impl Iterator<Item = &'v Val>) -> Result<(usize, usize)> {
    let (mut size, mut depth) = (1_usize, 1_usize);
    for value in values {
        let (inner_size, inner_depth) = value.measure();
        size = size.saturating_add(inner_size);
        depth = depth.max(inner_depth + 1);
    }
    check_limits(size, depth)?;
    Ok((size, depth))
}

fn check_limits(size: usize, depth: usize) -> Result<()> {
    if size > ITEMS_MAX {
        return Err(format!("a list or map of more than {ITEMS_MAX} values"));
    }
    if depth > VALUE_DEPTH_MAX {
        return Err(format!("lists and maps nested more than {VALUE_DEPTH_MAX} deep"));
    }
    Ok(())
}

impl ValDict {
    pub(crate) fn get(&self, key: &str) -> Option<Val> {
        self.entries.borrow().get(key).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// The entries in Go's order.
    pub(crate) fn sorted(&self) -> Vec<(String, Val)> {
        let mut entries: Vec<_> = self.entries.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries
    }

    /// Sets an entry; rejects cycles, which could not be printed.
    pub(crate) fn set(self: &Rc<Self>, key: &str, value: Val) -> Result<()> {
        if value.holds(self) {
            return Err("a map cannot hold itself".to_owned());
        }
        let (size, depth) = value.measure();
        let grown = self.size.get().saturating_add(size);
        let deeper = self.depth.get().max(depth + 1);
        check_limits(grown, deeper)?;
        self.size.set(grown);
        self.depth.set(deeper);
        self.entries.borrow_mut().insert(key.to_owned(), value);
        Ok(())
    }
}

impl Val {
    pub(crate) fn text(text: impl Into<Arc<str>>) -> Val {
        Val::Str(text.into())
    }

    pub(crate) fn list(items: Vec<Val>) -> Result<Val> {
        Val::list_of(Elem::Any, items)
    }

    pub(crate) fn list_of(elem: Elem, items: Vec<Val>) -> Result<Val> {
        let (size, depth) = measure(items.iter())?;
        Ok(Val::List(Rc::new(ValList { elem, items, size, depth })))
    }

    pub(crate) fn strings<S: Into<Arc<str>>>(items: impl IntoIterator<Item = S>) -> Result<Val> {
        Val::list_of(Elem::Str, items.into_iter().map(Val::text).collect())
    }

    pub(crate) fn dict(entries: IndexMap<String, Val>) -> Result<Val> {
        Val::dict_of(Elem::Any, entries)
    }

    pub(crate) fn dict_of(elem: Elem, entries: IndexMap<String, Val>) -> Result<Val> {
        let (size, depth) = measure(entries.values())?;
        let (size, depth) = (Cell::new(size), Cell::new(depth));
        Ok(Val::Dict(Rc::new(ValDict { elem, entries: RefCell::new(entries), size, depth })))
    }

    fn measure(&self) -> (usize, usize) {
        match self {
            Val::List(list) => (list.size, list.depth),
            Val::Dict(dict) => (dict.size.get(), dict.depth.get()),
            _ => (1, 0),
        }
    }

    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Val::List(_) | Val::Dict(_))
    }

    fn holds(&self, sought: &Rc<ValDict>) -> bool {
        match self {
            Val::Dict(dict) => {
                Rc::ptr_eq(dict, sought) || dict.entries.borrow().values().any(|value| value.holds(sought))
            }
            Val::List(list) => list.items.iter().any(|value| value.holds(sought)),
            _ => false,
        }
    }

    /// The bytes charged for creating it.
    pub(crate) fn weight(&self) -> u64 {
        match self {
            Val::Str(text) => text.len() as u64,
            Val::List(list) => list.items.len() as u64 * 16,
            Val::Dict(dict) => dict.len() as u64 * 32,
            _ => 0,
        }
    }

    pub(crate) fn truth(&self) -> bool {
        match self {
            Val::Invalid | Val::Nil => false,
            Val::Root | Val::Time(_) => true,
            Val::Bool(b) => *b,
            Val::Int(n) | Val::Int64(n) | Val::Named(_, n, _) | Val::Duration(n) => *n != 0,
            Val::Byte(n) => *n != 0,
            Val::Float(f) => *f != 0.0,
            Val::Str(s) => !s.is_empty(),
            Val::List(list) => !list.items.is_empty(),
            Val::Dict(dict) => dict.len() > 0,
        }
    }

    /// Go's `%T`.
    pub(crate) fn type_name(&self) -> String {
        match self {
            Val::Invalid | Val::Nil => "<nil>".to_owned(),
            Val::Root => "map[string]interface {}".to_owned(),
            Val::Bool(_) => "bool".to_owned(),
            Val::Int(_) => "int".to_owned(),
            Val::Int64(_) => "int64".to_owned(),
            Val::Byte(_) => "uint8".to_owned(),
            Val::Float(_) => "float64".to_owned(),
            Val::Str(_) => "string".to_owned(),
            Val::List(list) => format!("[]{}", list.elem.name()),
            Val::Dict(dict) => format!("map[string]{}", dict.elem.name()),
            Val::Time(_) => "time.Time".to_owned(),
            Val::Named(name, ..) => (*name).to_owned(),
            Val::Duration(_) => "time.Duration".to_owned(),
        }
    }

    /// Go's `reflect.Kind`.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self {
            Val::Invalid | Val::Nil => "invalid",
            Val::Root | Val::Dict(_) => "map",
            Val::Bool(_) => "bool",
            Val::Int(_) | Val::Named(..) => "int",
            Val::Int64(_) | Val::Duration(_) => "int64",
            Val::Byte(_) => "uint8",
            Val::Float(_) => "float64",
            Val::Str(_) => "string",
            Val::List(_) => "slice",
            Val::Time(_) => "struct",
        }
    }

    pub(crate) fn from_value(value: &Value) -> Result<Val> {
        Ok(match value {
            Value::Nil => Val::Nil,
            Value::Bool(b) => Val::Bool(*b),
            Value::Int(n) => Val::Int(*n),
            Value::Float(f) => Val::Float(*f),
            Value::Str(s) => Val::text(s.as_str()),
            Value::List(items) => Val::list(items.iter().map(Val::from_value).collect::<Result<_>>()?)?,
            Value::Map(map) => Val::dict(convert_entries(map)?)?,
            Value::Time(time) => Val::Time(Rc::new((**time).clone())),
        })
    }

    pub(crate) fn into_value(self) -> Value {
        match self {
            Val::Invalid | Val::Nil | Val::Root => Value::Nil,
            Val::Bool(b) => Value::Bool(b),
            Val::Int(n) | Val::Int64(n) | Val::Named(_, n, _) | Val::Duration(n) => Value::Int(n),
            Val::Byte(n) => Value::Int(i64::from(n)),
            Val::Float(f) => Value::Float(f),
            Val::Str(s) => Value::Str(s.to_string()),
            Val::List(list) => Value::List(list.items.iter().cloned().map(Val::into_value).collect()),
            Val::Dict(dict) => Value::Map(
                dict.entries.borrow().iter().map(|(k, v)| (k.clone(), v.clone().into_value())).collect(),
            ),
            Val::Time(time) => Value::Time(Box::new((*time).clone())),
        }
    }
}

fn convert_entries(map: &Map) -> Result<IndexMap<String, Val>> {
    map.iter().map(|(key, value)| Ok((key.clone(), Val::from_value(value)?))).collect()
}

/// Go's `reflect.DeepEqual`: types must match at every level.
impl PartialEq for Val {
    fn eq(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::Invalid | Val::Nil, Val::Invalid | Val::Nil) | (Val::Root, Val::Root) => true,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::Int(a), Val::Int(b))
            | (Val::Int64(a), Val::Int64(b))
            | (Val::Duration(a), Val::Duration(b)) => a == b,
            (Val::Byte(a), Val::Byte(b)) => a == b,
            (Val::Float(a), Val::Float(b)) => a == b,
            (Val::Str(a), Val::Str(b)) => a == b,
            (Val::List(a), Val::List(b)) => Rc::ptr_eq(a, b) || (a.elem == b.elem && a.items == b.items),
            (Val::Dict(a), Val::Dict(b)) => {
                Rc::ptr_eq(a, b) || (a.elem == b.elem && *a.entries.borrow() == *b.entries.borrow())
            }
            (Val::Time(a), Val::Time(b)) => a == b,
            (Val::Named(name, a, _), Val::Named(other, b, _)) => name == other && a == b,
            _ => false,
        }
    }
}
