//! Trust in a folder: settings that came with a repository start programs and open the fence only after a person has allowed
//! them.
//!
//! What a person wrote in a file that git has never seen is theirs, and is remembered, so that committing it changes nothing. In a
//! repository with a remote, every other file may be anybody's: a merge that stopped half way, a checkout of single files or a reset
//! leave texts there that nobody has read. Each thing that such settings start or open is allowed once, in a file of the person's
//! own.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::base::error::{FolderError, Result};
use crate::git::{At, Git, GitError, Repository};
use crate::people::settings_grants::{Confinement, check_commands, grants};
use crate::settings::Settings;
use crate::settings::layers::Layers;
use crate::settings::layers::read_settings_file;
use crate::settings::location::{StateLocation, settings_path};
use crate::user_tasks::checks::Checks;

/// In a folder that Baton filled from a remote.
pub const REMOTE_MARK: &str = ".baton-remote";
/// Set to `always` where nobody could be asked and every folder is known, as on a build machine.
const VARIABLE: &str = "BATON_TRUST";

/// Settings that came with a repository, and what nobody has allowed yet of what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedFolder {
    root: PathBuf,
    /// What they would start and open, as in the settings.
    pub grants: Vec<String>,
}

/// What the folder's settings would start and open, if nobody has allowed that yet.
pub async fn untrusted(place: &StateLocation) -> Result<Option<UntrustedFolder>> {
    untrusted_in(&place.root, None).await
}

/// The same if the store in use is one that the folder's settings name, and nobody has allowed it.
pub async fn untrusted_store(place: &StateLocation) -> Result<Option<UntrustedFolder>> {
    let Ok(text) = read_settings_file(&place.settings_path()) else { return Ok(None) };
    let named = text.parse::<toml::Table>().ok().and_then(|keys| keys.get("store")?.as_str()?.parse().ok());
    if named.as_ref() != Some(&place.store) {
        return Ok(None);
    }
    let of_store = |folder: &UntrustedFolder| folder.grants.iter().any(|grant| grant.starts_with("store: "));
    Ok(untrusted(place).await?.filter(of_store))
}

/// The same for the repository at `root`, on a machine that has these settings.
pub async fn untrusted_in(root: &Path, machine: Option<&Settings>) -> Result<Option<UntrustedFolder>> {
    let path = settings_path(root);
    let Ok(text) = read_settings_file(&path) else { return Ok(None) };
    let folder = UntrustedFolder { root: root.to_owned(), grants: grants_of(&text, &path, machine)? };
    let Some(folder) = folder.without_allowed(&[root]) else { return Ok(None) };
    if may_be_anybodys(root, &path).await? {
        return Ok(Some(folder));
    }
    // If it cannot be remembered, the person is asked once they have committed it.
    let _ = folder.allow();
    Ok(None)
}

/// The commands among these checks of a branch that nobody has allowed yet. They are allowed by way of `read_at`, or were in the
/// person's checkout of the repository, if there is one.
pub(crate) async fn untrusted_checks(
    checks: &Checks,
    root: Option<&Path>,
    read_at: &Path,
) -> Result<Option<UntrustedFolder>> {
    let folder = UntrustedFolder { root: read_at.to_owned(), grants: check_commands(checks).collect() };
    let roots: Vec<&Path> = root.into_iter().chain([read_at]).collect();
    let Some(folder) = folder.without_allowed(&roots) else { return Ok(None) };
    // What is in a branch was committed, and a folder of Baton's own is a clone.
    Ok(match root {
        Some(root) if !root.join(REMOTE_MARK).is_file() && !has_remote(root).await? => None,
        Some(_) | None => Some(folder),
    })
}

/// What this text lets happen beyond the person's own settings. The text is judged together with these, as it is used: on its own
/// it may make no sense. What cannot be read with them is used by nobody.
fn grants_of(text: &str, path: &Path, machine: Option<&Settings>) -> Result<Vec<String>> {
    let Ok(keys) = text.parse::<toml::Table>() else { return Ok(Vec::new()) };
    let person = Layers::of_person()?.settings(path)?;
    let Ok(settings) = Layers::with_text(text, path).and_then(|layers| layers.settings(path)) else {
        return Ok(Vec::new());
    };
    let without = Confinement::new(&person, machine);
    let own = grants(&person, &toml::Table::new(), &without);
    let mut found = grants(&settings, &keys, &without);
    found.retain(|grant| !own.contains(grant));
    Ok(found)
}

