//! A whole engine in a folder of its own, with an agent in the shell's language.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::{AttemptId, ProjectId, TaskId};
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::project::Project;
use baton_core::schedule::WorkerFit;
use baton_core::task::TaskSpec;
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_core::task::state::QueueName;
use baton_core::transition::command::Command;
use baton_engine::base::ids::Ids;
use baton_engine::git::{Checkout, CheckoutBase, CheckoutSpec, Git, Repository, Setup};
use baton_engine::services::engine::Engine;
use baton_engine::settings::Settings;
use baton_engine::settings::location::{LocationOptions, StateLocation};
use baton_engine::tasks::service::TaskService;
use baton_store::model::claim::ClaimRequest;
use tempfile::TempDir;
use tokio::sync::watch;

use crate::fixture::{mia, spec};

pub(crate) struct Works {
    _scratch: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) engine: Engine,
}

impl Works {
    /// `agent` finds its prompt in `$prompt` and the test's folder in `$home`.
    pub(crate) async fn new(agent: &str, settings: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        let root = home.join("repository");
        Repository::make_scratch(&Git::find().await.unwrap(), &root, "# Here\n").await.unwrap();
        let program = home.join("agent.sh");
        let identity =
            "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
        let text = format!("set -eu\nprompt=$(cat)\nhome='{}'\n{identity}\n{agent}\n", home.display());
        std::fs::write(&program, text).unwrap();
        let text = format!(
            "default_agent = \"mine\"\n{settings}\n[agents.mine]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\n",
            program.display()
        );
        let settings = Settings::parse(&text, &home).unwrap();
        let place = StateLocation::find(&root, &LocationOptions::default()).unwrap();
        let tasks = TaskService::new(place.open_store().await.unwrap(), Ids::counted());
        let engine = Engine::new(tasks, settings, place, "baton".into(), Arc::new(|_: &str| {}));
        Self { home, engine: engine.await.unwrap(), _scratch: scratch }
    }

    pub(crate) fn tasks(&self) -> &TaskService {
        &self.engine.workspace.tasks
    }

    pub(crate) async fn project(&self) -> ProjectId {
        let id = ProjectId::from_bits(0xabcd_0001);
        let project = Project {
            id,
            title: crate::fixture::text("A greeter for everyone"),
            description: String::new(),
            path: self.engine.workspace.place.root.display().to_string(),
            base_branch: "main".parse().unwrap(),
            feature_branch: Some(BranchName::feature(id)),
            remote: None,
            at_once_max: None,
            created_at: self.tasks().store.now().await.unwrap(),
            completed_at: None,
        };
        self.tasks().write(Change::new().put(Record::Project(project), WriteGuard::New)).await.unwrap();
        id
    }

    pub(crate) async fn add(&self, title: &str, change: impl Fn(&mut TaskSpec) + Send + Sync) -> TaskId {
        let made = self.tasks().add_task(&[], mia(), |id, now| {
            let mut made = spec(title, id, now);
            change(&mut made);
            made
        });
        made.await.unwrap().id()
    }

    pub(crate) async fn queue(&self, task: TaskId) -> QueueName {
        self.tasks().task(task).await.unwrap().value.state().queue()
    }

    /// Runs agents until the task is there.
    pub(crate) async fn work_until(&self, task: TaskId, queue: QueueName) {
        let (stop, shutdown) = watch::channel(false);
        let waiting = async {
            let mut changes = self.tasks().changes();
            while self.queue(task).await != queue {
                changes.changed().await.unwrap();
            }
            stop.send(true).unwrap();
        };
        let (worked, ()) = tokio::join!(Box::pin(self.engine.run(shutdown)), waiting);
        worked.unwrap();
    }

    /// Claims a task by hand, with its worktree made and something written in it.
    pub(crate) async fn begin(&self, task: TaskId) -> (AttemptId, Checkout) {
        let settings = &self.engine.workspace.settings;
        let attempt = self.tasks().ids.attempt();
        let request = ClaimRequest {
            agents: [(baton_core::base::text::Role::implement(), "mine".parse().unwrap())].into(),
            worker: "here".to_owned(),
            attempt_ids: vec![attempt],
            lease_ms: 60_000,
            capacity: settings.capacity(),
            intakes: BTreeMap::default(),
            fit: WorkerFit::default(),
            actor: Actor::Baton,
        };
        let claimed = self.tasks().store.claim(request).await.unwrap();
        assert_eq!(claimed[0].task.value.id(), task);
        let (worktrees, from) =
            self.engine.workspace.projects.repository(&claimed[0].task.value).await.unwrap();
        let place = CheckoutBase::Task { branch: BranchName::for_task(task), from, ahead: None };
        let made = CheckoutSpec { attempt, place, resumes: None, setup: Setup::default() };
        let checkout = worktrees.create(&made).await.unwrap();
        std::fs::write(checkout.folder.join("written"), attempt.to_string()).unwrap();
        (attempt, checkout)
    }

    pub(crate) async fn settle(&self, task: TaskId, attempt: AttemptId) {
        let verified = Evidence { commits: 1, turns: 5, turns_max: 50, ..Evidence::default() };
        let end = AttemptEnd { reported: AttemptReport::new(AttemptResult::Complete, "Done."), verified };
        self.tasks().apply(task, Command::Settle { attempt, end }, Actor::Baton).await.unwrap();
    }
}
