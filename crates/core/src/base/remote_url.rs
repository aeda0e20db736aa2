//! Where a repository is that many machines share, as git is told it.
//!
//! It goes into a command line of git's, so what could pass for an option or run a program is refused at the door. A
//! password has no place in it: it would be stored and shown. Credentials are git's own business, on each machine.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `ssh://git@host/app.git`, `git@host:app.git`, `https://host/app.git`, or the whole path of a bare repository.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RemoteUrl(String);

/// A text that is not taken for a remote. It is not quoted: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this cannot be a remote: {why}; use one like ssh://git@host/app.git")]
pub struct BadRemoteUrl {
    pub why: &'static str,
}

impl RemoteUrl {
    /// Longer than any address people use.
    pub const LEN_MAX: usize = 1_000;
    /// What git reaches without running a program of somebody's choice.
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
            Some("it is neither an address nor a whole path")
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
    type Err = BadRemoteUrl;

    fn from_str(text: &str) -> Result<Self, BadRemoteUrl> {
        match objection(text) {
            None => Ok(Self(text.to_owned())),
            Some(why) => Err(BadRemoteUrl { why }),
        }
    }
}

impl TryFrom<String> for RemoteUrl {
    type Error = BadRemoteUrl;

    fn try_from(text: String) -> Result<Self, BadRemoteUrl> {
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
    fn what_git_takes_for_a_place_is_taken() {
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
    fn what_could_run_a_program_or_tell_a_password_is_refused() {
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
            "../app.git",
            &format!("/{}", "x".repeat(1_000)),
        ] {
            assert!(bad.parse::<RemoteUrl>().is_err(), "{bad}");
        }
    }
}
