//! The functions a template may call: Go's own, go-task's and slim-sprig's. Each has its Go signature, from
//! which Go's error messages about arguments follow.

mod builtin;
mod dates;
mod defaults;
mod dicts;
mod encoding;
mod json;
mod lists;
mod math;
pub(crate) mod methods;
mod paths;
mod reflect;
mod regexes;
mod shell;
mod spew;
mod strings;
mod system;
mod urls;
mod yaml;

use super::host::Host;
use super::val::{Result, Val};

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamType {
    Any,
    /// Go's `reflect.Value`: anything, including a missing value.
    Reflect,
    Str,
    Int,
    Float,
    Bool,
    Dict,
    Time,
}

impl ParamType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ParamType::Any => "interface {}",
            ParamType::Reflect => "reflect.Value",
            ParamType::Str => "string",
            ParamType::Int => "int",
            ParamType::Float => "float64",
            ParamType::Bool => "bool",
            ParamType::Dict => "map[string]interface {}",
            ParamType::Time => "time.Time",
        }
    }
}

/// What a function may use besides its arguments.
pub(crate) struct FunctionContext<'a> {
    pub(crate) host: &'a dyn Host,
    /// The first argument of `call` as written.
    pub(crate) callee: String,
    /// How often this rendering stored a list or map in a map with `set`.
    pub(crate) nested_sets: &'a mut usize,
}

pub(crate) type FunctionBody = fn(&mut FunctionContext<'_>, &[Val]) -> Result<Val>;

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [ParamType],
    /// The type of variadic arguments.
    pub(crate) rest: Option<ParamType>,
    pub(crate) run: FunctionBody,
}

/// A function of exactly these parameters.
const fn fixed(name: &'static str, params: &'static [ParamType], run: FunctionBody) -> Function {
    Function { name, params, rest: None, run }
}

/// A function that takes any number of arguments after these.
const fn variadic(
    name: &'static str,
    params: &'static [ParamType],
    rest: ParamType,
    run: FunctionBody,
) -> Function {
    Function { name, params, rest: Some(rest), run }
}

/// If two groups define a name, the first wins: go-task's before sprig's before Go's own.
const GROUPS: [&[Function]; 17] = [
    defaults::FUNCTIONS,
    strings::FUNCTIONS,
    system::FUNCTIONS,
    paths::FUNCTIONS,
    lists::FUNCTIONS,
    dicts::FUNCTIONS,
    math::FUNCTIONS,
    builtin::FUNCTIONS,
    dates::FUNCTIONS,
    encoding::FUNCTIONS,
    json::FUNCTIONS,
    yaml::FUNCTIONS,
    reflect::FUNCTIONS,
    regexes::FUNCTIONS,
    shell::FUNCTIONS,
    urls::FUNCTIONS,
    spew::FUNCTIONS,
];

pub(crate) fn find(name: &str) -> Option<&'static Function> {
    GROUPS.iter().flat_map(|group| group.iter()).find(|function| function.name == name)
}

/// The text of an argument whose parameter is a string.
fn text(args: &[Val], i: usize) -> &str {
    match args.get(i) {
        Some(Val::Str(text)) => text,
        _ => "",
    }
}

/// The number of an argument whose parameter is an int.
fn int(args: &[Val], i: usize) -> i64 {
    match args.get(i) {
        Some(Val::Int(n) | Val::Int64(n)) => *n,
        _ => 0,
    }
}

fn arg(args: &[Val], i: usize) -> &Val {
    args.get(i).unwrap_or(&Val::Nil)
}

/// The arguments after the first `i`.
fn rest(args: &[Val], i: usize) -> &[Val] {
    args.get(i..).unwrap_or(&[])
}

/// sprig's `strval`: a string as it is, anything else as Go prints it.
fn strval(value: &Val) -> Result<String> {
    match value {
        Val::Str(text) => Ok(text.to_string()),
        Val::Invalid | Val::Nil => Ok("<nil>".to_owned()),
        other => super::print::display(other),
    }
}

/// Rejects an oversized string before it is built.
fn check_text(bytes: u128) -> Result<()> {
    let limit = super::limits::TEXT_MAX;
    if bytes > limit as u128 { Err(format!("a text of more than {limit} bytes")) } else { Ok(()) }
}
