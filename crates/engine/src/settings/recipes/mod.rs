//! The recipes there are: the built-in ones, and over them those of the repository.
//!
//! A file is looked at again whenever it is needed and has changed. One that has become faulty does not take the
//! recipe away: the version before stays in use, and a person is told.

mod builtin;
mod decode;
mod drawing;
mod file;
#[cfg(test)]
mod reference;
mod schema;
use crate::base::error::{Entity, NotFound};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use baton_core::base::text::{RecipeId, nearest};
use baton_core::recipe::Recipe;

use crate::base::error::EngineError;

pub use builtin::BUILT_IN;
pub use drawing::{mermaid, text};
pub use file::{FILE_BYTES_MAX, FileFault, read};
pub use schema::schema;

/// Files looked at in the folder. Nobody chooses among more recipes than this.
const FILES_MAX: usize = 200;

/// Cheap to clone; clones share what was read.
#[derive(Clone)]
pub struct RecipeLibrary(Arc<Shelf>);

struct Shelf {
    folder: Option<PathBuf>,
    read: Mutex<BTreeMap<PathBuf, Kept>>,
    news: Mutex<Vec<String>>,
}

/// A file as it was found last.
#[derive(Clone)]
struct Kept {
    stamp: Stamp,
    /// The newest version without faults, seen here.
    good: Option<Arc<Recipe>>,
    /// What is wrong with the newest version.
    faults: Vec<FileFault>,
}

type Stamp = (Option<SystemTime>, u64);

/// A recipe as the list shows it.
#[derive(Debug, Clone)]
pub struct Listed {
    pub recipe: Arc<Recipe>,
    pub source: Source,
    /// Why the newest version of the file is not the one that is used. Empty when it is.
    pub faults: Vec<FileFault>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    BuiltIn,
    File(PathBuf),
}

/// A file that was looked at.
#[derive(Debug, Clone)]
pub struct Checked {
    pub file: PathBuf,
    /// None when it has faults.
    pub recipe: Option<Arc<Recipe>>,
    pub faults: Vec<FileFault>,
}

impl RecipeLibrary {
    /// The built-in recipes alone.
    pub fn built_in() -> Self {
        Self::over(None)
    }

    /// The recipes of the repository at `root`, over the built-in ones.
    pub fn of(root: &Path) -> Self {
        Self::over(Some(root.join(".agent").join("recipes")))
    }

    fn over(folder: Option<PathBuf>) -> Self {
        Self(Arc::new(Shelf { folder, read: Mutex::default(), news: Mutex::default() }))
    }

    /// Every recipe, in the order of their ids.
    pub fn list(&self) -> Vec<Listed> {
        let mut all: BTreeMap<RecipeId, Listed> = builtin::all()
            .iter()
            .map(|recipe| {
                let listed = Listed { recipe: recipe.clone(), source: Source::BuiltIn, faults: Vec::new() };
                (recipe.id().clone(), listed)
            })
            .collect();
        for (file, kept) in self.files() {
            if let Some(recipe) = kept.good {
                let listed =
                    Listed { recipe: recipe.clone(), source: Source::File(file), faults: kept.faults };
                all.insert(recipe.id().clone(), listed);
            }
        }
        all.into_values().collect()
    }

    pub fn get(&self, id: &RecipeId) -> Option<Arc<Recipe>> {
        self.list().into_iter().find(|listed| listed.recipe.id() == id).map(|listed| listed.recipe)
    }

    /// The same, or an error that names the nearest.
    pub fn find(&self, id: &RecipeId) -> Result<Arc<Recipe>, EngineError> {
        Ok(self.get(id).ok_or_else(|| {
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

    /// Every file of the repository, with everything that is wrong with it.
    pub fn check(&self) -> Vec<Checked> {
        let checked = |(file, kept): (PathBuf, Kept)| Checked {
            file,
            recipe: kept.good.filter(|_| kept.faults.is_empty()),
            faults: kept.faults,
        };
        self.files().into_iter().map(checked).collect()
    }

    /// What a person should hear of since this was asked last.
    pub fn news(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.0.news))
    }

    /// The files as they are now, each read again only if it changed.
    fn files(&self) -> BTreeMap<PathBuf, Kept> {
        let Some(folder) = &self.0.folder else { return BTreeMap::new() };
        let found = recipe_files(folder);
        let mut read = lock(&self.0.read);
        read.retain(|file, _| found.contains_key(file));
        for (file, stamp) in found {
            if read.get(&file).is_none_or(|kept| kept.stamp != stamp) {
                let kept = self.look_at(&file, stamp, read.get(&file));
                read.insert(file, kept);
            }
        }
        let mut files = read.clone();
        refuse_same_ids(&mut files);
        files
    }

    fn look_at(&self, file: &Path, stamp: Stamp, before: Option<&Kept>) -> Kept {
        let last_good = before.and_then(|kept| kept.good.clone());
        match load(file) {
            Ok(recipe) => Kept { stamp, good: Some(Arc::new(recipe)), faults: Vec::new() },
            Err(faults) => {
                let used =
                    if last_good.is_some() { "the version before stays in use" } else { "it is not used" };
                let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
                let news = format!("{} has faults; {used}:\n{}", file.display(), lines.join("\n"));
                lock(&self.0.news).push(news);
                Kept { stamp, good: last_good, faults }
            }
        }
    }
}

/// The recipe in a file, or everything that is wrong with it.
pub fn load(file: &Path) -> Result<Recipe, Vec<FileFault>> {
    let fault =
        |line, column, message| vec![FileFault { file: file.to_owned(), line, column, message, kind: None }];
    let unreadable = |error: io::Error| fault(1, 1, format!("it cannot be read: {error}"));
    let bytes = fs::read(file).map_err(unreadable)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => read(text, file),
        Err(error) => {
            let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
            let (line, column) = (
                before.matches('\n').count() + 1,
                before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            );
            Err(fault(line, column, "this is not UTF-8; save the file in that encoding".to_owned()))
        }
    }
}

/// A folder that is not there has no recipes, and that is how most repositories are.
fn recipe_files(folder: &Path) -> BTreeMap<PathBuf, Stamp> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| {
        // A link that leads nowhere was meant to be a recipe.
        let is_file = path.is_file() || (path.is_symlink() && !path.is_dir());
        path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml") && is_file
    });
    let stamped: BTreeMap<PathBuf, Stamp> = files
        .map(|path| {
            let stamp =
                fs::metadata(&path).map_or((None, 0), |metadata| (metadata.modified().ok(), metadata.len()));
            (path, stamp)
        })
        .collect();
    stamped.into_iter().take(FILES_MAX).collect()
}

/// Of two files with one id the first counts; which one that is must not depend on who reads them.
fn refuse_same_ids(files: &mut BTreeMap<PathBuf, Kept>) {
    let mut owners: BTreeMap<RecipeId, PathBuf> = BTreeMap::new();
    for (file, kept) in files.iter_mut() {
        let Some(recipe) = &kept.good else { continue };
        if let Some(owner) = owners.get(recipe.id()) {
            let message = format!("the id \"{}\" is taken by {} already", recipe.id(), owner.display());
            kept.faults.push(FileFault { file: file.clone(), line: 1, column: 1, message, kind: None });
            kept.good = None;
        } else {
            owners.insert(recipe.id().clone(), file.clone());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
