//! What is odd about an attempt's work. Each finding is evidence on the task; some need a person before the work is merged.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use baton_core::base::git_name::CommitId;
use baton_core::task::finding::WorkFinding;

use crate::git::clone::checkout::{Checkout, CheckoutBase};
use crate::git::clone::files::{is_real_dir, is_real_file};
use crate::git::clone::private_clone::CloneState;
use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::repository::protected::is_protected;
use crate::git::settle::bring::Brought;

/// Files that are named in one finding.
const FILES_MAX: usize = 20;
/// Lines that git writes around the two sides of a conflict.
const MARKERS: [&str; 2] = ["^<<<<<<< ", "^>>>>>>> "];

impl Worktrees {
    /// What the clone itself shows.
    pub(crate) fn clone_findings(&self, checkout: &Checkout, brought: &Brought) -> Vec<WorkFinding> {
        match brought {
            Brought::All(refs) => {
                let record = self.clone_in(&checkout.folder).record;
                let moved = refs.moved(&record.refs(), Some(checkout.place.branch()));
                let moved = moved.into_iter().take(FILES_MAX).map(|name| WorkFinding::BranchMoved { name });
                let unfinished = refs
                    .unfinished
                    .map(|operation| WorkFinding::Unfinished { operation: operation.to_owned() });
                moved.chain(unfinished).collect()
            }
            Brought::Nothing { state } => vec![match state {
                CloneState::Gone => WorkFinding::FolderGone,
                CloneState::Replaced => WorkFinding::FolderReplaced,
                CloneState::Broken(detail) => WorkFinding::RepositoryBroken { detail: detail.clone() },
                CloneState::Sound(_) => return Vec::new(),
            }],
        }
    }

    /// Hooks that judge a commit, as the clone got them. Baton's own commits run none.
    pub(crate) fn hooks_not_run(checkout: &Checkout) -> Vec<WorkFinding> {
        let folder = checkout.folder.join(".git/hooks");
        let is_hook = |hook: &&str| is_real_dir(&folder) && is_real_file(&folder.join(hook));
        let hooks = ["pre-commit", "commit-msg"].into_iter().filter(is_hook);
        hooks.map(|hook| WorkFinding::HookNotRun { hook: hook.to_owned() }).collect()
    }

    /// What the commits between base and head show.
    pub(crate) async fn commit_findings(
        &self,
        checkout: &Checkout,
        head: &CommitId,
    ) -> Result<Vec<WorkFinding>, GitError> {
        if *head == checkout.base || !matches!(checkout.place, CheckoutBase::Task { .. }) {
            return Ok(Vec::new());
        }
        let mut findings = Vec::new();
        let base = self.measured_base(checkout, head).await?;
        if !self.repository.is_ancestor(&base, head).await? {
            findings.push(WorkFinding::BaseRewritten);
        }
        let base = self.own_base(checkout, head).await?;
        self.look_at_files(&base, head, &mut findings).await?;
        let markers = self.conflict_markers(&base, head).await?;
        if !markers.is_empty() {
            findings.push(WorkFinding::ConflictMarkers { files: markers });
        }
        Ok(findings)
    }

