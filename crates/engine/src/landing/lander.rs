//! Works through a lane: checks what is to become the branch, moves the branch there, or sends a task back (I18).
//!
//! Every step rests on the store and the repository: the tasks in the lane, the branch's tip and the verdicts. So a crash
//! between any two steps leaves the branch at a commit that passed, and the next run goes on from there. Moving the branch
//! comes before calling its tasks done; a task whose work is already in the branch is done without another check.

use std::collections::BTreeSet;
use std::sync::Arc;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::landing::lane::{BATCH_MAX, LaneMember};
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;

use crate::base::announce::Announce;
use crate::base::error::EngineError;
use crate::cluster::node::Node;
use crate::git::Worktrees;
use crate::landing::ahead::ChecksAhead;
use crate::landing::batch::Batch;
use crate::landing::board::LandingBoard;
use crate::landing::check_room::CheckRoom;
use crate::landing::error::LandingError;
use crate::landing::foundations;
use crate::landing::ground::LaneGround;
use crate::landing::lanes::{self, Lane};
use crate::landing::lost;
use crate::projects::Projects;
use crate::projects::landing_rules::LandingRules;
use crate::projects::trunk::BranchTip;
use crate::settings::Settings;
use crate::tasks::service::TaskService;
use crate::user_tasks::UserTasks;

/// Cheap to clone.
#[derive(Clone)]
pub struct Lander {
    pub(crate) tasks: TaskService,
    pub(crate) projects: Projects,
    /// Of the person, for the project of the lane.
    pub(crate) settings: Arc<Settings>,
    /// By which the work in the lane is judged.
    pub(crate) rules: LandingRules,
    pub(crate) user_tasks: UserTasks,
    pub(crate) announce: Announce,
    pub board: LandingBoard,
    pub(crate) room: CheckRoom,
    pub(crate) node: Node,
}

/// What is remembered from one step of a lane to the next. All of it can be lost: the verdicts lead there again.
#[derive(Default)]
pub(crate) struct LaneRound {
    /// Candidates of a batch stay together until it is decided: one that comes in later does not start the search anew.
    together: Vec<TaskId>,
    pub ahead: ChecksAhead,
    /// Whom the branch fails without, each with the commit that failed.
    pub delayed: BTreeSet<(TaskId, CommitId)>,
    /// A person asks for another look at a branch that failed.
    pub looks_again: bool,
    /// Who waited before has been looked at.
    pub has_begun: bool,
    /// Somebody was told what is gone of what had landed.
    has_looked_for_lost: bool,
}

impl LaneRound {
    /// Leaves out who waits for the branch, and what rests on them.
    pub(crate) fn without_delayed(&self, ground: &CommitId, waiting: Vec<Task>) -> Vec<Task> {
        let at_ground = self.delayed.iter().filter(|(_, at)| at == ground);
        let mut left_out: BTreeSet<TaskId> = at_ground.map(|(task, _)| *task).collect();
        let mut rest = Vec::new();
        for task in waiting {
            let rests = task.ledger().rests_on.iter().any(|on| left_out.contains(on));
            if rests || left_out.contains(&task.id()) {
                left_out.insert(task.id());
            } else {
                rest.push(task);
            }
        }
        rest
    }
}

impl Lander {
    pub fn new(
        projects: Projects,
        settings: Arc<Settings>,
        user_tasks: UserTasks,
        node: Node,
        board: LandingBoard,
        room: CheckRoom,
        announce: Announce,
    ) -> Self {
        let rules = LandingRules::of_checkout(settings.clone());
        Self {
            tasks: projects.tasks.clone(),
            projects,
            settings,
            rules,
            user_tasks,
            announce,
            board,
            room,
            node,
        }
    }

    /// Works on the lane of this task until the task has left it. For commands that run without a server. A branch that
    /// failed before is looked at again, because a person asks.
    pub async fn land(&self, task: TaskId) -> Result<(), EngineError> {
        self.look_again(task).await?;
        while let Some(lane) = lanes::find(&self.projects, task).await? {
            self.work(&lane).await?;
        }
        Ok(())
    }

    /// A person wants the lane of this task to go on now: what kept it before is tried again.
    pub async fn look_again(&self, task: TaskId) -> Result<(), EngineError> {
        if let Some(lane) = lanes::find(&self.projects, task).await? {
            self.board.request_look(&lane.key);
        }
        Ok(())
    }

