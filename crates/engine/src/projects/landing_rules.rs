//! What decides about work that is to land on a branch: the checks, their time limits and the protected files, as the branch
//! itself has them. What was never committed there comes from the person's checkout.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::records::project::Project;
use baton_core::task::Task;

use sha2::{Digest, Sha256};

use crate::base::error::{EngineError, FolderError};
use crate::git::{CommitFiles, Repository, Worktrees};
use crate::people::folder_trust::{self, REMOTE_MARK};
use crate::projects::Projects;
use crate::projects::error::ProjectError;
use crate::projects::included_files;
use crate::projects::trunk::BranchTip;
use crate::settings::branch_rules::BranchRules;
use crate::settings::location::settings_path;
use crate::settings::{Settings, SettingsError};
use crate::user_tasks::checks::Checks;
use crate::user_tasks::{Site, TASKFILE};

/// Where a repository's settings are, from its root.
const SETTINGS: &str = ".agent/baton.toml";
/// Commits whose definitions are kept in a folder.
const COMMITS_MAX: usize = 8;

/// The rules of one commit of a branch.
#[derive(Clone)]
pub(crate) struct LandingRules {
    /// The person's settings, with the branch's own checks, time limits and protected files.
    pub(crate) settings: Arc<Settings>,
    /// Where checks that are user tasks are defined, if the branch has a Taskfile.
    pub(crate) definitions: Option<BranchDefinitions>,
    /// The commit, if anything comes from there.
    pub(crate) from: Option<CommitId>,
}

/// The Taskfile of a branch, in a folder of its own.
#[derive(Clone)]
pub(crate) struct BranchDefinitions {
    files: CommitFiles,
    checkout: PathBuf,
}

/// Definitions that were written already, by commit. Cheap to clone; clones share them.
#[derive(Clone, Default)]
pub(crate) struct WrittenDefinitions(Arc<Mutex<BTreeMap<CommitId, RulesDefinitions>>>);

/// The definitions of a commit.
#[derive(Clone)]
struct RulesDefinitions {
    files: CommitFiles,
    /// Globs for what the Taskfile includes.
    included: Arc<Vec<String>>,
}

impl LandingRules {
    /// Everything as in the person's checkout.
    pub(crate) const fn of_checkout(settings: Arc<Settings>) -> Self {
        Self { settings, definitions: None, from: None }
    }

    /// Lets the user tasks of a site be those that the branch defines.
    pub(crate) fn define(&self, site: &mut Site) {
        if let Some(definitions) = &self.definitions {
            site.root = definitions.files.folder();
            site.copy_of = Some(definitions.checkout.clone());
        }
    }
}

