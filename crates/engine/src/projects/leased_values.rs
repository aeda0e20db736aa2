//! Values that a task has alone on this machine: ports, and names such as those of databases.
//!
//! They are written to one file of the person's, beside no repository, because every Baton on the machine takes from the
//! same ports. A task keeps its values over attempts, restarts and crashes; they are free again when it ends, or when the
//! state folder of the Baton that took them is gone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_core::base::explanation::Explanation;
use baton_core::base::id::TaskId;
use baton_core::explained;
use serde::{Deserialize, Serialize};

use crate::base::error::{EngineError, ErrorKind};
use crate::base::refusals::failure;
use crate::settings::ValueWish;
use crate::settings::location::StateLocation;

/// Names tried with a number; nobody has as many tasks at work.
const NUMBERS_MAX: u32 = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum LeasedValueError {
    #[error("cannot use {}: {detail}", path.display())]
    File { path: PathBuf, detail: String },
    #[error("no {what} is free for {variable}")]
    NoneFree { variable: String, what: String },
}

failure! {
    LeasedValueError { |it|
        kind: ErrorKind::Internal,
        hint: match it {
            Self::File { path, .. } => format!("see whether {} can be read and written", path.display()),
            Self::NoneFree { variable, .. } => {
                format!("choose another start for {variable} in [worktree.values], or end what uses them")
            }
        },
        explained: it.explained(),
    }
}

explained! { LeasedValueError {
    Self::File { .. } => Explanation {
        code: "leased_values",
        means: "The file with the ports and names that tasks have on this machine could not be used.",
        cause: "It is in `~/.local/state/baton`, or where XDG_STATE_HOME says; the disk is full, or it belongs to somebody else.",
        next: "Make it readable and writable. If it is damaged and no agent runs, remove it.",
    },
    Self::NoneFree { .. } => Explanation {
        code: "no_value_free",
        means: "A task needs a port or a name that no other task has, and none is left.",
        cause: "Every port from the one in `[worktree.values]` on is in use.",
        next: "Choose a lower port to start from, or end what listens on them.",
    },
} }

