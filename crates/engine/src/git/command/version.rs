//! Which git this is, and whether it can do what Baton asks of it.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    pub major: u32,
    pub minor: u32,
}

impl GitVersion {
    /// `merge-tree --write-tree`, which merges without a checkout, came with this one.
    pub const OLDEST: Self = Self { major: 2, minor: 38 };

    /// From what `git version` prints; distributions put their own words behind the number.
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.trim().strip_prefix("git version ")?;
        let mut parts = number.split(|c: char| !c.is_ascii_digit());
        Some(Self { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_every_distribution() {
        for (text, major, minor) in [
            ("git version 2.47.3\n", 2, 47),
            ("git version 2.39.3 (Apple Git-146)\n", 2, 39),
            ("git version 2.45.1.windows.1", 2, 45),
            ("git version 2.38.GIT", 2, 38),
            ("git version 3.0-rc1", 3, 0),
        ] {
            assert_eq!(GitVersion::parse(text), Some(GitVersion { major, minor }), "{text}");
        }
        for text in ["", "git version", "git version x.y", "hub 2.47"] {
            assert_eq!(GitVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_newer_git_is_newer() {
        let version = |major, minor| GitVersion { major, minor };
        assert!(version(2, 37) < GitVersion::OLDEST);
        assert!(version(2, 38) >= GitVersion::OLDEST);
        assert!(version(3, 0) > GitVersion::OLDEST);
        assert!(version(2, 100) > GitVersion::OLDEST);
    }
}
