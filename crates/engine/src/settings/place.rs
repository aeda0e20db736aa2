//! Where a repository keeps its Baton: the root, the state folder, the store's file, the settings.

use baton_core::base::id::AttemptId;

use crate::base::error::ErrorKind;
use crate::base::error::FolderError;
use crate::base::refusals::failure;
use baton_core::base::explanation::Explanation;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};

use crate::base::error::EngineError;
use crate::settings::store_address::StoreAddress;

/// The store of a place, whichever kind was chosen.
use baton_store::Store;
/// The SQL for whoever makes a home for it on a shared server.
pub use baton_store::postgres::{SetupNames, setup_sql};
/// Whoever waits while a store is opened or copied.
pub use baton_store::{ProgressListener, ProgressStage};

pub const ROOT_VARIABLE: &str = "BATON_ROOT";
pub const STATE_DIR_VARIABLE: &str = "BATON_STATE_DIR";
pub const NAMESPACE_VARIABLE: &str = "BATON_NAMESPACE";
pub const STORE_VARIABLE: &str = "BATON_STORE";

/// One repository's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub root: PathBuf,
    pub state_dir: PathBuf,
    pub namespace: String,
    pub store: StoreAddress,
}

/// What was asked for on the command line or in the environment; what is not given is found.
#[derive(Debug, Clone, Default)]
pub struct PlaceOptions {
    /// The repository's root, where work for it is done elsewhere: an agent's worktree is a repository of its own.
    pub root: Option<PathBuf>,
    pub state_dir: Option<PathBuf>,
    pub namespace: Option<String>,
    pub store: Option<StoreAddress>,
}

/// Long enough for any folder's name, short enough for a file's.
const NAMESPACE_LEN_MAX: usize = 100;
/// What the shared store takes for one.
const SCHEMA_LEN_MAX: usize = 40;

impl Place {
    /// Where an attempt keeps what is not in git: its log, and who its process is.
    pub fn attempt_folder(&self, attempt: AttemptId) -> PathBuf {
        self.attempts_folder().join(attempt.to_string())
    }

    pub fn attempts_folder(&self) -> PathBuf {
        self.state_dir.join("attempts")
    }

    /// The place for work done in `folder`: the nearest folder upwards that is a repository, else `folder` itself.
    pub fn find(folder: &Path, options: &PlaceOptions) -> Result<Self, EngineError> {
        let folder = folder
            .canonicalize()
            .map_err(|error| FolderError { path: folder.to_owned(), detail: error.to_string() })?;
        let root = match &options.root {
            Some(root) => root
                .canonicalize()
                .map_err(|error| FolderError { path: root.clone(), detail: error.to_string() })?,
            None => {
                folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder).to_owned()
            }
        };
        let namespace = match &options.namespace {
            Some(name) => checked_namespace(name)?,
            None => namespace_of(&root),
        };
        let state_dir = match &options.state_dir {
            // As seen from here; whoever is told of it may stand elsewhere.
            Some(given) => folder.join(given),
            None => root.join(".agent").join("state"),
        };
        let store = options.store.clone().unwrap_or_default();
        Ok(Self { root, state_dir, namespace, store })
    }

    /// What an agent needs in its environment for `baton` to mean this very place, wherever it stands.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            (ROOT_VARIABLE, self.root.clone().into()),
            (STATE_DIR_VARIABLE, self.state_dir.clone().into()),
            (NAMESPACE_VARIABLE, self.namespace.clone().into()),
        ];
        // Which store it is, but not how to get in: the way there leads through the server, which knows the agent.
        if let StoreAddress::Postgres { .. } = &self.store {
            variables.push((STORE_VARIABLE, self.store.plain().into()));
        }
        variables
    }

    /// The namespace as the shared store knows it.
    pub fn shared_namespace(&self) -> String {
        plain_namespace(&self.namespace)
    }

    pub fn store_path(&self) -> PathBuf {
        self.state_dir.join(format!("{}.db", self.namespace))
    }

    pub fn settings_path(&self) -> PathBuf {
        self.root.join(".agent").join("baton.toml")
    }

    /// Opens the store, making the state folder first: logs and worktrees are there whatever the store is. The
    /// folder ignores itself in git.
    pub async fn open_store(&self) -> Result<Store, EngineError> {
        self.open_store_before(ProgressListener::default()).await
    }

    /// The same for somebody who wants to know how things are: a server that is away is told of and not waited for.
    pub async fn look_into_store(&self) -> Result<Store, EngineError> {
        self.open(ProgressListener::default(), Some(Duration::ZERO)).await
    }

    /// The same before somebody who is told what takes long, and what does later.
    pub async fn open_store_before(&self, onlooker: ProgressListener) -> Result<Store, EngineError> {
        self.open(onlooker, None).await
    }

    async fn open(
        &self,
        onlooker: ProgressListener,
        patience: Option<Duration>,
    ) -> Result<Store, EngineError> {
        let failed =
            |error: std::io::Error| FolderError { path: self.state_dir.clone(), detail: error.to_string() };
        std::fs::create_dir_all(&self.state_dir).map_err(failed)?;
        let ignore = self.state_dir.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(failed)?;
        }
        Ok(match &self.store {
            StoreAddress::File => {
                let options = SqliteOptions { progress: onlooker, ..SqliteOptions::default() };
                SqliteStore::open(&self.store_path(), options)?.into()
            }
            StoreAddress::Postgres { url } => {
                let options = PostgresOptions::new(url.expose(), self.shared_namespace());
                let patience = patience.unwrap_or(options.patience);
                let options = PostgresOptions { progress: onlooker, patience, ..options };
                PostgresStore::open(&options).await?.into()
            }
        })
    }
}