/// Who holds values: a task, or a run of the checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ValueOwner {
    Task(TaskId),
    /// A run of the checks of a process of this id. It ends with that process.
    Checks {
        process: u32,
        number: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LeasedValue {
    state_dir: PathBuf,
    owner: ValueOwner,
    variable: String,
    wish: ValueWish,
    value: String,
}

/// The file. Cheap to clone.
#[derive(Clone)]
pub(crate) struct LeasedValues {
    folder: Arc<Path>,
    state_dir: Arc<Path>,
}

/// Values by the name of their variable.
pub(crate) type Values = BTreeMap<String, String>;

impl LeasedValues {
    pub(crate) fn new(place: &StateLocation) -> Self {
        Self { folder: machine_folder(place).into(), state_dir: place.state_dir.clone().into() }
    }

    /// Gives the owner what it wishes; what it has already, it keeps.
    pub(crate) fn lease(
        &self,
        owner: &ValueOwner,
        wishes: &BTreeMap<String, ValueWish>,
    ) -> Result<Values, EngineError> {
        if wishes.is_empty() {
            return Ok(Values::new());
        }
        self.change(|all| {
            let is_own = |one: &LeasedValue| one.owner == *owner && *one.state_dir == *self.state_dir;
            all.retain(|one| !is_own(one) || wishes.get(&one.variable) == Some(&one.wish));
            for (variable, wish) in wishes {
                if all.iter().any(|one| is_own(one) && one.variable == *variable) {
                    continue;
                }
                let value = find_free(variable, wish, all)?;
                all.push(LeasedValue {
                    state_dir: self.state_dir.to_path_buf(),
                    owner: owner.clone(),
                    variable: variable.clone(),
                    wish: wish.clone(),
                    value,
                });
            }
            Ok(values_of(all.iter().filter(|one| is_own(one))))
        })
    }

    /// What a task has now.
    pub(crate) fn held(&self, task: TaskId) -> Result<Values, EngineError> {
        // Most projects need none, and then there is no file to lock.
        if !self.file().exists() {
            return Ok(Values::new());
        }
        let is_own =
            |one: &&LeasedValue| one.owner == ValueOwner::Task(task) && *one.state_dir == *self.state_dir;
        Ok(values_of(self.read()?.iter().filter(is_own)))
    }

    pub(crate) fn release(&self, owner: &ValueOwner) -> Result<(), EngineError> {
        if !self.file().exists() {
            return Ok(());
        }
        self.change(|all| {
            all.retain(|one| one.owner != *owner || *one.state_dir != *self.state_dir);
            Ok(())
        })
    }

    /// The tasks of this Baton that have values.
    pub(crate) fn tasks(&self) -> Result<Vec<TaskId>, EngineError> {
        if !self.file().exists() {
            return Ok(Vec::new());
        }
        let of = |one: LeasedValue| match one.owner {
            ValueOwner::Task(task) if *one.state_dir == *self.state_dir => Some(task),
            ValueOwner::Task(_) | ValueOwner::Checks { .. } => None,
        };
        Ok(self.read()?.into_iter().filter_map(of).collect())
    }

    fn file(&self) -> PathBuf {
        self.folder.join("values.json")
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> LeasedValueError {
        LeasedValueError::File { path: self.file(), detail: error.to_string() }
    }

    fn read(&self) -> Result<Vec<LeasedValue>, LeasedValueError> {
        match fs::read(self.file()) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| self.failed(&error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Changes the file while no other Baton does.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<LeasedValue>) -> Result<T, LeasedValueError>,
    ) -> Result<T, EngineError> {
        let changed = || {
            fs::create_dir_all(&self.folder).map_err(|error| self.failed(&error))?;
            let lock = File::options().create(true).append(true).open(self.folder.join("values.lock"));
            // Held until the file is written; the system lets go of it when its holder dies.
            let lock =
                lock.and_then(|lock| lock.lock().map(|()| lock)).map_err(|error| self.failed(&error))?;
            let mut all = self.read()?;
            all.retain(is_alive);
            let answer = change(&mut all)?;
            let text = serde_json::to_string_pretty(&all).map_err(|error| self.failed(&error))?;
            let new = self.folder.join("values.json.new");
            fs::write(&new, text)
                .and_then(|()| fs::rename(&new, self.file()))
                .map_err(|error| self.failed(&error))?;
            drop(lock);
            Ok(answer)
        };
        changed().map_err(|error: LeasedValueError| error.into())
    }
}

/// Whether its holder can still need it.
fn is_alive(one: &LeasedValue) -> bool {
    let is_process = |id: u32| !cfg!(target_os = "linux") || Path::new(&format!("/proc/{id}")).exists();
    one.state_dir.is_dir()
        && match one.owner {
            ValueOwner::Task(_) => true,
            ValueOwner::Checks { process, .. } => is_process(process),
        }
}

fn values_of<'a>(leased: impl Iterator<Item = &'a LeasedValue>) -> Values {
    leased.map(|one| (one.variable.clone(), one.value.clone())).collect()
}

fn find_free(variable: &str, wish: &ValueWish, taken: &[LeasedValue]) -> Result<String, LeasedValueError> {
    let is_taken = |value: &str| taken.iter().any(|one| one.value == value && is_same_kind(&one.wish, wish));
    let found = match wish {
        ValueWish::Port(first) => (*first..=u16::MAX)
            .find(|port| {
                !is_taken(&port.to_string()) && TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()
            })
            .map(|port| port.to_string()),
        ValueWish::Name(stem) => {
            (1..=NUMBERS_MAX).map(|number| format!("{stem}_{number}")).find(|name| !is_taken(name))
        }
    };
    let what = match wish {
        ValueWish::Port(first) => format!("port from {first} on"),
        ValueWish::Name(stem) => format!("name {stem}_N"),
    };
    found.ok_or_else(|| LeasedValueError::NoneFree { variable: variable.to_owned(), what })
}

const fn is_same_kind(one: &ValueWish, other: &ValueWish) -> bool {
    matches!(
        (one, other),
        (ValueWish::Port(_), ValueWish::Port(_)) | (ValueWish::Name(_), ValueWish::Name(_))
    )
}

/// What every Baton of this person on this machine shares.
pub(crate) fn machine_folder(place: &StateLocation) -> PathBuf {
    state_home().unwrap_or_else(|| place.state_dir.clone()).join("baton")
}

/// `~/.local/state`
fn state_home() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(home: &Path, name: &str) -> LeasedValues {
        let state_dir = home.join(name);
        fs::create_dir_all(&state_dir).unwrap();
        LeasedValues { folder: home.join("shared").into(), state_dir: state_dir.into() }
    }

    fn wishes(port: u16) -> BTreeMap<String, ValueWish> {
        let wishes = [("PORT", ValueWish::Port(port)), ("DB", ValueWish::Name("app".to_owned()))];
        wishes.into_iter().map(|(name, wish)| (name.to_owned(), wish)).collect()
    }

    #[test]
    fn values_are_a_tasks_own_stay_with_it_and_are_free_afterwards() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (values(home.path(), "one"), values(home.path(), "other"));
        let task = |bits| ValueOwner::Task(TaskId::from_bits(bits));
        let first = one.lease(&task(1), &wishes(42_000)).unwrap();
        let second = one.lease(&task(2), &wishes(42_000)).unwrap();
        // The same task of another Baton is another task.
        let third = other.lease(&task(1), &wishes(42_000)).unwrap();
        for variable in ["PORT", "DB"] {
            let all = [&first[variable], &second[variable], &third[variable]];
            assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
        }
        assert_eq!(one.lease(&task(1), &wishes(42_000)).unwrap(), first, "it keeps them");
        assert_eq!(one.held(TaskId::from_bits(1)).unwrap(), first);
        assert_eq!(first["DB"], "app_1");
        one.release(&task(1)).unwrap();
        assert_eq!(one.held(TaskId::from_bits(1)).unwrap(), Values::new());
        assert_eq!(one.lease(&task(3), &wishes(42_000)).unwrap()["DB"], "app_1");
    }

    #[test]
    fn a_port_that_somebody_listens_on_is_not_given_away() {
        let home = tempfile::tempdir().unwrap();
        let values = values(home.path(), "one");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let busy = listener.local_addr().unwrap().port();
        let given = values.lease(&ValueOwner::Task(TaskId::from_bits(1)), &wishes(busy)).unwrap();
        assert_ne!(given["PORT"], busy.to_string());
    }

    #[test]
    fn whatever_a_baton_had_that_is_gone_is_free() {
        let home = tempfile::tempdir().unwrap();
        let (gone, here) = (values(home.path(), "gone"), values(home.path(), "here"));
        let task = ValueOwner::Task(TaskId::from_bits(1));
        assert_eq!(gone.lease(&task, &wishes(42_100)).unwrap()["DB"], "app_1");
        fs::remove_dir_all(home.path().join("gone")).unwrap();
        assert_eq!(here.lease(&task, &wishes(42_100)).unwrap()["DB"], "app_1");
    }
}
