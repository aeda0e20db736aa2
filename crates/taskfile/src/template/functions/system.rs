//! Functions that query the machine, all through the host.

use super::super::val::{Result, Val};
use super::ParamType::Str;
use super::{Function, FunctionContext, fixed, text};

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("OS", &[], |call, _| Ok(Val::text(call.host.os()))),
    fixed("ARCH", &[], |call, _| Ok(Val::text(call.host.arch()))),
    fixed("numCPU", &[], |call, _| Ok(Val::Int(i64::try_from(call.host.num_cpu()).unwrap_or(i64::MAX)))),
    fixed("exeExt", &[], exe_ext),
    fixed("ExeExt", &[], exe_ext),
    fixed("IsSH", &[], |_, _| Ok(Val::Bool(true))),
    fixed("env", &[Str], |call, args| Ok(Val::text(call.host.env(text(args, 0)).unwrap_or_default()))),
    fixed("expandenv", &[Str], |call, args| Ok(Val::text(expand(call, text(args, 0))))),
    fixed("getHostByName", &[Str], |call, args| {
        let addresses = call.host.addresses(text(args, 0));
        addresses.into_iter().next().map(Val::text).ok_or_else(|| "invalid argument to Intn".to_owned())
    }),
    fixed("uuid", &[], |call, _| Ok(Val::text(uuid(call)))),
];

fn exe_ext(call: &mut FunctionContext<'_>, _: &[Val]) -> Result<Val> {
    Ok(Val::text(if call.host.os() == "windows" { ".exe" } else { "" }))
}

/// Go's `os.ExpandEnv`: `$name` and `${name}`; unset variables are empty.
fn expand(call: &FunctionContext<'_>, whole: &str) -> String {
    let mut out = String::with_capacity(whole.len());
    let mut rest = whole;
    while let Some(dollar) = rest.find('$') {
        out.push_str(&rest[..dollar]);
        rest = &rest[dollar + 1..];
        let (name, after) = variable(rest);
        match name {
            Some(name) => out.push_str(&call.host.env(name).unwrap_or_default()),
            // A dollar without a name is kept.
            None if after.len() == rest.len() => out.push('$'),
            None => {}
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The variable name after a dollar, and the text after the name.
fn variable(rest: &str) -> (Option<&str>, &str) {
    const SPECIAL: &str = "*#$@!?-0123456789";
    if let Some(braced) = rest.strip_prefix('{') {
        return match braced.find('}') {
            Some(0) => (None, &braced[1..]),
            Some(end) => (Some(&braced[..end]), &braced[end + 1..]),
            None => (None, braced),
        };
    }
    if let Some(special) = rest.chars().next().filter(|c| SPECIAL.contains(*c)) {
        return (Some(&rest[..special.len_utf8()]), &rest[special.len_utf8()..]);
    }
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    if end == 0 { (None, rest) } else { (Some(&rest[..end]), &rest[end..]) }
}

/// A random (version 4) UUID.
fn uuid(call: &FunctionContext<'_>) -> String {
    let high = call.host.random() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000;
    let low = call.host.random() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low & 0xFFFF_FFFF_FFFF
    )
}