impl UntrustedFolder {
    /// A person has read what is listed, and allows it.
    pub fn allow(&self) -> Result<()> {
        let no_home = || FolderError { path: "~/.config/baton".into(), detail: "HOME is not set".to_owned() };
        let path = trusted_file().ok_or_else(no_home)?;
        let failed = |error: std::io::Error| FolderError::new(&path, &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut file =
            OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(failed)?;
        let lines: String = self.grants.iter().map(|grant| line(&self.root, grant) + "\n").collect();
        file.write_all(lines.as_bytes()).map_err(failed)?;
        Ok(())
    }

    /// What is left of it after what was allowed in one of these folders; none if nothing is.
    fn without_allowed(mut self, roots: &[&Path]) -> Option<Self> {
        if self.grants.is_empty() || std::env::var_os(VARIABLE).is_some_and(|word| word == "always") {
            return None;
        }
        let known = trusted_file().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let is_allowed = |grant: &String| {
            roots.iter().any(|root| {
                let line = line(root, grant);
                known.lines().any(|known| known == line)
            })
        };
        self.grants.retain(|grant| !is_allowed(grant));
        (!self.grants.is_empty()).then_some(self)
    }
}

fn line(root: &Path, grant: &str) -> String {
    let mut digest = String::new();
    for byte in Sha256::digest(grant.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = fmt::Write::write_fmt(&mut digest, format_args!("{byte:02x}"));
    }
    // A line end in the path would be a line of its own.
    format!("{digest} {}", root.display().to_string().escape_debug())
}

/// `~/.config/baton/trusted`
fn trusted_file() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("baton").join("trusted"))
}

/// Commits beside those of branches that git has brought, or that a person has left.
const PASSING: [&str; 5] = ["MERGE_HEAD", "FETCH_HEAD", "ORIG_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"];

/// Whether somebody else may have written the file: git has seen it, in a repository that has a remote.
async fn may_be_anybodys(root: &Path, file: &Path) -> std::result::Result<bool, GitError> {
    if root.join(REMOTE_MARK).is_file() {
        return Ok(true);
    }
    if !has_remote(root).await? {
        return Ok(false);
    }
    let Ok(repository) = Repository::open(&Git::on_path(), root).await else { return Ok(true) };
    let call = || repository.call_at("see where the settings come from", At::Folder(root));
    // A folder that is a link or a submodule was committed as one, whatever is in it. Of any other, its files are listed.
    if let Some(folder) = file.parent().and_then(|folder| folder.strip_prefix(root).ok()) {
        let entries = call().args(["ls-files", "--stage", "-z", "--"]).arg(folder).find().await?;
        let of_itself = [b"\t", folder.as_os_str().as_bytes()].concat();
        let entries = entries.unwrap_or_default();
        if entries.split(|byte| *byte == 0).any(|entry| entry.ends_with(&of_itself)) {
            return Ok(true);
        }
    }
    if call().args(["ls-files", "--error-unmatch", "--"]).arg(file).find().await?.is_some() {
        return Ok(true);
    }
    let seen = call().args(["log", "-1", "--format=%H", "--all", "--reflog", "--"]).arg(file).find().await?;
    if seen.is_none_or(|commits| !commits.trim_ascii().is_empty()) {
        return Ok(true);
    }
    let Ok(inside) = file.strip_prefix(root) else { return Ok(true) };
    for commit in PASSING {
        // From the folder the command runs in, which is not the top of the repository everywhere.
        let at = format!("{commit}:./{}", inside.display());
        if call().args(["rev-parse", "--verify", "--quiet", &at]).find().await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn has_remote(root: &Path) -> std::result::Result<bool, GitError> {
    let Ok(repository) = Repository::open(&Git::on_path(), root).await else {
        // One that git will not open, because it belongs to somebody else or is damaged, may be anybody's.
        return Ok(root.ancestors().any(|folder| fs::symlink_metadata(folder.join(".git")).is_ok()));
    };
    let call = repository.call_at("see where the settings come from", At::Folder(root));
    let remotes = call.args(["remote"]).find().await?;
    Ok(remotes.is_none_or(|remotes| !remotes.trim_ascii().is_empty()))
}
