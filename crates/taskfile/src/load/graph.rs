//! Reading a Taskfile and everything it includes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sha2::Digest as _;

use crate::ast::{Include, TaskfileAst, TaskfileWarning};
use crate::go::escape::hex;
use crate::go::path::{clean, join};
use crate::go::{Map, Value};
use crate::template::{Host, Template};
use crate::yaml;

use super::error::LoadError;
use super::find::resolve_taskfile;
use super::merge::merge;
use super::regular::read_regular_file;
use super::snippet::snippet;
use super::stamp::FileStamp;
use super::tree::ProjectTree;

/// The size limit of one Taskfile; the largest seen in the wild has 60 kB.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// The nesting limit of includes; real ones stay below five.
const MAX_INCLUDE_DEPTH: usize = 50;

/// One Taskfile with its includes merged in, and the files read for it.
#[derive(Debug)]
pub(crate) struct LoadedTaskfile {
    pub taskfile: TaskfileAst,
    pub files: Vec<FileStamp>,
    pub warnings: Vec<(PathBuf, TaskfileWarning)>,
}

/// Loads a Taskfile. `host` is for the templates in include paths. Without a tree, included files without `dir:` run
/// beside the including one.
pub(crate) fn load(
    path: &Path,
    current: &Path,
    tree: Option<&ProjectTree>,
    environment: &Map,
    host: &dyn Host,
) -> Result<LoadedTaskfile, LoadError> {
    let mut reader = TaskfileReader {
        current,
        tree,
        environment,
        host,
        read: HashMap::new(),
        open: Vec::new(),
        files: Vec::new(),
        warnings: Vec::new(),
    };
    let taskfile = match reader.read(path)? {
        ReadFile::Own(taskfile) => *taskfile,
        ReadFile::Shared(taskfile) => (*taskfile).clone(),
    };
    Ok(LoadedTaskfile { taskfile, files: reader.files, warnings: reader.warnings })
}

struct TaskfileReader<'a> {
    current: &'a Path,
    tree: Option<&'a ProjectTree>,
    environment: &'a Map,
    host: &'a dyn Host,
    /// Files read so far. Most are included once and need not be kept; a file included twice is re-read and kept.
    read: HashMap<PathBuf, Option<Rc<TaskfileAst>>>,
    /// Files whose includes are being read, for cycle detection.
    open: Vec<PathBuf>,
    files: Vec<FileStamp>,
    warnings: Vec<(PathBuf, TaskfileWarning)>,
}

/// A file that was read: owned, or kept for further includes.
enum ReadFile {
    Own(Box<TaskfileAst>),
    Shared(Rc<TaskfileAst>),
}

