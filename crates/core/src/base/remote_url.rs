//! The git URL of a repository shared by several machines.
//!
//! It is passed to git on the command line, so anything that could be read as an option or run a program is rejected
//! on the way in. Passwords are rejected too, because the URL is stored and shown: credentials belong to git's
//! credential helpers on each machine.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `ssh://git@host/app.git`, `git@host:app.git`, `https://host/app.git`, or the absolute path of a bare repository.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RemoteUrl(String);

/// A text that is not a valid remote. It is not quoted back, because it may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this cannot be a remote: {why}; use one like ssh://git@host/app.git")]
pub struct InvalidRemoteUrl {
    pub why: &'static str,
}

impl RemoteUrl {
    /// Longer than any URL in use.
    pub const LEN_MAX: usize = 1_000;
    /// Transports that do not run a program chosen by the URL.
    const SCHEMES: [&'static str; 5] = ["ssh", "git", "http", "https", "file"];

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn objection(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > RemoteUrl::LEN_MAX {
        return Some("it is longer than 1000 bytes");
    }
    if text.starts_with('-') {
        return Some("it starts with - and would pass for an option");
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Some("it has white space or a control character");
    }
    if text.contains("::") {
        return Some("it names a helper program with ::");
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        let is_scp = text.split('/').next().is_some_and(|first| first.contains(':'));
        return if is_scp || text.starts_with('/') {
            None
        } else {
            // A remote's name means something in one checkout only, and the address is for all machines.
            Some(
                "it is neither an address nor a whole path (of a remote that has a name, git remote get-url NAME prints the address)",
            )
        };
    };
    if !RemoteUrl::SCHEMES.contains(&scheme) {
        return Some("git's transports are ssh, git, http, https and file");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    let has_password = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    has_password.then_some("it has a password in it; leave that to git's credential helpers on each machine")
}

impl FromStr for RemoteUrl {
    type Err = InvalidRemoteUrl;

    fn from_str(text: &str) -> Result<Self, InvalidRemoteUrl> {
        match objection(text) {
            None => Ok(Self(text.to_owned())),
            Some(why) => Err(InvalidRemoteUrl { why }),
        }
    }
}

impl TryFrom<String> for RemoteUrl {
    type Error = InvalidRemoteUrl;

    fn try_from(text: String) -> Result<Self, InvalidRemoteUrl> {
        text.parse()
    }
}

impl From<RemoteUrl> for String {
    fn from(url: RemoteUrl) -> String {
        url.0
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_git_accepts_are_accepted() {
        for good in [
            "ssh://git@host/app.git",
            "git@host:team/app.git",
            "https://host/app.git",
            "https://mia@host/app.git",
            "git://10.0.0.1/app.git",
            "file:///srv/app.git",
            "/srv/app.git",
        ] {
            assert_eq!(good.parse::<RemoteUrl>().map(String::from), Ok(good.to_owned()));
        }
    }

    #[test]
    fn urls_that_run_programs_or_contain_passwords_are_rejected() {
        for bad in [
            "",
            "--upload-pack=touch /tmp/x",
            "-x",
            "ext::sh -c x",
            "ext::sh",
            "https://mia:secret@host/app.git",
            "gopher://host/app",
            "a b",
            "app.git",
            "origin",
            "../app.git",
            &format!("/{}", "x".repeat(1_000)),
        ] {
            assert!(bad.parse::<RemoteUrl>().is_err(), "{bad}");
        }
    }
}