    /// Large files, submodules, and links that lead out.
    async fn look_at_files(
        &self,
        base: &CommitId,
        head: &CommitId,
        findings: &mut Vec<WorkFinding>,
    ) -> Result<(), GitError> {
        let diff = self.repository.call("look at the changed files");
        let diff = diff.args(["diff-tree", "-r", "-z", "--no-renames", "--diff-filter=ACMT"]);
        let listed = diff.args([base.as_str(), head.as_str()]).run().await?;
        let mut fields = listed.split(|byte| *byte == 0);
        let mut blobs = Vec::new();
        // ":old-mode new-mode old-id new-id status NUL path NUL"
        while let (Some(change), Some(path)) = (fields.next(), fields.next()) {
            let change = String::from_utf8_lossy(change);
            let path = String::from_utf8_lossy(path).into_owned();
            let mut words = change.split(' ').skip(1);
            match (words.next(), words.nth(1)) {
                (Some("160000"), _) => findings.push(WorkFinding::SubmoduleChanged { path }),
                (Some("120000"), Some(id)) => blobs.push((id.to_owned(), path, true)),
                (Some(_), Some(id)) => blobs.push((id.to_owned(), path, false)),
                _ => {}
            }
        }
        if blobs.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = blobs.iter().map(|(id, ..)| format!("{id}\n")).collect();
        let sizes = self.repository.call("look at the changed files");
        let sizes = sizes.args(["cat-file", "--batch-check=%(objectsize)"]).input(ids.concat()).run().await?;
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        for ((id, path, is_link), size) in blobs.into_iter().zip(sizes.lines()) {
            let bytes: u64 = size.parse().unwrap_or_default();
            if is_link {
                let target = self.repository.call("read a link").args(["cat-file", "blob", &id]);
                let target = target.cut_at(4 << 10).run().await?;
                let target = String::from_utf8_lossy(&target).into_owned();
                if leads_out(Path::new(&path), Path::new(&target)) {
                    findings.push(WorkFinding::LinkOutside { path, target });
                }
            } else if bytes > self.large_file_bytes {
                findings.push(WorkFinding::LargeFile { path, bytes });
            }
        }
        Ok(())
    }

    /// Files that match one of the globs and that the commits between base and head change.
    pub(crate) async fn protected_files(
        &self,
        checkout: &Checkout,
        head: &CommitId,
        globs: &[String],
    ) -> Result<Option<WorkFinding>, GitError> {
        if *head == checkout.base || !matches!(checkout.place, CheckoutBase::Task { .. }) {
            return Ok(None);
        }
        let diff = self.repository.call("look for changes of protected files");
        let diff = diff.args(["diff", "--name-only", "-z", "--no-ext-diff", "--no-renames"]);
        let base = self.own_base(checkout, head).await?;
        let listed = diff.args([base.as_str(), head.as_str()]).run().await?;
        let names = listed.split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned());
        let files: Vec<String> = names.filter(|name| is_protected(globs, name)).take(FILES_MAX).collect();
        Ok((!files.is_empty()).then_some(WorkFinding::ProtectedFiles { files }))
    }

    /// Files with lines that open and close a conflict, which the base did not have.
    async fn conflict_markers(&self, base: &CommitId, head: &CommitId) -> Result<Vec<String>, GitError> {
        let mut sides: Vec<BTreeSet<String>> = Vec::new();
        for marker in MARKERS {
            let search = self.repository.call("look for conflict markers");
            let search =
                search.args(["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"]);
            let out = search.args(["-G", marker, base.as_str(), head.as_str()]).run().await?;
            let names = out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            sides.push(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect());
            if sides.last().is_some_and(BTreeSet::is_empty) {
                return Ok(Vec::new());
            }
        }
        let mut files = Vec::new();
        let common = sides.into_iter().reduce(|one, other| one.intersection(&other).cloned().collect());
        for file in common.unwrap_or_default() {
            // Lines that were taken away match as well; what counts is what the head has.
            let grep = self.repository.call("look for conflict markers");
            let grep = grep.args(["grep", "--quiet", "-I", "-e", "^<<<<<<< ", head.as_str(), "--", &file]);
            if grep.ask().await?.code == Some(0) {
                files.push(file);
            }
            if files.len() == FILES_MAX {
                break;
            }
        }
        Ok(files)
    }
}

/// Whether a link inside a tree leads out of it.
fn leads_out(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().count().saturating_sub(1);
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_out_is_recognised() {
        for (link, target, out) in [
            ("a", "b", false),
            ("a", "/etc/passwd", true),
            ("a", "../b", true),
            ("a/b", "../c", false),
            ("a/b", "../../c", true),
            ("a/b", "x/../../../c", true),
        ] {
            assert_eq!(leads_out(Path::new(link), Path::new(target)), out, "{link} -> {target}");
        }
    }
}
