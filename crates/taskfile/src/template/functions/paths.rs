//! Functions for paths. On Unix, Go's `path` and `path/filepath` agree.

use super::super::val::{Result, Val};
use super::ParamType::Str;
use super::{Function, FunctionContext, fixed, text, variadic};

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("base", &[Str], |_, args| Ok(Val::text(base(text(args, 0))))),
    fixed("dir", &[Str], |_, args| Ok(Val::text(dir(text(args, 0))))),
    fixed("clean", &[Str], |_, args| Ok(Val::text(clean(text(args, 0))))),
    fixed("ext", &[Str], |_, args| Ok(Val::text(ext(text(args, 0))))),
    fixed("isAbs", &[Str], |_, args| Ok(Val::Bool(text(args, 0).starts_with('/')))),
    fixed("osBase", &[Str], |_, args| Ok(Val::text(base(text(args, 0))))),
    fixed("osDir", &[Str], |_, args| Ok(Val::text(dir(text(args, 0))))),
    fixed("osClean", &[Str], |_, args| Ok(Val::text(clean(text(args, 0))))),
    fixed("osExt", &[Str], |_, args| Ok(Val::text(ext(text(args, 0))))),
    fixed("osIsAbs", &[Str], |_, args| Ok(Val::Bool(text(args, 0).starts_with('/')))),
    fixed("fromSlash", &[Str], from_slash),
    fixed("FromSlash", &[Str], from_slash),
    fixed("toSlash", &[Str], to_slash),
    fixed("ToSlash", &[Str], to_slash),
    variadic("joinPath", &[], Str, |_, args| {
        let parts: Vec<&str> = (0..args.len()).map(|i| text(args, i)).collect();
        Ok(Val::text(join(&parts)))
    }),
    variadic("joinEnv", &[], Str, |call, args| {
        let separator = if call.host.os() == "windows" { ";" } else { ":" };
        let parts: Vec<&str> = (0..args.len()).map(|i| text(args, i)).collect();
        Ok(Val::text(parts.join(separator)))
    }),
    fixed("relPath", &[Str, Str], |_, args| relative(text(args, 0), text(args, 1)).map(Val::text)),
    fixed("absPath", &[Str], |call, args| Ok(Val::text(absolute(call, text(args, 0))))),
];

fn from_slash(call: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let path = text(args, 0);
    Ok(Val::text(if call.host.os() == "windows" { path.replace('/', "\\") } else { path.to_owned() }))
}

fn to_slash(call: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let path = text(args, 0);
    Ok(Val::text(if call.host.os() == "windows" { path.replace('\\', "/") } else { path.to_owned() }))
}

/// Go's `path.Clean`: removes `.`, redundant `..` and extra slashes.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

pub(super) fn join(parts: &[&str]) -> String {
    let present: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if present.is_empty() { String::new() } else { clean(&present.join("/")) }
}

fn base(path: &str) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some(last) if !last.is_empty() => last.to_owned(),
        _ => "/".to_owned(),
    }
}

fn dir(path: &str) -> String {
    clean(path.rfind('/').map_or("", |slash| &path[..=slash]))
}

fn ext(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').map_or(String::new(), |dot| name[dot..].to_owned())
}

fn absolute(call: &FunctionContext<'_>, path: &str) -> String {
    if path.starts_with('/') {
        return clean(path);
    }
    join(&[&call.host.working_dir().to_string_lossy(), path])
}

/// Go's `filepath.Rel`.
fn relative(from: &str, to: &str) -> Result<String> {
    let (from_clean, to_clean) = (clean(from), clean(to));
    let message = || format!("Rel: can't make {to} relative to {from}");
    if from_clean.starts_with('/') != to_clean.starts_with('/') {
        return Err(message());
    }
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let (from_parts, to_parts) = (parts(&from_clean), parts(&to_clean));
    let shared = from_parts.iter().zip(&to_parts).take_while(|(a, b)| a == b).count();
    if from_parts.get(shared).is_some_and(|part| part == "..") {
        return Err(message());
    }
    let up = std::iter::repeat_n("..", from_parts.len() - shared);
    let path: Vec<&str> = up.chain(to_parts[shared..].iter().map(String::as_str)).collect();
    Ok(if path.is_empty() { ".".to_owned() } else { path.join("/") })
}
