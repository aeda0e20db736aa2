//! The configuration of a clone: the person's for this repository, without what belongs to their checkout.

use std::fmt::Write;

use crate::git::error::GitError;
use crate::git::repository::Repository;

/// Who signs an agent's commits when the person has told git no name.
pub const FALLBACK_NAME: &str = "Baton agent";
pub const FALLBACK_EMAIL: &str = "agent@baton.invalid";

/// Keys of the person's repository that say nothing about a clone of it.
const LEFT_OUT: [&str; 7] = [
    "core.worktree",
    "core.bare",
    "core.repositoryformatversion",
    "core.fsmonitor",
    "core.sharedrepository",
    "core.splitindex",
    "core.untrackedcache",
];
const SECTIONS_LEFT_OUT: [&str; 7] =
    ["extensions", "include", "includeif", "gc", "maintenance", "safe", "worktree"];
/// Extensions that the objects need.
const EXTENSIONS: [&str; 2] = ["extensions.objectformat", "extensions.partialclone"];

/// Name and address for commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitIdentity {
    pub name: String,
    pub email: String,
    /// The person has told git none, or only half of one.
    pub is_fallback: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ConfigEntry {
    scope: String,
    key: String,
    value: Option<String>,
}

/// What a clone is configured with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CloneConfig {
    pub text: String,
    pub object_format: String,
    pub is_sparse: bool,
    /// Whether the hooks are in the repository's own folder.
    pub has_own_hooks: bool,
}

impl Repository {
    /// Who signs the commits of agents.
    pub async fn commit_identity(&self) -> Result<CommitIdentity, GitError> {
        Ok(identity(&self.config_entries().await?))
    }

    pub(crate) async fn clone_config(&self) -> Result<CloneConfig, GitError> {
        Ok(clone_config(&self.config_entries().await?))
    }

    async fn config_entries(&self) -> Result<Vec<ConfigEntry>, GitError> {
        let list = self.call("read git's configuration");
        let out = list.args(["config", "--null", "--list", "--show-scope", "--includes"]).run().await?;
        Ok(parse(&String::from_utf8_lossy(&out)))
    }
}

/// "scope NUL key LF value NUL", or a key alone for one that is set without a value.
fn parse(out: &str) -> Vec<ConfigEntry> {
    let mut fields = out.split('\0');
    let mut entries = Vec::new();
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let (key, value) = match entry.split_once('\n') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (entry, None),
        };
        entries.push(ConfigEntry { scope: scope.to_owned(), key: key.to_owned(), value });
    }
    entries
}

fn find<'a>(entries: &'a [ConfigEntry], key: &str) -> Option<&'a str> {
    let last = entries.iter().rev().find(|entry| entry.key == key && entry.scope != "command");
    last.and_then(|entry| entry.value.as_deref()).filter(|value| !value.trim().is_empty())
}

fn identity(entries: &[ConfigEntry]) -> CommitIdentity {
    let (name, email) = (find(entries, "user.name"), find(entries, "user.email"));
    CommitIdentity {
        name: name.unwrap_or(FALLBACK_NAME).to_owned(),
        email: email.unwrap_or(FALLBACK_EMAIL).to_owned(),
        is_fallback: name.is_none() || email.is_none(),
    }
}

fn clone_config(entries: &[ConfigEntry]) -> CloneConfig {
    let mut text = String::new();
    for entry in entries.iter().filter(|entry| matches!(entry.scope.as_str(), "local" | "worktree")) {
        let section = entry.key.split('.').next().unwrap_or_default();
        let is_left_out = LEFT_OUT.contains(&entry.key.as_str())
            || SECTIONS_LEFT_OUT.contains(&section.to_lowercase().as_str());
        if !is_left_out {
            render(&mut text, &entry.key, entry.value.as_deref());
        }
    }
    let who = identity(entries);
    let extensions: Vec<(&str, &str)> =
        EXTENSIONS.into_iter().filter_map(|key| Some((key, find(entries, key)?))).collect();
    let version = if extensions.is_empty() { "0" } else { "1" };
    let own = [("core.repositoryformatversion", version), ("core.bare", "false"), ("gc.auto", "0")];
    let own = own.into_iter().chain([("user.name", who.name.as_str()), ("user.email", who.email.as_str())]);
    for (key, value) in own.chain(extensions) {
        render(&mut text, key, Some(value));
    }
    CloneConfig {
        text,
        object_format: find(entries, "extensions.objectformat").unwrap_or("sha1").to_owned(),
        is_sparse: find(entries, "core.sparsecheckout")
            .is_some_and(|value| value.eq_ignore_ascii_case("true")),
        has_own_hooks: find(entries, "core.hookspath").is_none(),
    }
}

/// A section of its own for every key: git reads it all the same.
fn render(text: &mut String, key: &str, value: Option<&str>) {
    let (Some((section, _)), Some((front, name))) = (key.split_once('.'), key.rsplit_once('.')) else {
        return;
    };
    let subsection = front.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
    let header = match subsection {
        Some(subsection) => {
            format!("{section} \"{}\"", subsection.replace('\\', "\\\\").replace('"', "\\\""))
        }
        None => section.to_owned(),
    };
    // Writing to a String cannot fail.
    let _ = match value {
        Some(value) => writeln!(text, "[{header}]\n\t{name} = \"{}\"", escape(value)),
        None => writeln!(text, "[{header}]\n\t{name}"),
    };
}

fn escape(value: &str) -> String {
    let mut escaped = String::new();
    for c in value.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '\u{8}' => escaped.push_str("\\b"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "global\0user.name\nAda\0local\0core.bare\ntrue\0local\0core.worktree\n/x\0\
        local\0filter.a \"b\".clean\ncat \"x\"\\\0local\0core.autocrlf\0local\0include.path\nother\0\
        local\0extensions.partialclone\norigin\0command\0user.email\nx\0";

    #[test]
    fn a_clone_gets_what_is_about_the_files_and_nothing_about_the_checkout() {
        let config = clone_config(&parse(LISTED));
        let expected = "[filter \"a \\\"b\\\"\"]\n\tclean = \"cat \\\"x\\\"\\\\\"\n[core]\n\tautocrlf\n\
            [core]\n\trepositoryformatversion = \"1\"\n[core]\n\tbare = \"false\"\n[gc]\n\tauto = \"0\"\n\
            [user]\n\tname = \"Ada\"\n[user]\n\temail = \"agent@baton.invalid\"\n\
            [extensions]\n\tpartialclone = \"origin\"\n";
        assert_eq!(config.text, expected);
        assert!(config.has_own_hooks && !config.is_sparse);
    }

    #[test]
    fn a_person_with_half_an_identity_gets_the_other_half() {
        let who = identity(&parse(LISTED));
        assert_eq!((who.name.as_str(), who.email.as_str()), ("Ada", FALLBACK_EMAIL));
        assert!(who.is_fallback);
        assert!(!identity(&parse("local\0user.name\nAda\0local\0user.email\na@b\0")).is_fallback);
    }
}
