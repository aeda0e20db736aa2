//! Where Baton's files for a repository are: the root, the state folder, the store and the settings.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_core::base::id::AttemptId;
use baton_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};

use crate::base::error::{EngineError, FolderError};
use crate::settings::folder_kind::{FolderKind, find_root};
use crate::settings::namespace;
use crate::settings::store_address::StoreAddress;
use crate::settings::store_record::StoreRecord;

use baton_store::Store;
pub use baton_store::postgres::{SetupNames, setup_sql};
pub use baton_store::{ProgressListener, ProgressStage};

/// Where an agent works.
pub const WORKTREE_VARIABLE: &str = "BATON_WORKTREE";
pub const ROOT_VARIABLE: &str = "BATON_ROOT";
pub const STATE_DIR_VARIABLE: &str = "BATON_STATE_DIR";
pub const NAMESPACE_VARIABLE: &str = "BATON_NAMESPACE";
pub const STORE_VARIABLE: &str = "BATON_STORE";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateLocation {
    pub root: PathBuf,
    pub state_dir: PathBuf,
    pub namespace: String,
    pub store: StoreAddress,
}

/// The options of the command line and the environment. Those that are not given are derived.
#[derive(Debug, Clone, Default)]
pub struct LocationOptions {
    /// For commands that run elsewhere: an agent's worktree is a repository of its own.
    pub root: Option<PathBuf>,
    pub state_dir: Option<PathBuf>,
    pub namespace: Option<String>,
    pub store: Option<StoreAddress>,
}

impl StateLocation {
    /// The folder for the log and the process identity of an attempt.
    pub fn attempt_folder(&self, attempt: AttemptId) -> PathBuf {
        self.attempts_folder().join(attempt.to_string())
    }

    pub fn attempts_folder(&self) -> PathBuf {
        self.state_dir.join("attempts")
    }

    /// The location for commands in `folder`. The root is the nearest repository upwards, else `folder`.
    pub fn find(folder: &Path, options: &LocationOptions) -> Result<Self, EngineError> {
        let folder = folder
            .canonicalize()
            .map_err(|error| FolderError { path: folder.to_owned(), detail: error.to_string() })?;
        let root = match &options.root {
            Some(root) => root
                .canonicalize()
                .map_err(|error| FolderError { path: root.clone(), detail: error.to_string() })?,
            None => find_root(&folder).to_owned(),
        };
        let namespace = match &options.namespace {
            Some(name) => namespace::check(name)?,
            None => namespace::from_folder(&root),
        };
        let state_dir = match &options.state_dir {
            // Absolute, because agents get it too and run in other folders.
            Some(given) => folder.join(given),
            None => root.join(".agent").join("state"),
        };
        let store = options.store.clone().unwrap_or_default();
        Ok(Self { root, state_dir, namespace, store })
    }

    /// A settings file between `folder` and the root, which somebody may take for the repository's. It is not read.
    pub fn unread_settings(&self, folder: &Path) -> Option<PathBuf> {
        let folder = folder.canonicalize().ok()?;
        let mut below =
            folder.ancestors().take_while(|above| above.starts_with(&self.root) && *above != self.root);
        below.find_map(|above| Some(settings_path(above)).filter(|path| path.is_file()))
    }

    /// What the root is to git.
    pub fn kind(&self) -> FolderKind {
        FolderKind::look(&self.root)
    }

    /// Whether the person chose the state folder, so that it was not derived from the root.
    pub fn has_own_state_dir(&self) -> bool {
        self.state_dir != self.root.join(".agent").join("state")
    }

