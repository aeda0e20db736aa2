//! Where tasks run when their definitions are in another checkout of the same project.

use std::path::{Path, PathBuf};

/// A project whose definitions are in one directory and whose tasks run in another: the same one, or another checkout.
///
/// Without one, go-task's rules apply: an included file without `dir:` runs beside the including file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProjectTree {
    /// The checkout that the definitions are read from.
    pub definitions: PathBuf,
    /// The checkout that tasks run in.
    pub dir: PathBuf,
}

impl ProjectTree {
    /// Definitions and tasks in one directory.
    pub fn single(dir: &Path) -> ProjectTree {
        ProjectTree { definitions: dir.to_owned(), dir: dir.to_owned() }
    }

    /// Both directories as absolute paths.
    pub(crate) fn absolute(&self) -> std::io::Result<ProjectTree> {
        Ok(ProjectTree {
            definitions: std::path::absolute(&self.definitions)?,
            dir: std::path::absolute(&self.dir)?,
        })
    }

    /// A path of the definitions' checkout in the checkout that tasks run in; other paths are unchanged.
    pub(crate) fn locate(&self, path: PathBuf) -> PathBuf {
        // An attempt's checkout may be inside the person's.
        if self.definitions == self.dir || path.starts_with(&self.dir) {
            return path;
        }
        if let Ok(below) = path.strip_prefix(&self.definitions) {
            return self.dir.join(below);
        }
        // Another spelling of the same directory.
        let real = path.canonicalize().ok().filter(|real| !real.starts_with(&self.dir));
        let below = real.as_deref().and_then(|real| {
            let definitions = self.definitions.canonicalize().ok()?;
            Some(real.strip_prefix(definitions).ok()?.to_owned())
        });
        below.map_or(path, |below| self.dir.join(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_definitions_are_located_in_the_other_checkout() {
        let tree = ProjectTree { definitions: "/repo".into(), dir: "/repo/.agent/state/one".into() };
        for (path, located) in [
            ("/repo", "/repo/.agent/state/one"),
            ("/repo/docs/a", "/repo/.agent/state/one/docs/a"),
            ("/repo/.agent/state/one/docs", "/repo/.agent/state/one/docs"),
            ("/repository", "/repository"),
            ("/elsewhere", "/elsewhere"),
        ] {
            assert_eq!(tree.locate(path.into()), Path::new(located));
        }
    }
}