/// Puts a copy of a store back; says where the store that was there has gone.
pub fn restore(
    copy: &Path,
    store: &Path,
    onlooker: &ProgressListener,
) -> Result<Option<PathBuf>, EngineError> {
    Ok(baton_store::sqlite::restore(copy, store, onlooker)?)
}

fn checked_namespace(name: &str) -> Result<String, EngineError> {
    let is_safe = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let is_good = !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.len() <= NAMESPACE_LEN_MAX
        && name.bytes().all(is_safe);
    if is_good { Ok(name.to_owned()) } else { Err(InvalidNamespace { name: name.to_owned() }.into()) }
}

/// The folder's name and four hex digits of its whole path, so that two folders of one name are two namespaces.
fn namespace_of(root: &Path) -> String {
    let name: String = root
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .take(NAMESPACE_LEN_MAX - 5)
        .collect();
    let name = name.trim_start_matches('-');
    let name = if name.is_empty() { "baton" } else { name };
    format!("{name}-{:04x}", fold(root.to_string_lossy().as_bytes()) & 0xffff)
}

/// A namespace as PostgreSQL's schemas are named: small letters, digits and `_`. One that has to be changed for it
/// gets a few digits of its own, so that two namespaces stay two.
fn plain_namespace(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.len() <= SCHEMA_LEN_MAX && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let plain: String = name
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if is_plain(c) { c } else { '_' })
        .take(SCHEMA_LEN_MAX - 9)
        .collect();
    format!("{plain}_{:08x}", fold(name.as_bytes()) & 0xffff_ffff)
}

/// FNV-1a: the same on every machine and in every version, which the standard hasher does not promise.
fn fold(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A name that cannot be a namespace.
#[derive(Debug, thiserror::Error)]
#[error("\"{name}\" cannot be a namespace")]
pub struct InvalidNamespace {
    pub name: String,
}

impl InvalidNamespace {
    pub const EXPLAINED: Explanation = Explanation {
        code: "namespace",
        means: "The name cannot be a namespace.",
        cause: "It becomes the name of a file and of a schema: letters, digits, - _ and ., beginning with a letter or \
                digit, at most 100 characters.",
        next: "Choose another one with `--namespace`.",
    };
}

failure! {
    InvalidNamespace { |it|
        kind: ErrorKind::InvalidInput,
        hint: "use letters, digits, - _ and ., beginning with a letter or digit, at most 100 characters",
        explained: &Self::EXPLAINED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_repository_upwards_is_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("repo/src/deep");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(folder.path().join("repo/.git")).unwrap();
        let place = Place::find(&inner, &PlaceOptions::default()).unwrap();
        assert_eq!(place.root, folder.path().canonicalize().unwrap().join("repo"));
        assert!(place.namespace.starts_with("repo-"), "{}", place.namespace);
        assert_eq!(place.namespace, Place::find(&place.root, &PlaceOptions::default()).unwrap().namespace);
    }

    #[test]
    fn what_an_agent_is_told_leads_back_to_the_same_place() {
        let folder = tempfile::tempdir().unwrap();
        let (repo, worktree) = (folder.path().join("repo"), folder.path().join("worktree"));
        for each in [&repo, &worktree] {
            std::fs::create_dir_all(each.join(".git")).unwrap();
        }
        let place = Place::find(&repo, &PlaceOptions::default()).unwrap();
        let told = place.variables();
        let value = |name| told.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        let options = PlaceOptions {
            root: value(ROOT_VARIABLE).map(PathBuf::from),
            state_dir: value(STATE_DIR_VARIABLE).map(PathBuf::from),
            namespace: value(NAMESPACE_VARIABLE).and_then(|name| name.into_string().ok()),
            store: None,
        };
        assert_eq!(Place::find(&worktree, &options).unwrap(), place);
        assert_ne!(Place::find(&worktree, &PlaceOptions::default()).unwrap(), place);
    }

    #[test]
    fn an_agent_is_told_which_store_it_is_and_not_how_to_get_in() {
        let folder = tempfile::tempdir().unwrap();
        let store = Some("postgres://mia:hunter2@db:5432/work?sslmode=require".parse().unwrap());
        let place = Place::find(folder.path(), &PlaceOptions { store, ..PlaceOptions::default() }).unwrap();
        let told = format!("{:?}", place.variables());
        assert!(told.contains("postgres://db:5432/work"), "{told}");
        assert!(!told.contains("hunter2") && !told.contains("mia"), "{told}");
    }

    #[test]
    fn folders_of_one_name_have_two_namespaces() {
        assert_ne!(namespace_of(Path::new("/a/project")), namespace_of(Path::new("/b/project")));
        assert!(checked_namespace(&namespace_of(Path::new("/ü ö/…"))).is_ok());
        assert!(checked_namespace(&namespace_of(Path::new("/"))).is_ok());
    }

    #[test]
    fn a_namespace_that_could_leave_the_folder_is_refused() {
        for bad in ["", "..", ".hidden", "a/b", "-x", "a b", &"x".repeat(101)] {
            assert!(checked_namespace(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn namespaces_stay_apart_on_the_shared_store() {
        assert_eq!(plain_namespace("team_7"), "team_7");
        let names = ["a-b", "a_b", "a.b", "A_b", &"x".repeat(60), &"x".repeat(61)].map(plain_namespace);
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(
            names.iter().all(|name| name.len() <= SCHEMA_LEN_MAX && name.chars().all(is_plain)),
            "{names:?}"
        );
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
    }

    #[tokio::test]
    async fn the_state_folder_ignores_itself() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::find(folder.path(), &PlaceOptions::default()).unwrap();
        drop(place.open_store().await.unwrap());
        assert_eq!(std::fs::read_to_string(place.state_dir.join(".gitignore")).unwrap(), "*\n");
    }
}
