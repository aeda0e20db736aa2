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
    /// Where the definitions belong, if they are a copy of what another branch has there: a path in that checkout means the
    /// same place in the one that tasks run in.
    pub copy_of: Option<PathBuf>,
}

impl ProjectTree {
    /// Definitions and tasks in one directory.
    pub fn single(dir: &Path) -> ProjectTree {
        ProjectTree { definitions: dir.to_owned(), dir: dir.to_owned(), copy_of: None }
    }

    /// Both directories as absolute paths.
    pub(crate) fn absolute(&self) -> std::io::Result<ProjectTree> {
        Ok(ProjectTree {
            definitions: std::path::absolute(&self.definitions)?,
            dir: std::path::absolute(&self.dir)?,
            copy_of: self.copy_of.as_deref().map(std::path::absolute).transpose()?,
        })
    }

    /// A path of the definitions' checkout in the checkout that tasks run in; other paths are unchanged.
    pub(crate) fn locate(&self, path: PathBuf) -> PathBuf {
        // An attempt's checkout may be inside the person's.
        if self.definitions == self.dir || path.starts_with(&self.dir) {
            return path;
        }
        // A copy may be inside the checkout it is a copy of.
        let roots = || [Some(&self.definitions), self.copy_of.as_ref()].into_iter().flatten();
        if let Some(below) = roots().find_map(|root| path.strip_prefix(root).ok()) {
            return self.dir.join(below);
        }
        // Another spelling of the same directory.
        let real = path.canonicalize().ok().filter(|real| !real.starts_with(&self.dir));
        let below = real.as_deref().and_then(|real| {
            roots().find_map(|root| Some(real.strip_prefix(root.canonicalize().ok()?).ok()?.to_owned()))
        });
        below.map_or(path, |below| self.dir.join(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_definitions_are_located_in_the_other_checkout() {
        let tree =
            ProjectTree { definitions: "/repo".into(), dir: "/repo/.agent/state/one".into(), copy_of: None };
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

    #[test]
    fn paths_of_the_checkout_that_a_copy_belongs_to_are_located_too() {
        let tree = ProjectTree {
            definitions: "/repo/.agent/state/suites/abc".into(),
            dir: "/repo/.agent/state/one".into(),
            copy_of: Some("/repo".into()),
        };
        for (path, located) in [
            ("/repo/sub", "/repo/.agent/state/one/sub"),
            ("/repo/.agent/state/suites/abc/sub", "/repo/.agent/state/one/sub"),
            ("/repo/.agent/state/one/sub", "/repo/.agent/state/one/sub"),
            ("/elsewhere", "/elsewhere"),
        ] {
            assert_eq!(tree.locate(path.into()), Path::new(located));
        }
    }
}
