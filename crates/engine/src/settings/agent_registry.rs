//! `agents.json` beside the user's own settings: agents that a registry of the Agent Client Protocol has told Baton about.
//! Each is known by its id, like those Baton knows by itself.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use baton_agents::presets::registry::{ReadRegistry, RegistryAgent, read};

use crate::settings::layers::user_file;

const FILE: &str = "agents.json";

/// Where it is; none where no home folder is known.
pub fn path() -> Option<PathBuf> {
    user_file().map(|file| file.with_file_name(FILE))
}

/// The agents in it, by id. Without a file there are none.
pub fn load() -> Result<Vec<RegistryAgent>, String> {
    match path() {
        Some(path) => load_from(&path),
        None => Ok(Vec::new()),
    }
}

fn load_from(path: &Path) -> Result<Vec<RegistryAgent>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    serde_json::from_str(&text).map_err(|error| {
        format!("{} cannot be read ({error}); write it anew: baton agents update FILE", path.display())
    })
}

pub(super) fn find(id: &str) -> Result<Option<RegistryAgent>, String> {
    Ok(load()?.into_iter().find(|agent| agent.id == id))
}

/// Replaces what is there, at once.
pub fn save(path: &Path, agents: &[RegistryAgent]) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    serde_json::to_writer_pretty(&mut new, agents).map_err(|error| failed(error.into()))?;
    new.persist(path).map(drop).map_err(|error| failed(error.error))
}