    /// The environment variables with which `baton` finds this location from any folder.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            (ROOT_VARIABLE, self.root.clone().into()),
            (STATE_DIR_VARIABLE, self.state_dir.clone().into()),
            (NAMESPACE_VARIABLE, self.namespace.clone().into()),
        ];
        // Without credentials: agents reach the store through the server.
        if let StoreAddress::Postgres { .. } = &self.store {
            variables.push((STORE_VARIABLE, self.store.without_credentials().into()));
        }
        variables
    }

    /// The name of the schema in a shared store.
    pub fn schema_name(&self) -> String {
        namespace::schema_name(&self.namespace)
    }

    pub fn store_path(&self) -> PathBuf {
        self.state_dir.join(format!("{}.db", self.namespace))
    }

    pub fn settings_path(&self) -> PathBuf {
        settings_path(&self.root)
    }

    /// Opens the store. Creates the state folder, which has a `.gitignore` that ignores it.
    pub async fn open_store(&self) -> Result<Store, EngineError> {
        self.open_store_with(ProgressListener::default()).await
    }

    /// Opens the store without waiting for an unreachable server.
    pub async fn open_store_now(&self) -> Result<Store, EngineError> {
        self.open(ProgressListener::default(), Some(Duration::ZERO)).await
    }

    /// Opens the store and reports progress of slow steps.
    pub async fn open_store_with(&self, progress: ProgressListener) -> Result<Store, EngineError> {
        self.open(progress, None).await
    }

    async fn open(
        &self,
        progress: ProgressListener,
        patience: Option<Duration>,
    ) -> Result<Store, EngineError> {
        let failed =
            |error: std::io::Error| FolderError { path: self.state_dir.clone(), detail: error.to_string() };
        let record = match &self.store {
            StoreAddress::File => StoreRecord::of(&self.root, &self.store_path()),
            StoreAddress::Postgres { .. } => None,
        };
        if let Some(record) = &record {
            record.check()?;
        }
        std::fs::create_dir_all(&self.state_dir).map_err(failed)?;
        // Other users must not read the store, prompts and worktrees. In a folder of somebody else this fails, and they decide.
        let _ = std::fs::set_permissions(&self.state_dir, Permissions::from_mode(0o700));
        let ignore = self.state_dir.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(failed)?;
        }
        Ok(match &self.store {
            StoreAddress::File => {
                let options = SqliteOptions { progress, ..SqliteOptions::default() };
                let store = SqliteStore::open(&self.store_path(), options)?;
                if let Some(record) = &record {
                    record.write()?;
                }
                store.into()
            }
            StoreAddress::Postgres { url } => {
                let options = PostgresOptions::new(url.expose(), self.schema_name());
                let patience = patience.unwrap_or(options.patience);
                let options = PostgresOptions { progress, patience, ..options };
                PostgresStore::open(&options).await?.into()
            }
        })
    }
}

/// The settings of the repository at `root`.
pub fn settings_path(root: &Path) -> PathBuf {
    root.join(".agent").join("baton.toml")
}

/// Restores a backup of a store. Returns where the previous store was moved to.
pub fn restore(
    copy: &Path,
    store: &Path,
    progress: &ProgressListener,
) -> Result<Option<PathBuf>, EngineError> {
    Ok(baton_store::sqlite::restore(copy, store, progress)?)
}

/// What to say about a settings file that is not read.
pub fn describe_unread(unread: &Path, root: &Path) -> String {
    let (unread, read) = (unread.display(), settings_path(root));
    format!("{unread} is not read: the settings of this repository are {}", read.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_repository(folder: &Path) {
        for part in ["objects", "refs"] {
            std::fs::create_dir_all(folder.join(".git").join(part)).unwrap();
        }
        std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn the_nearest_repository_upwards_is_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("repo/src/deep");
        std::fs::create_dir_all(&inner).unwrap();
        make_repository(&folder.path().join("repo"));
        // An empty one below is not a repository.
        std::fs::create_dir(folder.path().join("repo/src/.git")).unwrap();
        let place = StateLocation::find(&inner, &LocationOptions::default()).unwrap();
        assert_eq!(place.root, folder.path().canonicalize().unwrap().join("repo"));
        assert!(place.namespace.starts_with("repo-"), "{}", place.namespace);
        assert_eq!(
            place.namespace,
            StateLocation::find(&place.root, &LocationOptions::default()).unwrap().namespace
        );
    }

    #[test]
    fn the_variables_lead_to_the_same_location() {
        let folder = tempfile::tempdir().unwrap();
        let (repo, worktree) = (folder.path().join("repo"), folder.path().join("worktree"));
        for each in [&repo, &worktree] {
            make_repository(each);
        }
        let place = StateLocation::find(&repo, &LocationOptions::default()).unwrap();
        let variables = place.variables();
        let value = |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        let options = LocationOptions {
            root: value(ROOT_VARIABLE).map(PathBuf::from),
            state_dir: value(STATE_DIR_VARIABLE).map(PathBuf::from),
            namespace: value(NAMESPACE_VARIABLE).and_then(|name| name.into_string().ok()),
            store: None,
        };
        assert_eq!(StateLocation::find(&worktree, &options).unwrap(), place);
        assert_ne!(StateLocation::find(&worktree, &LocationOptions::default()).unwrap(), place);
    }

    #[test]
    fn the_variables_name_the_store_without_credentials() {
        let folder = tempfile::tempdir().unwrap();
        let store = Some("postgres://mia:hunter2@db:5432/work?sslmode=require".parse().unwrap());
        let place =
            StateLocation::find(folder.path(), &LocationOptions { store, ..LocationOptions::default() })
                .unwrap();
        let told = format!("{:?}", place.variables());
        assert!(told.contains("postgres://db:5432/work"), "{told}");
        assert!(!told.contains("hunter2") && !told.contains("mia"), "{told}");
    }

    #[tokio::test]
    async fn git_ignores_the_state_folder() {
        let folder = tempfile::tempdir().unwrap();
        let place = StateLocation::find(folder.path(), &LocationOptions::default()).unwrap();
        drop(place.open_store().await.unwrap());
        assert_eq!(std::fs::read_to_string(place.state_dir.join(".gitignore")).unwrap(), "*\n");
    }
}
