//! The files of a branch in a folder of their own, without a repository.

use std::fs;
use std::path::Path;

use baton_core::base::git_name::BranchName;

use crate::git::clone::make::failed;
use crate::git::clone::worktrees::Worktrees;
use crate::git::command::program::At;
use crate::git::error::GitError;
use crate::git::vault::folder;

impl Worktrees {
    /// Makes the folder what the branch's commit says, if that has one of the `wanted` files; otherwise there is no folder. Returns
    /// whether there is one. Costs one look while the branch stays.
    pub(crate) async fn write_branch_files(
        &self,
        branch: &BranchName,
        wanted: &[&str],
        into: &Path,
    ) -> Result<bool, GitError> {
        let Some(tip) = self.repository.tip(branch).await? else { return Ok(into.is_dir()) };
        let (index, written) = (into.with_extension("index"), into.with_extension("commit"));
        if fs::read_to_string(&written).is_ok_and(|known| known == tip.as_str()) {
            return Ok(into.is_dir());
        }
        let _lock = self.lock().await?;
        let mut has_wanted = false;
        for name in wanted {
            let name = format!("{tip}:{name}");
            let look = self.repository.call("look for settings").args(["cat-file", "-e", &name]);
            has_wanted = has_wanted || look.find().await?.is_some();
        }
        if has_wanted {
            fs::create_dir_all(into).map_err(failed("make", into))?;
            let at = At::Files { git_dir: self.repository.git_dir(), folder: into, index: &index };
            self.repository.call_at("write the files", at).write_files(&tip).run().await?;
        } else {
            folder::delete(into).map_err(failed("delete", into))?;
        }
        fs::write(&written, tip.as_str()).map_err(failed("write", &written))?;
        Ok(has_wanted)
    }
}
