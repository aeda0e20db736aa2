//! Namespaces: the names of stores.

use std::path::Path;

use baton_core::base::explanation::Explanation;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

/// Long enough for any folder's name, short enough for a file's.
const NAMESPACE_LEN_MAX: usize = 100;
/// The longest name that a shared store accepts.
const SCHEMA_LEN_MAX: usize = 40;

pub(super) fn check(name: &str) -> Result<String, InvalidNamespace> {
    let is_safe = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let is_valid = !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.len() <= NAMESPACE_LEN_MAX
        && name.bytes().all(is_safe);
    if is_valid { Ok(name.to_owned()) } else { Err(InvalidNamespace { name: name.to_owned() }) }
}

/// The folder's name and four hex digits of its path's hash, so that folders with the same name differ.
pub(super) fn from_folder(root: &Path) -> String {
    let name: String = root
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .take(NAMESPACE_LEN_MAX - 5)
        .collect();
    let name = name.trim_start_matches('-');
    let name = if name.is_empty() { "baton" } else { name };
    format!("{name}-{:04x}", hash(root.to_string_lossy().as_bytes()) & 0xffff)
}

/// The name of the PostgreSQL schema: lower-case letters, digits and `_`. A namespace with other characters gets a hash
/// appended, so that different namespaces stay different.
pub(super) fn schema_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.len() <= SCHEMA_LEN_MAX && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let plain: String = name
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if is_plain(c) { c } else { '_' })
        .take(SCHEMA_LEN_MAX - 9)
        .collect();
    format!("{plain}_{:08x}", hash(name.as_bytes()) & 0xffff_ffff)
}

/// FNV-1a, because the standard hasher may differ between versions.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[derive(Debug, thiserror::Error)]
#[error("\"{name}\" is not a valid namespace")]
pub struct InvalidNamespace {
    pub name: String,
}

impl InvalidNamespace {
    pub const EXPLAINED: Explanation = Explanation {
        code: "namespace",
        means: "The namespace is not valid.",
        cause: "It names a file and a schema, so it may contain letters, digits, - _ and ., must start with a letter or \
                digit, and has at most 100 characters.",
        next: "Choose another with `--namespace`.",
    };
}

failure! {
    InvalidNamespace { |it|
        kind: ErrorKind::InvalidInput,
        hint: "use at most 100 letters, digits, - _ and ., starting with a letter or digit",
        explained: &Self::EXPLAINED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_the_same_name_have_different_namespaces() {
        assert_ne!(from_folder(Path::new("/a/project")), from_folder(Path::new("/b/project")));
        assert!(check(&from_folder(Path::new("/ü ö/…"))).is_ok());
        assert!(check(&from_folder(Path::new("/"))).is_ok());
    }

    #[test]
    fn a_namespace_that_could_escape_the_folder_is_refused() {
        for bad in ["", "..", ".hidden", "a/b", "-x", "a b", &"x".repeat(101)] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn namespaces_stay_different_in_a_shared_store() {
        assert_eq!(schema_name("team_7"), "team_7");
        let names = ["a-b", "a_b", "a.b", "A_b", &"x".repeat(60), &"x".repeat(61)].map(schema_name);
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(
            names.iter().all(|name| name.len() <= SCHEMA_LEN_MAX && name.chars().all(is_plain)),
            "{names:?}"
        );
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
    }
}
