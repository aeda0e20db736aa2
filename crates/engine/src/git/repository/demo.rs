//! A repository made from nothing, for the demo and for trying things out.

use std::fs;
use std::path::Path;

use crate::git::command::program::{At, Git};
use crate::git::error::GitError;
use crate::git::repository::Repository;

impl Repository {
    /// A repository in `folder` with one commit that holds a README. One that has a commit already is left as it is.
    pub async fn make_scratch(git: &Git, folder: &Path, readme: &str) -> Result<Self, GitError> {
        let failed = |source| GitError::File { tried: "make", path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let at = At::Folder(folder);
        git.call("make the repository", at).args(["init", "--quiet", "--initial-branch=main"]).run().await?;
        let head = git
            .call("look for a commit", at)
            .args(["rev-parse", "--verify", "--quiet", "HEAD"])
            .ask()
            .await?;
        if head.code != Some(0) {
            fs::write(folder.join("README.md"), readme).map_err(failed)?;
            git.call("add the first file", at).args(["add", "--", "README.md"]).run().await?;
            let commit = git.call("make the first commit", at);
            commit.args(["commit", "--quiet", "--allow-empty", "-m", "Begin"]).run().await?;
        }
        Self::open(git, folder).await
    }
}
