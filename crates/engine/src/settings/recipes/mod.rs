//! Recipes: the built-in ones, and those in the repository's `.agent/recipes`, which take precedence.
//!
//! A file is read again when it is needed and has changed. If the new version has errors, the previous one stays in use,
//! and a warning is issued.

mod builtin;
mod decode;
mod drawing;
mod file;
#[cfg(test)]
mod reference;
mod schema;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use baton_core::base::text::{RecipeId, nearest};
use baton_core::recipe::Recipe;
use baton_taskfile::read_regular_file;

use crate::base::error::{EngineError, Entity, NotFound};

pub use builtin::BUILT_IN;
pub use drawing::{render_mermaid, render_text};
pub use file::{FILE_BYTES_MAX, RecipeFileError, parse};
pub use schema::schema;

/// Files read from the folder: more than a person can choose from.
const FILES_MAX: usize = 200;

/// All recipes. Cheap to clone; clones share the files read so far.
#[derive(Clone)]
pub struct RecipeLibrary(Arc<LibraryState>);

struct LibraryState {
    folder: Option<PathBuf>,
    files: Mutex<BTreeMap<PathBuf, CachedFile>>,
    warnings: Mutex<Vec<String>>,
}

/// A file as it was last read.
#[derive(Clone)]
struct CachedFile {
    stamp: RecipeFileStamp,
    /// The newest valid version that this process read.
    recipe: Option<Arc<Recipe>>,
    /// The errors of the newest version.
    errors: Vec<RecipeFileError>,
    /// The id that a file with errors seems to have.
    broken_id: Option<String>,
}

/// Time of the last change, and size.
type RecipeFileStamp = (Option<SystemTime>, u64);

#[derive(Debug, Clone)]
pub struct ListedRecipe {
    pub recipe: Arc<Recipe>,
    pub source: RecipeSource,
    /// Why the newest version of the file is not used. Empty if it is.
    pub errors: Vec<RecipeFileError>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecipeSource {
    BuiltIn,
    File(PathBuf),
}

/// The result of checking a file.
#[derive(Debug, Clone)]
pub struct CheckedRecipe {
    pub file: PathBuf,
    /// None if it has errors.
    pub recipe: Option<Arc<Recipe>>,
    pub errors: Vec<RecipeFileError>,
}

impl RecipeLibrary {
    /// Only the built-in recipes.
    pub fn built_in() -> Self {
        Self::in_folder(None)
    }

    /// The built-in recipes and those of the repository at `root`.
    pub fn for_repository(root: &Path) -> Self {
        Self::in_folder(Some(root.join(".agent").join("recipes")))
    }

    fn in_folder(folder: Option<PathBuf>) -> Self {
        Self(Arc::new(LibraryState { folder, files: Mutex::default(), warnings: Mutex::default() }))
    }

    /// Every recipe, sorted by id.
    pub fn list(&self) -> Vec<ListedRecipe> {
        let mut all: BTreeMap<RecipeId, ListedRecipe> = builtin::all()
            .iter()
            .map(|recipe| {
                let listed = ListedRecipe {
                    recipe: recipe.clone(),
                    source: RecipeSource::BuiltIn,
                    errors: Vec::new(),
                };
                (recipe.id().clone(), listed)
            })
            .collect();
        for (path, file) in self.files() {
            // A broken override: the built-in recipe is used, and says so.
            if file.recipe.is_none()
                && let Some(overridden) = all.values_mut().find(|listed| file.is_about(listed.recipe.id()))
            {
                overridden.errors.extend(file.errors.iter().cloned());
            }
            if let Some(recipe) = file.recipe {
                let source = RecipeSource::File(path);
                let listed = ListedRecipe { recipe: recipe.clone(), source, errors: file.errors };
                all.insert(recipe.id().clone(), listed);
            }
        }
        all.into_values().collect()
    }

    pub fn get(&self, id: &RecipeId) -> Option<Arc<Recipe>> {
        self.list().into_iter().find(|listed| listed.recipe.id() == id).map(|listed| listed.recipe)
    }

    /// The recipe, or an error that suggests the nearest id.
    pub fn find(&self, id: &RecipeId) -> Result<Arc<Recipe>, EngineError> {
        Ok(self.get(id).ok_or_else(|| {
            let broken = self.files().into_values().find(|file| file.recipe.is_none() && file.is_about(id));
            if let Some(error) = broken.as_ref().and_then(|file| file.errors.first()) {
                return NotFound::new(Entity::Recipe, format!("{id}: its file has an error: {error}"));
            }
            let near = self.nearest(id.as_str());
            let hint = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
            NotFound::new(Entity::Recipe, format!("{id}{hint}"))
        })?)
    }

