//! A schema version: the numbers of a semantic version.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaVersion {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
}

impl SchemaVersion {
    /// The schema this crate implements.
    pub const V3: SchemaVersion = SchemaVersion { major: 3, minor: 0, patch: 0 };
    /// The go-task release this crate is tested against.
    pub const CURRENT: SchemaVersion = SchemaVersion { major: 3, minor: 54, patch: 0 };

    /// Parses `3`, `3.17`, `v3.2.1`; a pre-release or build suffix is ignored.
    pub(super) fn parse(text: &str) -> Option<SchemaVersion> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let numbers = text.split(['-', '+']).next()?;
        let mut parts = numbers
            .split('.')
            .map(|p| if p.bytes().all(|b| b.is_ascii_digit()) { p.parse().ok() } else { None });
        let major = parts.next()??;
        let minor = parts.next().unwrap_or(Some(0))?;
        let patch = parts.next().unwrap_or(Some(0))?;
        parts.next().is_none().then_some(SchemaVersion { major, minor, patch })
    }
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
