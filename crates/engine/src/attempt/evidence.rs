//! What an attempt came to: counted while it works, and measured in git when it is over.

use std::time::Instant;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::AttemptId;
use baton_core::base::text::{AgentName, Role};
use baton_core::recipe::run::GitObservation;
use baton_core::task::Task;
use baton_core::task::attempt::{CheckResult, Evidence, UsedAccounts};
use tokio::sync::watch;

use crate::attempt::agent_run::Worked;
use crate::attempt::context::AttemptContext;
use crate::attempt::error::AttemptError;
use crate::attempt::turns::{TurnAllowance, TurnCount};
use crate::base::error::EngineError;
use crate::git::{Checkout, CheckoutBase, Worktrees};
use crate::projects::landing_rules::LandingRules;
use crate::settings::Settings;
use crate::user_tasks::checks::{CheckGround, Checks};

/// What the shifts of one attempt used up together.
pub struct Spent {
    started: Instant,
    turns: TurnCount,
    input_tokens: u64,
    output_tokens: u64,
    cost_micro_usd: u64,
    accounts: Vec<AgentName>,
}

impl Spent {
    pub fn nothing() -> Self {
        Self {
            started: Instant::now(),
            turns: TurnCount::default(),
            input_tokens: 0,
            output_tokens: 0,
            cost_micro_usd: 0,
            accounts: Vec::new(),
        }
    }

    /// What the agent of a role may still use in this attempt.
    pub fn allowance(&self, settings: &Settings, role: &Role) -> Result<TurnAllowance, EngineError> {
        let no_agent = || AttemptError::NoAgent { role: role.clone() };
        Ok(self.turns.allow(settings.turn_limit(role).ok_or_else(no_agent)?))
    }

    /// Whether the attempt has used up its turns without anything to show in git.
    pub fn is_burned_out(&self, seen: GitObservation) -> bool {
        let commits = seen.commits.max(seen.files_changed);
        let (turns, turns_max) = (self.turns.used(), self.turns.max());
        let uncommitted_changes = seen.uncommitted > 0;
        Evidence { commits, uncommitted_changes, turns, turns_max, ..Evidence::default() }.is_burned_out()
    }