    /// The known id nearest to a mistyped one.
    pub fn nearest(&self, mistyped: &str) -> Option<String> {
        let ids: Vec<String> = self.list().iter().map(|listed| listed.recipe.id().to_string()).collect();
        nearest(mistyped, ids.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Every file of the repository with its errors.
    pub fn check(&self) -> Vec<CheckedRecipe> {
        let checked = |(path, file): (PathBuf, CachedFile)| CheckedRecipe {
            file: path,
            recipe: file.recipe.filter(|_| file.errors.is_empty()),
            errors: file.errors,
        };
        self.files().into_iter().map(checked).collect()
    }

    /// The errors of all files whose newest version is not used.
    pub fn errors(&self) -> Vec<RecipeFileError> {
        self.files().into_values().flat_map(|file| file.errors).collect()
    }

    /// The warnings since the last call.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.0.warnings))
    }

    /// The current files. Only those that changed are read again.
    fn files(&self) -> BTreeMap<PathBuf, CachedFile> {
        let Some(folder) = &self.0.folder else { return BTreeMap::new() };
        let found = recipe_files(folder);
        let mut cached = lock(&self.0.files);
        cached.retain(|path, _| found.contains_key(path));
        for (path, stamp) in found {
            if cached.get(&path).is_none_or(|file| file.stamp != stamp) {
                let file = self.read_file(&path, stamp, cached.get(&path));
                cached.insert(path, file);
            }
        }
        let mut files = cached.clone();
        refuse_duplicate_ids(&mut files);
        files
    }

    fn read_file(&self, path: &Path, stamp: RecipeFileStamp, before: Option<&CachedFile>) -> CachedFile {
        let last_valid = before.and_then(|file| file.recipe.clone());
        match load(path) {
            Ok(recipe) => {
                CachedFile { stamp, recipe: Some(Arc::new(recipe)), errors: Vec::new(), broken_id: None }
            }
            Err(errors) => {
                let used =
                    if last_valid.is_some() { "the previous version stays in use" } else { "it is not used" };
                let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
                let warning = format!("{} has errors; {used}:\n{}", path.display(), lines.join("\n"));
                lock(&self.0.warnings).push(warning);
                CachedFile { stamp, recipe: last_valid, errors, broken_id: guess_id(path) }
            }
        }
    }
}

impl CachedFile {
    /// Whether a file without a usable recipe is meant to be this one: by its `id:`, or else by its name.
    fn is_about(&self, id: &RecipeId) -> bool {
        self.broken_id.as_deref() == Some(id.as_str())
    }
}

/// The id of a file that cannot be parsed: what stands behind `id:`, or else the file's name.
fn guess_id(path: &Path) -> Option<String> {
    let bytes = read_regular_file(path, READ_BYTES_MAX).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let named = text.lines().find_map(|line| line.strip_prefix("id:"));
    let named = named.map(|id| id.trim().trim_matches(['"', '\'']).to_owned()).filter(|id| !id.is_empty());
    named.or_else(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
}

/// The size limit of a recipe's file, above what a recipe may have, so that the recipe's own limit is named first.
const READ_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The recipe in a file, or all its errors.
pub fn load(file: &Path) -> Result<Recipe, Vec<RecipeFileError>> {
    let fail = |line, column, message| {
        vec![RecipeFileError { file: file.to_owned(), line, column, message, kind: None }]
    };
    let unreadable = |error: io::Error| fail(1, 1, format!("cannot read the file: {error}"));
    let bytes = read_regular_file(file, READ_BYTES_MAX).map_err(unreadable)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse(text, file),
        Err(error) => {
            let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
            let (line, column) = (
                before.matches('\n').count() + 1,
                before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            );
            Err(fail(line, column, "not UTF-8; save the file in that encoding".to_owned()))
        }
    }
}

/// Most repositories do not have the folder; that is not an error.
fn recipe_files(folder: &Path) -> BTreeMap<PathBuf, RecipeFileStamp> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| {
        // A broken link counts, so that its error is reported.
        let is_file = path.is_file() || (path.is_symlink() && !path.is_dir());
        path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml") && is_file
    });
    let stamped: BTreeMap<PathBuf, RecipeFileStamp> = files
        .map(|path| {
            let stamp =
                fs::metadata(&path).map_or((None, 0), |metadata| (metadata.modified().ok(), metadata.len()));
            (path, stamp)
        })
        .collect();
    stamped.into_iter().take(FILES_MAX).collect()
}

/// Of two files with the same id, the first by path counts.
fn refuse_duplicate_ids(files: &mut BTreeMap<PathBuf, CachedFile>) {
    let mut owners: BTreeMap<RecipeId, PathBuf> = BTreeMap::new();
    for (path, file) in files.iter_mut() {
        let Some(recipe) = &file.recipe else { continue };
        if let Some(owner) = owners.get(recipe.id()) {
            let message = format!("{} already has the id \"{}\"", owner.display(), recipe.id());
            file.errors.push(RecipeFileError { file: path.clone(), line: 1, column: 1, message, kind: None });
            file.recipe = None;
        } else {
            owners.insert(recipe.id().clone(), path.clone());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
