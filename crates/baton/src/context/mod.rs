//! What a command works with: the open store and its user ([`CliContext`]), or the API of a server or of the store
//! ([`api::Api`]), how both find each other ([`server_file`]), and whether an attempt calls ([`attempt`]).

pub(crate) mod agent_endpoint;
pub(crate) mod api;
pub(crate) mod attempt;
pub(crate) mod server_file;
pub(crate) mod trust;

use std::env;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::base::id::{QuestionId, SessionId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_engine::base::attempt_secret::AttemptSecret;
use baton_engine::base::error::EngineError;
use baton_engine::base::ids::Ids;
use baton_engine::cluster::node::Node;
use baton_engine::fence::FENCED;
use baton_engine::git::Watcher;
use baton_engine::reports::checkout;
use baton_engine::reports::survey::assumed;
use baton_engine::services::engine::Engine;
use baton_engine::services::workspace::Workspace;
use baton_engine::settings::Settings;
use baton_engine::settings::folder_kind::FolderKind;
use baton_engine::settings::location::{StateLocation, describe_unread};
use baton_engine::settings::recipes::RecipeLibrary;
use baton_engine::settings::store_address::StoreAddress;
use baton_engine::tasks::service::TaskService;
use baton_server::http::guard::HttpGuard;
use baton_server::state::App;
use tokio::sync::watch;

use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{self, ProgressBar};

#[derive(Clone)]
pub(crate) struct CliContext {
    pub(crate) tasks: TaskService,
    pub(crate) place: StateLocation,
    pub(crate) is_json: bool,
    /// Progress of long operations.
    pub(crate) progress: ProgressBar,
    person: String,
}

/// The repository to work on, and its settings.
pub(crate) fn find(options: &GlobalOptions) -> Result<(StateLocation, Settings), CliError> {
    let folder = current_dir()?;
    let mut place = StateLocation::find(&folder, &options.place())?;
    let settings = Settings::load(&place.settings_path()).map_err(EngineError::from)?;
    if options.store.is_none() {
        place.store = settings.store.clone().unwrap_or_default();
    }
    Ok((place, settings))
}

/// A bare repository has no files that anything could be done with.
pub(crate) fn refuse_bare(place: &StateLocation) -> Result<(), CliError> {
    let root = place.root.display();
    match place.kind() {
        FolderKind::Bare => Err(CliError::refused(
            format!("{root} is a bare repository, without files to work on"),
            format!("clone it and run baton in the clone: git clone {root}"),
        )),
        FolderKind::Checkout | FolderKind::Deleted | FolderKind::Plain => Ok(()),
    }
}

/// A store belongs to a repository, unless the person names a folder for it or it is on a server.
fn refuse_outside_repository(place: &StateLocation) -> Result<(), CliError> {
    let root = place.root.display();
    match place.kind() {
        FolderKind::Checkout => Ok(()),
        FolderKind::Bare => refuse_bare(place),
        FolderKind::Deleted | FolderKind::Plain
            if place.has_own_state_dir() || place.store != StoreAddress::File =>
        {
            Ok(())
        }
        FolderKind::Deleted => Err(CliError::refused(
            format!("the repository of {root} is gone: it has no .git any more"),
            format!(
                "restore it from a backup or a remote; the tasks are still in {}",
                place.state_dir.display()
            ),
        )),
        FolderKind::Plain => Err(CliError::refused(
            format!("{root} is not in a git repository"),
            "change into a repository, or make one: git init && git commit --allow-empty -m start",
        )),
    }
}

/// Says on standard error that a settings file near the current folder is not the one in use.
pub(crate) fn mention_unread(place: &StateLocation) {
    if let Some(unread) = env::current_dir().ok().and_then(|folder| place.unread_settings(&folder)) {
        output::talk(&describe_unread(&unread, &place.root));
    }
}

pub(crate) fn current_dir() -> Result<PathBuf, CliError> {
    env::current_dir().map_err(|error| {
        CliError::usage(
            format!("the current directory does not exist: {error}"),
            "change to an existing directory",
        )
    })
}

/// Longest name that a person acts under.
const NAME_CHARS_MAX: usize = 64;

/// The user: from `BATON_USER`, the settings, or the login name. A name that cannot be recorded is refused: what is done must
/// not be recorded under another one.
pub(crate) fn user_name(settings: &Settings) -> Result<String, CliError> {
    let variable = |name: &str| env::var(name).ok().filter(|name| !name.trim().is_empty());
    let from_settings = || settings.person.name.clone().filter(|name| !name.trim().is_empty());
    let name = variable("BATON_USER")
        .or_else(from_settings)
        .or_else(|| variable("USER"))
        .or_else(|| variable("LOGNAME"))
        .unwrap_or_else(|| "you".to_owned());
    if name.chars().any(char::is_control) || name.chars().count() > NAME_CHARS_MAX {
        return Err(CliError::usage(
            format!("invalid name of a person: {name:?}"),
            format!("set BATON_USER to one line of at most {NAME_CHARS_MAX} characters"),
        ));
    }
    Ok(name)
}

impl CliContext {
    pub(crate) async fn open(options: &GlobalOptions) -> Result<Self, CliError> {
        Self::open_at(find(options)?.0, options.json).await
    }

    /// The store of a place. I19: whoever has it open can decide anything, so a process of an attempt does not get it.
    pub(crate) async fn open_at(place: StateLocation, is_json: bool) -> Result<Self, CliError> {
        attempt::check_is_person(&place)?;
        Self::open_store(place, is_json).await
    }

    /// The same for the tools of an attempt, known by its secret.
    pub(crate) async fn open_for_attempt(
        place: StateLocation,
        is_json: bool,
        secret: &AttemptSecret,
    ) -> Result<Self, CliError> {
        attempt::check_own_secret(&place, secret.attempt())?;
        Self::open_store(place, is_json).await
    }

    async fn open_store(place: StateLocation, is_json: bool) -> Result<Self, CliError> {
        // Agents know the store's address but not its password, and in a fence there is no store at all.
        let is_agent = env::var_os("BATON_TOKEN").is_some();
        if (place.store != StoreAddress::File && is_agent) || env::var_os(FENCED).is_some() {
            return Err(CliError::unreachable(
                "agents reach the store through a server, and none is running here",
                "start baton up on this machine",
            ));
        }
        refuse_outside_repository(&place)?;
        if place.store != StoreAddress::File {
            trust::check_store(&place).await?;
        }
        let recipes = RecipeLibrary::for_repository(&place.root);
        let progress = ProgressBar::new(is_json);
        let store = place.open_store_with(progress.onlooker()).await;
        progress.end();
        let tasks = TaskService::new(store?, Ids::random()).with_recipes(recipes).at_root(&place.root);
        let settings = Settings::load(&place.settings_path()).map_err(EngineError::from)?;
        let person = user_name(&settings)?;
        Ok(Self { tasks, place, is_json, progress, person })
    }

    /// The same for services that outlast an outage of a shared store: calls wait until it is back.
    pub(crate) fn waiting_for_store(&self) -> Self {
        let tasks = TaskService { store: self.tasks.store.patient(), ..self.tasks.clone() };
        Self { tasks, ..self.clone() }
    }

    /// The same workspace for requests of people: calls fail soon if the store is unreachable.
    pub(crate) fn fail_fast(workspace: &Workspace) -> Workspace {
        let tasks = TaskService { store: workspace.tasks.store.impatient(), ..workspace.tasks.clone() };
        workspace.on_store(&tasks)
    }

    /// The API on this store, for this process only.
    pub(crate) fn app(&self, settings: Settings, ending: watch::Receiver<bool>) -> App {
        let workspace = self.workspace(settings);
        let guard = HttpGuard::new((Ipv4Addr::LOCALHOST, 0).into(), None);
        App::new(workspace, self.person.clone(), guard, ending)
    }

    /// The parts of this process, none of which runs. Their messages go to standard error.
    pub(crate) fn workspace(&self, settings: Settings) -> Workspace {
        let (place, say) = (self.place.clone(), Arc::new(output::talk));
        let node = Node::new(&place);
        Workspace::new(self.tasks.clone(), settings, place, node, own_program(), say)
    }

    /// An engine for this repository. Its messages go to standard error.
    pub(crate) async fn engine(&self, agents: Option<u32>) -> Result<Engine, CliError> {
        self.engine_with(|settings| settings.max_agents = agents.unwrap_or(settings.max_agents)).await
    }

    /// The same, with settings changed by the command line.
    pub(crate) async fn engine_with(
        &self,
        change: impl FnOnce(&mut Settings) + Send,
    ) -> Result<Engine, CliError> {
        trust::check(&self.place).await?;
        for note in checkout::notable(&self.place.root).await {
            output::talk(&format!("Note: {}; {}.", note.detail, note.fix));
        }
        baton_engine::secrecy::forbid_inspection();
        let mut settings = self.settings()?;
        assumed::use_installed_agent(&mut settings);
        change(&mut settings);
        let (place, say) = (self.place.clone(), Arc::new(output::talk));
        let mut engine = Engine::new(self.tasks.clone(), settings, place, own_program(), say).await?;
        let progress = self.progress.clone();
        // With several checkouts at once, the bar shows the latest one.
        let watcher = Watcher::new(move |files| {
            if files.written < files.total {
                progress.late_at("Checking out files", files.written, files.total);
            } else {
                progress.end();
            }
        });
        engine.workspace.projects.git = engine.workspace.projects.git.watched_by(watcher);
        Ok(engine)
    }

    pub(crate) fn settings(&self) -> Result<Settings, CliError> {
        Ok(Settings::load(&self.place.settings_path()).map_err(EngineError::from)?)
    }

    /// The name of the user.
    pub(crate) fn person(&self) -> &str {
        &self.person
    }

    pub(crate) fn actor(&self) -> Actor {
        Actor::human(self.person.clone())
    }

    pub(crate) fn answered_by(&self) -> AnsweredBy {
        AnsweredBy::human(self.person.clone())
    }

    pub(crate) async fn close(&self) -> Result<(), CliError> {
        Ok(self.tasks.close().await?)
    }

    pub(crate) fn parse_question_id(text: &str) -> Result<QuestionId, CliError> {
        text.parse().map_err(|error: baton_core::base::id::InvalidId| {
            CliError::usage(error.to_string(), "list pending questions: baton questions")
        })
    }

    pub(crate) fn parse_session_id(text: &str) -> Result<SessionId, CliError> {
        text.parse().map_err(|error: baton_core::base::id::InvalidId| {
            CliError::usage(error.to_string(), "use letters, digits, - and _")
        })
    }

    pub(crate) fn non_blank(text: &str, what: &str) -> Result<NonBlank, CliError> {
        NonBlank::new(text)
            .map_err(|_| CliError::usage(format!("{what} is blank"), "write at least one visible character"))
    }
}

/// The path of this program, for agents that call it.
pub(crate) fn own_program() -> PathBuf {
    env::current_exe().unwrap_or_else(|_| PathBuf::from("baton"))
}