    /// Sends back what contains work that was cancelled: it would never land.
    pub async fn settle_resting(&self, lane: &Lane) -> Result<(), EngineError> {
        for LaneMember { task, .. } in &lane.resting {
            let unmet = foundations::unmet(&self.projects, task).await?;
            if let Some(gone) = unmet.iter().find(|found| found.is_cancelled) {
                self.send_back(task, NotLanded::RestsOnCancelled { task_id: gone.task }).await?;
            }
        }
        Ok(())
    }

    /// Works on the lane until it is empty.
    pub async fn work(&self, lane: &Lane) -> Result<(), EngineError> {
        let worked = match self.projects.settings_to_work_by(lane.project.as_ref()).await {
            Ok(settings) => self.with_settings(settings).work_through(lane).await,
            Err(error) => Err(error),
        };
        match &worked {
            Ok(()) => self.board.note_idle(&lane.key),
            Err(error) => {
                let is_red = matches!(
                    error.get::<LandingError>(),
                    Some(LandingError::BranchFails { .. } | LandingError::StartFails { .. })
                );
                self.board.note_error(&lane.key, format!("{error}; {}", error.hint()), is_red);
            }
        }
        worked
    }

    /// The same for a lane of a project with these settings.
    fn with_settings(&self, settings: Arc<Settings>) -> Self {
        let rules = LandingRules::of_checkout(settings.clone());
        Self {
            projects: self.projects.with_settings(&settings),
            user_tasks: self.user_tasks.with_settings(&settings.user_tasks),
            settings,
            rules,
            ..self.clone()
        }
    }

    /// The same by the rules that the branch has at this commit.
    pub(crate) async fn by_rules_at(
        &self,
        worktrees: &Worktrees,
        trunk: &BranchTip,
    ) -> Result<Self, EngineError> {
        let rules = self.projects.rules_at(&self.settings, worktrees, &trunk.branch, &trunk.commit).await?;
        Ok(Self { rules, ..self.clone() })
    }

    async fn work_through(&self, lane: &Lane) -> Result<(), EngineError> {
        let mut round = LaneRound { looks_again: self.board.take_look(&lane.key), ..LaneRound::default() };
        loop {
            let mut waiting = lanes::waiting(&self.projects, &lane.key).await?;
            if waiting.is_empty() {
                return Ok(());
            }
            let worktrees = self.open(&waiting).await?;
            if !std::mem::replace(&mut round.has_looked_for_lost, true)
                && let Some(lost) = lost::find(worktrees.repository(), &lane.key.branch).await?
            {
                (self.announce)(&format!("{}; {}", lost.detail, lost.fix));
            }
            let Some(mut staying) = self.send_back_withdrawn(lane, &worktrees, &waiting).await? else {
                continue;
            };
            waiting.retain(|task| !staying.contains_key(&task.id()));
            if let (true, Some((_, reason))) = (waiting.is_empty(), staying.pop_first()) {
                return Err(reason.into());
            }
            let tip = worktrees.repository().tip_of_existing(&lane.key.branch).await?;
            let at_tip = BranchTip { branch: lane.key.branch.clone(), commit: tip.clone() };
            let LaneGround { lander, ground, tasks: mut waiting } =
                self.choose_ground(lane, &worktrees, at_tip, &waiting, &mut round).await?;
            round.together.retain(|id| waiting.iter().any(|task| task.id() == *id));
            let (first, behind): (Vec<Task>, Vec<Task>) = if round.together.is_empty() {
                let behind = waiting.split_off(waiting.len().min(BATCH_MAX));
                (waiting, behind)
            } else {
                waiting.into_iter().partition(|task| round.together.contains(&task.id()))
            };
            let mut batch = Batch::build(&worktrees, &lane.key.branch, tip, ground, first).await?;
            if lander.settle_early(lane, &worktrees, &batch, &mut round).await? {
                continue;
            }
            if batch.members.is_empty() {
                return Ok(());
            }
            batch.end_at_new_rules(&worktrees).await?;
            round.together = batch.ids(batch.members.len());
            if lander.step(lane, &worktrees, &batch, &behind, &mut round).await? {
                round.together.clear();
            }
        }
    }

    /// The repository, with what other machines pushed for these tasks.
    async fn open(&self, waiting: &[Task]) -> Result<Worktrees, EngineError> {
        let mut worktrees = None;
        for task in waiting {
            let (found, _) = self.projects.repository_as_shared(task).await?;
            let is_clone = found.repository().is_clone();
            worktrees = Some(found);
            if !is_clone {
                break;
            }
        }
        worktrees.ok_or_else(|| LandingError::EmptyLane.into())
    }
}