    pub fn add(&mut self, worked: &Worked) {
        let ended = &worked.ended;
        self.turns.add(&worked.limit, ended.turns);
        self.input_tokens = self.input_tokens.saturating_add(ended.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(ended.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(ended.cost_micro_usd);
        if let Some(account) = worked.account.as_ref().filter(|account| !self.accounts.contains(account)) {
            self.accounts.push(account.clone());
        }
    }
}

/// I15: Baton counts, in git, after the agent is gone. Doing it twice does it once. None when somebody asked for a stop
/// while the checks ran; an attempt that was stopped before them is settled without.
pub async fn measure(
    context: &AttemptContext,
    worktrees: &Worktrees,
    checkout: &Checkout,
    task: &Task,
    spent: &Spent,
    stop: &watch::Receiver<bool>,
) -> Result<Option<Evidence>, EngineError> {
    let worktrees = &worktrees.with_large_files(context.settings.large_file_bytes());
    let settled = worktrees.settle(checkout).await?;
    let measured = &settled.measured;
    // Before anything is written about it: what can be accepted must be there to be merged.
    context.projects.hand_in(worktrees, checkout, &measured.head).await?;
    let head = matches!(checkout.place, CheckoutBase::Task { .. }).then(|| measured.head.clone());
    let rules = context.projects.rules_for_attempt(&context.settings, worktrees, task).await?;
    let mut findings = settled.findings.clone();
    findings.extend(worktrees.protected_files(checkout, &measured.head, &rules.settings.protect).await?);
    let mut evidence = Evidence {
        accounts: (!spent.accounts.is_empty()).then(|| Box::new(UsedAccounts(spent.accounts.clone()))),
        commits: measured.commits,
        // What Baton committed for an attempt that this one went on from is work as well.
        uncommitted_changes: settled.uncommitted_changes
            || (measured.commits == 0 && measured.files_changed > 0),
        turns: spent.turns.used(),
        turns_max: spent.turns.max(),
        files_changed: measured.files_changed,
        insertions: measured.insertions,
        deletions: measured.deletions,
        input_tokens: spent.input_tokens,
        output_tokens: spent.output_tokens,
        cost_micro_usd: spent.cost_micro_usd,
        duration_ms: u64::try_from(spent.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        checks: Vec::new(),
        base: Some(measured.base.clone()),
        head,
        findings,
    };
    if evidence.shows_work() && !*stop.borrow() {
        // Not what the settings let an agent see: a check has no use for a model's key.
        let root = context.projects.people_folder(worktrees);
        let fence = context.projects.check_fence(worktrees, &checkout.folder)?;
        let mut site = context.agents.site(&root, &checkout.folder, checkout.attempt, &[]);
        site.fence = context.projects.check_task_fence(worktrees, &checkout.folder);
        site.memory_bytes_max = context.projects.command_memory_bytes();
        rules.define(&mut site);
        let ground = CheckGround {
            attempt: checkout.attempt,
            user_tasks: &context.agents.user_tasks,
            site: &site,
            live: None,
            timeout: rules.settings.check_timeout(),
            fence: Some(&fence.fence),
        };
        let checks = rules.settings.checks.verifying([task]);
        let Some(results) = checks.run_all(&ground, &mut stop.clone()).await? else { return Ok(None) };
        evidence.checks = results;
        // Before anybody is blamed: once more, and on what the work started from.
        let failed = checks.failed_in(&evidence.checks);
        if !failed.is_empty() {
            let Some(again) = failed.run_all(&ground, &mut stop.clone()).await? else { return Ok(None) };
            replace(&mut evidence.checks, again);
        }
        worktrees.undo_changes(checkout, &measured.head).await?;
        let failed = rules.settings.checks.failed_in(&evidence.checks);
        if !failed.is_empty() && measured.head != checkout.base {
            let trial = BaseTrial {
                checks: &failed,
                rules: &rules,
                commit: &checkout.base,
                attempt: checkout.attempt,
            };
            let Some(before) = trial.run(context, worktrees, stop).await? else { return Ok(None) };
            for check in &mut evidence.checks {
                check.fails_without =
                    before.iter().any(|other| other.name == check.name && other.exit_code != 0);
            }
        }
    }
    Ok(Some(evidence))
}

/// The newer results, in place of the older ones of the same checks.
fn replace(results: &mut [CheckResult], newer: Vec<CheckResult>) {
    for one in newer {
        if let Some(old) = results.iter_mut().find(|old| old.name == one.name) {
            *old = one;
        }
    }
}

/// Checks that failed, run where the work is not.
struct BaseTrial<'a> {
    checks: &'a Checks,
    rules: &'a LandingRules,
    commit: &'a CommitId,
    attempt: AttemptId,
}

impl BaseTrial<'_> {
    /// None when somebody asked for a stop meanwhile. A set-up that fails there says nothing about the work either way.
    async fn run(
        &self,
        context: &AttemptContext,
        worktrees: &Worktrees,
        stop: &watch::Receiver<bool>,
    ) -> Result<Option<Vec<CheckResult>>, EngineError> {
        let wanted = &context.settings.worktree;
        let setup = wanted.for_clone();
        let clone = worktrees.scratch_clone(&BranchName::integration(), self.commit, &setup).await?;
        let root = context.projects.people_folder(worktrees);
        let fence = context.projects.check_fence(worktrees, clone.folder())?;
        let mut site = context.projects.check_site(
            &root,
            clone.folder(),
            self.attempt,
            &clone.memory(),
            &context.agents.values,
        );
        site.fence = context.projects.check_task_fence(worktrees, clone.folder());
        let user_tasks = &context.agents.user_tasks;
        if let Some(name) = &wanted.setup {
            let ran =
                user_tasks.run_watched(&site, name, wanted.setup_timeout(), &mut stop.clone(), None).await?;
            match ran {
                None => return Ok(None),
                Some(ran) if !ran.succeeded => return Ok(Some(Vec::new())),
                Some(_) => {}
            }
        }
        self.rules.define(&mut site);
        let ground = CheckGround {
            attempt: self.attempt,
            user_tasks,
            site: &site,
            live: None,
            timeout: self.rules.settings.check_timeout(),
            fence: Some(&fence.fence),
        };
        let results = self.checks.run_all(&ground, &mut stop.clone()).await?;
        clone.remove().await?;
        Ok(results)
    }
}
