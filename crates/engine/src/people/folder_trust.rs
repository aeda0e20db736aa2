//! Trust in a folder: settings that came with a clone start programs and open the fence only after a person has allowed them.
//!
//! What a person wrote, or changed, in their own checkout is theirs. What stands as it was committed in a repository that has a
//! remote may be anybody's, and is allowed once for each version, in a file of the person's own.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::base::error::{FolderError, Result};
use crate::git::{At, Git, GitError, Repository};
use crate::people::settings_grants::{Confinement, grants};
use crate::settings::Settings;
use crate::settings::layers::Layers;
use crate::settings::location::{StateLocation, settings_path};

/// In a folder that Baton filled from a remote.
pub const REMOTE_MARK: &str = ".baton-remote";
/// Set to `always` where nobody could be asked and every folder is known, as on a build machine.
const VARIABLE: &str = "BATON_TRUST";

/// The settings of a clone that nobody has allowed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedFolder {
    root: PathBuf,
    digest: String,
    /// What they would start and open, as in the settings.
    pub grants: Vec<String>,
}

/// What the folder's settings would start and open, if nobody has allowed that yet.
pub async fn untrusted(place: &StateLocation) -> Result<Option<UntrustedFolder>> {
    untrusted_in(&place.root, None).await
}

/// The same for the repository at `root`, on a machine that has these settings.
pub async fn untrusted_in(root: &Path, machine: Option<&Settings>) -> Result<Option<UntrustedFolder>> {
    if std::env::var_os(VARIABLE).is_some_and(|word| word == "always") {
        return Ok(None);
    }
    let path = settings_path(root);
    let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
    // Settings that cannot be read allow nothing, and others say so.
    let Ok(settings) = Settings::parse(&text, &path) else { return Ok(None) };
    let Ok(keys) = text.parse::<toml::Table>() else { return Ok(None) };
    let person = Layers::of_person()?.settings(&path)?;
    let grants = grants(&settings, &keys, &Confinement::new(&person, machine));
    if grants.is_empty() || !came_with_clone(root, &path).await? {
        return Ok(None);
    }
    let mut digest = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = fmt::Write::write_fmt(&mut digest, format_args!("{byte:02x}"));
    }
    let folder = UntrustedFolder { root: root.to_owned(), digest, grants };
    Ok((!folder.is_allowed()).then_some(folder))
}

impl UntrustedFolder {
    /// A person has read the settings as they are now, and allows what they do.
    pub fn allow(&self) -> Result<()> {
        let no_home = || FolderError { path: "~/.config/baton".into(), detail: "HOME is not set".to_owned() };
        let path = trusted_file().ok_or_else(no_home)?;
        let failed = |error: std::io::Error| FolderError::new(&path, &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut file =
            OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(failed)?;
        writeln!(file, "{}", self.line()).map_err(failed)?;
        Ok(())
    }

    fn is_allowed(&self) -> bool {
        let known = trusted_file().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        known.lines().any(|line| line == self.line())
    }

    fn line(&self) -> String {
        // A line end in the path would be a line of its own.
        format!("{} {}", self.digest, self.root.display().to_string().escape_debug())
    }
}

/// `~/.config/baton/trusted`
fn trusted_file() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("baton").join("trusted"))
}

/// Whether the file stands as it was committed in a repository that has a remote.
async fn came_with_clone(root: &Path, file: &Path) -> std::result::Result<bool, GitError> {
    if root.join(REMOTE_MARK).is_file() {
        return Ok(true);
    }
    let Ok(repository) = Repository::open(&Git::on_path(), root).await else { return Ok(false) };
    let call = || repository.call_at("see where the settings come from", At::Folder(root));
    let remotes = call().args(["remote"]).find().await?.unwrap_or_default();
    if remotes.trim_ascii().is_empty() {
        return Ok(false);
    }
    // A folder that is a link or a submodule was committed as one, whatever is in it. Of any other, its files are listed.
    if let Some(folder) = file.parent().and_then(|folder| folder.strip_prefix(root).ok()) {
        let entries = call().args(["ls-files", "--stage", "-z", "--"]).arg(folder).find().await?;
        let of_itself = [b"\t", folder.as_os_str().as_bytes()].concat();
        let entries = entries.unwrap_or_default();
        if entries.split(|byte| *byte == 0).any(|entry| entry.ends_with(&of_itself)) {
            return Ok(true);
        }
    }
    let tracked = call().args(["ls-files", "--error-unmatch", "--"]).arg(file).find().await?;
    let unchanged = call().args(["diff", "--quiet", "HEAD", "--"]).arg(file).find().await?;
    Ok(tracked.is_some() && unchanged.is_some())
}
