//! sprig's arithmetic. Integers wrap around as in Go; results are `int64`.

use super::super::limits::ITEMS_MAX;
use super::super::val::{Elem, Result, Val};
use super::ParamType::{Any, Float, Int, Str};
use super::{Function, FunctionContext, arg, fixed, int, rest, strval, text, variadic};
use crate::go::float;

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("atoi", &[Str], |_, args| Ok(Val::Int(text(args, 0).parse().unwrap_or(0)))),
    fixed("int64", &[Any], |_, args| Ok(Val::Int64(to_int(arg(args, 0))))),
    fixed("int", &[Any], |_, args| Ok(Val::Int(to_int(arg(args, 0))))),
    fixed("float64", &[Any], |_, args| Ok(Val::Float(to_float(arg(args, 0))))),
    fixed("toDecimal", &[Any], |_, args| {
        let octal = strval(arg(args, 0))?;
        Ok(Val::Int64(i64::from_str_radix(&octal, 8).unwrap_or(0)))
    }),
    fixed("add1", &[Any], |_, args| Ok(Val::Int64(to_int(arg(args, 0)).wrapping_add(1)))),
    variadic("add", &[], Any, |_, args| {
        Ok(Val::Int64(args.iter().fold(0_i64, |sum, value| sum.wrapping_add(to_int(value)))))
    }),
    fixed("sub", &[Any, Any], |_, args| {
        Ok(Val::Int64(to_int(arg(args, 0)).wrapping_sub(to_int(arg(args, 1)))))
    }),
    fixed("div", &[Any, Any], |_, args| divide(args, i64::wrapping_div)),
    fixed("mod", &[Any, Any], |_, args| divide(args, i64::wrapping_rem)),
    variadic("mul", &[Any], Any, |_, args| {
        Ok(Val::Int64(args.iter().fold(1_i64, |product, value| product.wrapping_mul(to_int(value)))))
    }),
    fixed("randInt", &[Int, Int], |call, args| {
        let span = int(args, 1).wrapping_sub(int(args, 0));
        Ok(Val::Int(random_below(call, span, "invalid argument to Intn")?.wrapping_add(int(args, 0))))
    }),
    fixed("randIntN", &[Int], |call, args| {
        random_below(call, int(args, 0), "invalid argument to IntN").map(Val::Int)
    }),
    variadic("biggest", &[Any], Any, max),
    variadic("max", &[Any], Any, max),
    variadic("min", &[Any], Any, |_, args| Ok(Val::Int64(args.iter().map(to_int).min().unwrap_or(0)))),
    variadic("maxf", &[Any], Any, |_, args| {
        Ok(Val::Float(args.iter().map(to_float).fold(f64::NEG_INFINITY, f64::max)))
    }),
    variadic("minf", &[Any], Any, |_, args| {
        Ok(Val::Float(args.iter().map(to_float).fold(f64::INFINITY, f64::min)))
    }),
    fixed("ceil", &[Any], |_, args| Ok(Val::Float(to_float(arg(args, 0)).ceil()))),
    fixed("floor", &[Any], |_, args| Ok(Val::Float(to_float(arg(args, 0)).floor()))),
    variadic("round", &[Any, Int], Float, round),
    fixed("until", &[Int], |_, args| {
        let count = int(args, 0);
        int_list(&steps(0, count, if count < 0 { -1 } else { 1 })?)
    }),
    fixed("untilStep", &[Int, Int, Int], |_, args| {
        int_list(&steps(int(args, 0), int(args, 1), int(args, 2))?)
    }),
    variadic("seq", &[], Int, seq),
];

/// sprig's `toInt64`: anything but a number is 0.
#[expect(clippy::cast_possible_truncation, reason = "as Go's int64(f): the fraction is dropped")]
pub(super) fn to_int(value: &Val) -> i64 {
    match value {
        Val::Str(text) => text.parse().unwrap_or(0),
        Val::Int(n) | Val::Int64(n) | Val::Named(_, n, _) | Val::Duration(n) => *n,
        Val::Byte(n) => i64::from(*n),
        Val::Float(f) => *f as i64,
        Val::Bool(true) => 1,
        _ => 0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "as Go's float64(i)")]
fn to_float(value: &Val) -> f64 {
    match value {
        Val::Str(text) => float::parse(text).unwrap_or(0.0),
        Val::Float(f) => *f,
        other => to_int(other) as f64,
    }
}

fn divide(args: &[Val], operation: fn(i64, i64) -> i64) -> Result<Val> {
    let divisor = to_int(arg(args, 1));
    if divisor == 0 {
        return Err("runtime error: integer divide by zero".to_owned());
    }
    Ok(Val::Int64(operation(to_int(arg(args, 0)), divisor)))
}

fn max(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    Ok(Val::Int64(args.iter().map(to_int).max().unwrap_or(0)))
}

fn random_below(call: &FunctionContext<'_>, count: i64, message: &str) -> Result<i64> {
    match u64::try_from(count) {
        Ok(count) if count > 0 => i64::try_from(call.host.random() % count).map_err(|_| message.to_owned()),
        _ => Err(message.to_owned()),
    }
}

fn round(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let round_on = match rest(args, 2).first() {
        Some(Val::Float(round_on)) => *round_on,
        _ => 0.5,
    };
    let places = i32::try_from(int(args, 1)).unwrap_or(i32::MAX);
    let scale = 10.0_f64.powi(places);
    let scaled = scale * to_float(arg(args, 0));
    let rounded = if scaled.fract() >= round_on { scaled.ceil() } else { scaled.floor() };
    Ok(Val::Float(rounded / scale))
}

/// The numbers from `start` to before `end`; empty if the step leads away from `end`.
fn steps(start: i64, end: i64, step: i64) -> Result<Vec<i64>> {
    let leads = if end < start { step < 0 } else { step > 0 };
    if !leads {
        return Ok(Vec::new());
    }
    let distance = i128::from(end) - i128::from(start);
    let count = (distance.abs() + i128::from(step).abs() - 1) / i128::from(step).abs();
    if count > ITEMS_MAX as i128 {
        return Err(format!("a list or map of more than {ITEMS_MAX} values"));
    }
    Ok((0..count).filter_map(|i| i64::try_from(i128::from(start) + i * i128::from(step)).ok()).collect())
}

fn int_list(numbers: &[i64]) -> Result<Val> {
    Val::list_of(Elem::Int, numbers.iter().map(|n| Val::Int(*n)).collect())
}

fn seq(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let numbers: Vec<i64> = args.iter().map(to_int).collect();
    let towards = |start: i64, end: i64| if end < start { -1 } else { 1 };
    let (start, step, end) = match *numbers.as_slice() {
        [end] => (1, towards(1, end), end),
        [start, end] => (start, towards(start, end), end),
        [start, step, end] if end >= start || step <= 0 => (start, step, end),
        _ => return Ok(Val::text("")),
    };
    let numbers = steps(start, end.saturating_add(towards(start, end)), step)?;
    Ok(Val::text(numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")))
}
