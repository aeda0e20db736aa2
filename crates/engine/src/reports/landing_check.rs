//! What `baton doctor` says about landing: rules that differ from the checkout, checks that cannot run, files that nothing
//! protects, and a policy without anything to go by.

use std::path::Path;

use baton_agents::probe::is_installed;
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::git_name::BranchName;
use baton_core::base::path_glob;
use baton_taskfile::Taskfile;

use crate::base::error::EngineError;
use crate::git::{Git, Repository};
use crate::landing::lost;
use crate::projects::landing_rules;
use crate::projects::trunk::{BranchTip, trunk_of};
use crate::reports::doctor::{Condition, Finding};
use crate::settings::Settings;
use crate::settings::location::StateLocation;
use crate::user_tasks::TASKFILE;
use crate::user_tasks::checks::{CheckSpec, Deed};

pub(super) async fn check_landing(place: &StateLocation, settings: &Settings) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        settings.checks.iter().filter_map(|check| missing_part(&place.root, check)).collect();
    let Ok(repository) = Repository::open(&Git::on_path(), &place.root).await else { return findings };
    let trunk = trunk_of(&repository).await.ok().flatten();
    let has_checks = match effective_checks(&repository, trunk.as_ref(), settings).await {
        Ok(has_checks) => has_checks,
        Err(error) => {
            findings.push(Finding::broken("landing", &error));
            return findings;
        }
    };
    findings.extend(policy_without_checks(settings.accept_when, has_checks));
    findings.extend(lost_work(&repository).await);
    let head = trunk.as_ref().map_or("HEAD", |trunk| trunk.commit.as_str()).to_owned();
    findings.extend(unmatched_globs(&repository, &head, &settings.protect).await);
    match landing_rules::difference(&repository, &BranchName::integration(), trunk, &place.root).await {
        Ok(difference) => {
            findings.extend(difference.map(|found| Finding::note("landing", found.detail, found.fix)));
        }
        Err(error) => findings.push(Finding::broken("landing", &error)),
    }
    findings
}

/// Somebody deleted the branch or moved it back.
async fn lost_work(repository: &Repository) -> Option<Finding> {
    let lost = lost::find(repository, &BranchName::integration()).await.ok()??;
    Some(Finding::note("landing", lost.detail, lost.fix))
}

async fn effective_checks(
    repository: &Repository,
    trunk: Option<&BranchTip>,
    settings: &Settings,
) -> Result<bool, EngineError> {
    let checks = match trunk {
        Some(trunk) => landing_rules::checks_at(repository, trunk).await?,
        None => None,
    };
    Ok(!checks.as_ref().unwrap_or(&settings.checks).is_empty())
}

fn policy_without_checks(policy: AcceptPolicy, has_checks: bool) -> Option<Finding> {
    let name = match policy {
        AcceptPolicy::Green => "green",
        AcceptPolicy::Reviewed => "reviewed",
        AcceptPolicy::Person => return None,
    };
    let detail = format!(
        "accept_when = \"{name}\" accepts only work that something has checked, and there are no checks: finished work without \
         --verify waits for you"
    );
    let fix = "name checks in .agent/baton.toml: checks = [\"test\"], or [checks] with commands";
    (!has_checks).then(|| Finding::note("landing", detail, fix))
}

/// Nothing that this check is made of may be missing: it would fail on every work, after an agent has done it.
fn missing_part(root: &Path, check: &CheckSpec) -> Option<Finding> {
    let (detail, fix) = match &check.deed {
        Deed::UserTask(name) => {
            let path = root.join(TASKFILE);
            if !path.is_file() {
                (
                    format!("the check {} is the user task {name}, and there is no {TASKFILE}", check.name),
                    format!("write {TASKFILE} with that task, or take the check out of the settings"),
                )
            } else if Taskfile::open(root, &path).is_ok_and(|taskfile| taskfile.find(name).is_err()) {
                (
                    format!(
                        "the check {} is the user task {name}, which {TASKFILE} does not have",
                        check.name
                    ),
                    "see which there are: baton do --list".to_owned(),
                )
            } else {
                return None;
            }
        }
        Deed::Command(words) => {
            let program = words.first()?;
            let is_there = if program.contains('/') {
                root.join(program).is_file()
            } else {
                is_installed(program, &AgentEnvironment::allowed(std::env::vars_os(), &[]))
            };
            if is_there {
                return None;
            }
            (
                format!("the check {} runs {program}, which is not there", check.name),
                "install it, or correct the check in the settings".to_owned(),
            )
        }
    };
    Some(Finding { what: "checks", condition: Condition::Broken, detail, fix: Some(fix) })
}

/// A glob that matches nothing protects nothing: mostly a slip of the pen.
async fn unmatched_globs(repository: &Repository, commit: &str, globs: &[String]) -> Vec<Finding> {
    // The default is for files that may come later.
    let is_own = |glob: &&String| glob.as_str() != ".agent/**";
    let own: Vec<&String> = globs.iter().filter(is_own).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let Ok(files) = repository.files_at(commit).await else { return Vec::new() };
    let unmatched = own.into_iter().filter(|glob| !files.iter().any(|file| path_glob::matches(glob, file)));
    let note = |glob: &String| {
        let detail = format!("protect has \"{glob}\", which matches no file of the branch");
        Finding::note("protect", detail, "correct it in the settings, unless such files are still to come")
    };
    unmatched.map(note).collect()
}
