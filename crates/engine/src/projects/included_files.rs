//! The files that the Taskfile of a branch includes. What they define judges work as much as what is in `.agent`, so they are
//! protected as that is.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use baton_core::base::git_name::CommitId;
use baton_taskfile::Taskfile;

use crate::base::error::EngineError;
use crate::git::{CommitFiles, Repository};
use crate::user_tasks::TASKFILE;

/// Whether there is anything to look for. Nearly every Taskfile includes nothing, and one that does is written out to be read.
pub(super) async fn are_some(repository: &Repository, commit: &CommitId) -> Result<bool, EngineError> {
    let Some(text) = repository.read_file_at(commit, TASKFILE).await? else { return Ok(false) };
    Ok(String::from_utf8_lossy(&text).contains("includes"))
}

/// Globs for what the Taskfile in a folder includes, wherever that is in the repository, and for what would take its place. A
/// Taskfile that cannot be read includes nothing: who runs it says why.
pub(super) fn globs(files: &CommitFiles) -> Vec<String> {
    let folder = files.folder();
    let Ok(taskfile) = Taskfile::open(&folder, &folder.join(TASKFILE)) else { return Vec::new() };
    let mut globs = BTreeSet::new();
    for path in taskfile.files() {
        // A link stands for the file that it leads to.
        let real = path.canonicalize().ok();
        let real_folder = folder.canonicalize().ok();
        let below = [path.strip_prefix(&folder).ok(), strip(real.as_deref(), real_folder.as_deref())];
        for below in below.into_iter().flatten() {
            globs.extend(globs_of(below, !path.exists()));
        }
    }
    globs.into_iter().collect()
}

fn strip<'a>(path: Option<&'a Path>, folder: Option<&Path>) -> Option<&'a Path> {
    path?.strip_prefix(folder?).ok()
}

/// For a file, from the root of the repository. One that is optional and not there may be a folder with a Taskfile.
fn globs_of(file: &Path, is_missing: bool) -> Vec<String> {
    let is_plain = file.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || file.as_os_str().is_empty() {
        return Vec::new();
    }
    // A link in the place of a folder decides about everything in it.
    let parents = file.ancestors().filter(|above| !above.as_os_str().is_empty());
    let mut globs: Vec<String> = parents.map(|above| above.to_string_lossy().into_owned()).collect();
    if is_missing {
        globs.push(format!("{}/**", file.display()));
    }
    // A folder that is included has a Taskfile under one of several names, of which the first one counts.
    let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if name.starts_with("taskfile.") {
        let folder = file.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        globs.extend(["Taskfile.", "taskfile."].map(|name| format!("{folder}/{name}*")));
    }
    globs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_take_the_place_of_an_included_file_is_meant_too() {
        let table: [(&str, bool, &[&str]); 5] = [
            ("ci/more.yml", false, &["ci/more.yml", "ci"]),
            ("ci/Taskfile.yaml", false, &["ci/Taskfile.yaml", "ci", "ci/Taskfile.*", "ci/taskfile.*"]),
            ("a/b", true, &["a/b", "a", "a/b/**"]),
            ("taskfile.yml", false, &["taskfile.yml", "/Taskfile.*", "/taskfile.*"]),
            ("../out.yml", false, &[]),
        ];
        for (file, is_missing, wanted) in table {
            assert_eq!(globs_of(file.as_ref(), is_missing), wanted, "{file}");
        }
    }
}