impl TaskfileReader<'_> {
    fn read(&mut self, path: &Path) -> Result<ReadFile, LoadError> {
        if let Some(Some(kept)) = self.read.get(path) {
            return Ok(ReadFile::Shared(Rc::clone(kept)));
        }
        if let Some(start) = self.open.iter().position(|p| p == path) {
            let round = self.open[start..].iter().map(PathBuf::as_path).chain([path]);
            return Err(LoadError::IncludeCycle { path: round.map(|p| p.display().to_string()).collect() });
        }
        if self.open.len() >= MAX_INCLUDE_DEPTH {
            return Err(LoadError::Limit {
                path: path.to_owned(),
                what: format!("includes are nested more than {MAX_INCLUDE_DEPTH} levels deep"),
            });
        }
        let mut file = self.parse(path)?;
        self.open.push(path.to_owned());
        for include in file.includes.clone() {
            match self.include(path, &file, include)? {
                Some((include, ReadFile::Own(included))) => {
                    merge(&mut file, Cow::Owned(*included), &include)?;
                }
                Some((include, ReadFile::Shared(included))) => {
                    merge(&mut file, Cow::Borrowed(&included), &include)?;
                }
                None => {}
            }
        }
        self.open.pop();
        if self.read.contains_key(path) {
            let file = Rc::new(file);
            self.read.insert(path.to_owned(), Some(Rc::clone(&file)));
            return Ok(ReadFile::Shared(file));
        }
        self.read.insert(path.to_owned(), None);
        Ok(ReadFile::Own(Box::new(file)))
    }

    fn parse(&mut self, path: &Path) -> Result<TaskfileAst, LoadError> {
        let failed = |source| LoadError::Read { path: path.to_owned(), source };
        if !self.read.contains_key(path) {
            self.files.push(FileStamp::read(path));
        }
        let bytes = read_regular_file(path, MAX_FILE_BYTES).map_err(failed)?;
        let text = str::from_utf8(&bytes).map_or_else(|_| String::from_utf8_lossy(&bytes), Cow::Borrowed);
        let root = yaml::parse(&text).map_err(|error| LoadError::Yaml {
            file: path.strip_prefix(self.current).unwrap_or(path).display().to_string(),
            path: path.to_owned(),
            snippet: snippet(&text, error.position),
            error,
        })?;
        let (file, warnings) =
            TaskfileAst::decode(root.as_ref(), &path.display().to_string()).map_err(|error| {
                LoadError::Decode { path: path.to_owned(), snippet: snippet(&text, error.position), error }
            })?;
        if !self.read.contains_key(path) {
            self.warnings.extend(warnings.into_iter().map(|w| (path.to_owned(), w)));
        }
        if file.version.is_none() {
            return Err(LoadError::MissingVersion { path: path.to_owned() });
        }
        Ok(file)
    }

    /// The included file and its include with absolute paths; `None` for a missing optional one.
    fn include(
        &mut self,
        from: &Path,
        file: &TaskfileAst,
        mut include: Include,
    ) -> Result<Option<(Include, ReadFile)>, LoadError> {
        include.taskfile = self.expand(&include.taskfile, file)?;
        include.dir = self.expand(&include.dir, file)?;
        include.checksum = self.expand(&include.checksum, file)?;
        if include.taskfile.contains("://") || include.taskfile.starts_with("git@") {
            return Err(LoadError::Remote { uri: include.taskfile });
        }
        let base = from.parent().unwrap_or(Path::new("/")).to_owned();
        let asked = join(&base, &include.taskfile);
        include.dir = self.include_dir(&base, &include.dir);
        let Some(found) = resolve_taskfile(&asked) else {
            self.files.push(FileStamp::read(&asked));
            if include.optional {
                return Ok(None);
            }
            return Err(LoadError::NotFound {
                uri: asked.display().to_string(),
                searched_above: false,
                at_root: false,
            });
        };
        let found = clean(&found);
        verify_checksum(&found, &include)?;
        Ok(Some((include, self.read(&found)?)))
    }

    /// Where the tasks of an included file run: relative to the including file, as in go-task. With a tree, an include
    /// without `dir:` leaves it to the including file, so that its tasks run in the project's root.
    fn include_dir(&self, base: &Path, dir: &str) -> String {
        let Some(tree) = self.tree else { return join(base, dir).display().to_string() };
        if dir.is_empty() {
            return String::new();
        }
        tree.locate(join(base, dir)).display().to_string()
    }

    /// Renders a text of an include with the environment and the file's own literal variables; `~` is the home directory.
    fn expand(&self, text: &str, file: &TaskfileAst) -> Result<String, LoadError> {
        let mut out = text.to_owned();
        if text.contains("{{") {
            let mut data = self.environment.clone();
            for (name, var) in &file.vars {
                data.insert(name.clone(), var.value.clone().unwrap_or(Value::Nil));
            }
            out = Template::parse(text)?.render(&data, self.host)?.replace("<no value>", "");
        }
        Ok(crate::shell::expand_literal(&out, &|name| self.environment.get(name).map(Value::display)))
    }
}

/// Checks an include's pinned checksum.
fn verify_checksum(path: &Path, include: &Include) -> Result<(), LoadError> {
    if include.checksum.is_empty() {
        return Ok(());
    }
    let bytes = read_regular_file(path, MAX_FILE_BYTES)
        .map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    let actual = hex(&sha2::Sha256::digest(&bytes));
    if actual == include.checksum {
        return Ok(());
    }
    Err(LoadError::Checksum { path: path.display().to_string(), actual, expected: include.checksum.clone() })
}