impl Projects {
    /// The rules of a commit of a branch, for a project that a person has these settings for.
    pub(crate) async fn rules_at(
        &self,
        settings: &Arc<Settings>,
        worktrees: &Worktrees,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<LandingRules, EngineError> {
        let own = self.trusted_rules(worktrees, branch, commit).await?;
        let has_own = own.is_some();
        let mut settings = own.map_or_else(|| settings.clone(), |own| Arc::new(settings.with_branch(own)));
        let has_user_tasks = settings.checks.user_tasks().next().is_some();
        let mut definitions = None;
        if has_user_tasks || included_files::are_some(worktrees.repository(), commit).await? {
            definitions = self.definitions(worktrees, commit).await?;
        }
        if let Some(RulesDefinitions { included, .. }) =
            definitions.as_ref().filter(|found| !found.included.is_empty())
        {
            Arc::make_mut(&mut settings).protect.extend_from_slice(included);
        }
        let checkout = self.people_folder(worktrees);
        let definitions = definitions
            .filter(|_| has_user_tasks)
            .map(|RulesDefinitions { files, .. }| BranchDefinitions { files, checkout });
        let from = (has_own || definitions.is_some()).then(|| commit.clone());
        Ok(LandingRules { settings, definitions, from })
    }

    /// The rules for the work of an attempt, as the branch has them now. Where they cannot be read, nothing lands until they
    /// can; the attempt is measured by those of the checkout.
    pub(crate) async fn rules_for_attempt(
        &self,
        settings: &Arc<Settings>,
        worktrees: &Worktrees,
        task: &Task,
    ) -> Result<LandingRules, EngineError> {
        let project = self.project(task).await?;
        let Some(tip) = self.rules_tip(worktrees, project.as_ref()).await? else {
            return Ok(LandingRules::of_checkout(settings.clone()));
        };
        match self.rules_at(settings, worktrees, &tip.branch, &tip.commit).await {
            Err(error) if is_bad_rules(&error) => Ok(LandingRules::of_checkout(settings.clone())),
            rules => rules,
        }
    }

    /// Whether anything runs on the work of this task before it lands. Rules that cannot be read let nothing through.
    pub(crate) async fn is_checked(
        &self,
        settings: &Settings,
        project: Option<&Project>,
        task: &Task,
    ) -> Result<bool, EngineError> {
        match self.own_checks(project).await {
            Ok(Some(rules)) => Ok(settings.with_branch(rules).is_checked(task)),
            Ok(None) => Ok(settings.is_checked(task)),
            Err(error) if is_bad_rules(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The settings for a task, and whether anything runs on its work before it lands.
    pub(crate) async fn settings_and_checks(
        &self,
        task: &Task,
    ) -> Result<(Arc<Settings>, bool), EngineError> {
        let project = self.project(task).await?;
        let settings = self.settings_of(project.as_ref())?;
        let is_checked = self.is_checked(&settings, project.as_ref(), task).await?;
        Ok((settings, is_checked))
    }

    /// What the project's branch says, as far as it is on this machine.
    async fn own_checks(&self, project: Option<&Project>) -> Result<Option<BranchRules>, EngineError> {
        let source = self.source(project);
        if !self.folder_of(&source).is_dir() {
            return Ok(None);
        }
        let worktrees = self.open_source(&source).await?;
        match self.rules_tip(&worktrees, project).await? {
            Some(tip) => self.trusted_rules(&worktrees, &tip.branch, &tip.commit).await,
            None => Ok(None),
        }
    }

    /// The settings that work without a project lands by, for people to see. Rules that cannot be read are reported by their
    /// lane.
    pub async fn shown_settings(&self) -> Arc<Settings> {
        match self.own_checks(None).await {
            Ok(Some(rules)) => Arc::new(self.serving.with_branch(rules)),
            Ok(None) | Err(_) => self.serving.clone(),
        }
    }

    /// Whether the branch that everything lands on without a project has checks. True if nobody can say.
    pub(super) async fn has_checks(&self, project: Option<&Project>) -> bool {
        let own = self.own_checks(project).await.ok().map(|own| own.and_then(|own| own.checks));
        match own {
            Some(Some(checks)) => !checks.is_empty(),
            Some(None) => !self.settings_of(project).is_ok_and(|settings| settings.checks.is_empty()),
            None => true,
        }
    }

    /// Commands that came with a clone run only after a person has allowed them.
    async fn trusted_rules(
        &self,
        worktrees: &Worktrees,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<Option<BranchRules>, EngineError> {
        let Some(text) = read(worktrees.repository(), branch, commit).await? else { return Ok(None) };
        let rules = BranchRules::parse(&text, &named(branch))?;
        let root = self.people_folder(worktrees);
        // A remote without settings goes by those of the folder that is served, which are not its own.
        let root = (!worktrees.repository().is_clone() || root != self.place.root).then_some(root);
        let folder = self.rules_folder(worktrees, branch);
        if let Some(checks) = &rules.checks
            && let Some(untrusted) = folder_trust::untrusted_checks(checks, root.as_deref(), &folder).await?
        {
            // Kept where a person can read and allow it.
            write(&folder, &text).map_err(|error| FolderError::new(&folder, &error))?;
            return Err(ProjectError::Untrusted { path: folder, grants: untrusted.grants }.into());
        }
        Ok(Some(rules))
    }

    /// Where a person reads the settings of a branch.
    fn rules_folder(&self, worktrees: &Worktrees, branch: &BranchName) -> PathBuf {
        let name: String = branch.as_str().chars().map(|c| if c == '/' { '-' } else { c }).collect();
        let repository = worktrees.repository().folder();
        if worktrees.repository().is_clone() {
            return repository.with_extension(format!("{name}.rules"));
        }
        let of = repository.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let digest = Sha256::digest(repository.as_os_str().as_bytes());
        let digest = digest.iter().take(4).fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
        self.place.state_dir.join("rules").join(format!("{of}-{digest:08x}.{name}"))
    }

    /// The definitions of user tasks that the commit has, if it has a Taskfile.
    async fn definitions(
        &self,
        worktrees: &Worktrees,
        commit: &CommitId,
    ) -> Result<Option<RulesDefinitions>, EngineError> {
        if worktrees.repository().entry_at(commit, TASKFILE).await?.is_none() {
            return Ok(None);
        }
        let written = || self.definitions.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = written().get(commit).cloned();
        if let Some(known) = known.filter(|known| known.files.keep()) {
            return Ok(Some(known));
        }
        let files = worktrees.write_definitions(commit).await?;
        let included = Arc::new(included_files::globs(&files));
        let definitions = RulesDefinitions { files, included };
        let mut written = written();
        if written.len() >= COMMITS_MAX {
            written.clear();
        }
        written.insert(commit.clone(), definitions.clone());
        drop(written);
        Ok(Some(definitions))
    }
}

/// The checks that a branch itself has, if its settings say anything about them.
pub(crate) async fn checks_at(
    repository: &Repository,
    trunk: &BranchTip,
) -> Result<Option<Checks>, EngineError> {
    let Some(text) = read(repository, &trunk.branch, &trunk.commit).await? else { return Ok(None) };
    Ok(BranchRules::parse(&text, &named(&trunk.branch))?.checks)
}

/// In what the branch that work for `into` starts from differs from the checkout in `folder`, and how to change that.
pub(crate) async fn difference(
    repository: &Repository,
    into: &BranchName,
    trunk: Option<BranchTip>,
    folder: &Path,
) -> Result<Option<RulesDifference>, EngineError> {
    let Some(BranchTip { branch, commit: tip }) = trunk else { return Ok(None) };
    let branch = &branch;
    // Settings that cannot be read are reported where they are needed.
    let Ok(mine) = Settings::load(&settings_path(folder)) else { return Ok(None) };
    let own = match read(repository, branch, &tip).await? {
        Some(text) => BranchRules::parse(&text, &named(branch))?,
        None => BranchRules::default(),
    };
    let theirs = mine.with_branch(own);
    let has_other_checks =
        theirs.checks != mine.checks || theirs.check_timeout_seconds != mine.check_timeout_seconds;
    let has_user_tasks = || theirs.checks.user_tasks().next().is_some();
    let what = if has_other_checks || has_user_tasks() && has_other_tasks(repository, &tip, folder).await? {
        "has other checks than your checkout"
    } else if theirs.protect != mine.protect {
        "protects other files than your checkout"
    } else {
        return Ok(None);
    };
    Ok(Some(RulesDifference {
        detail: format!("{branch} {what}: landing uses the branch's"),
        fix: if branch != into {
            "to land by yours, commit .agent".to_owned()
        } else if *branch == BranchName::integration() {
            format!(
                "to land by yours, commit .agent and run git merge {branch} on your branch: work then starts from it"
            )
        } else {
            format!(
                "to land by yours, commit .agent and merge it: git switch {branch}, git merge -, git switch -"
            )
        },
    }))
}

/// What people are told where the branch and their checkout differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RulesDifference {
    pub(crate) detail: String,
    pub(crate) fix: String,
}

async fn has_other_tasks(
    repository: &Repository,
    tip: &CommitId,
    folder: &Path,
) -> Result<bool, EngineError> {
    let Some(theirs) = repository.read_file_at(tip, TASKFILE).await? else { return Ok(false) };
    Ok(fs::read(folder.join(TASKFILE)).map_or(true, |mine| mine != *theirs))
}

/// Whether what keeps work from landing is what the branch says.
fn is_bad_rules(error: &EngineError) -> bool {
    error.is::<SettingsError>() || error.is::<ProjectError>()
}

async fn read(
    repository: &Repository,
    branch: &BranchName,
    commit: &CommitId,
) -> Result<Option<String>, EngineError> {
    let Some(bytes) = repository.read_file_at(commit, SETTINGS).await? else { return Ok(None) };
    let unreadable = |error: std::str::Utf8Error| SettingsError::Malformed {
        path: named(branch),
        message: error.to_string(),
    };
    Ok(Some(std::str::from_utf8(&bytes).map_err(unreadable)?.to_owned()))
}

/// As git writes it: the branch and the path.
fn named(branch: &BranchName) -> PathBuf {
    format!("{branch}:{SETTINGS}").into()
}

fn write(folder: &Path, text: &str) -> std::io::Result<()> {
    let path = settings_path(folder);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    fs::write(folder.join(REMOTE_MARK), "")?;
    if fs::read_to_string(&path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    fs::write(&path, text)
}
