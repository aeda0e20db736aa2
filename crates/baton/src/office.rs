//! What a command works with: the repository's place, its store behind the desk, and who is asking.

use std::env;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use baton_core::actor::Actor;
use baton_core::answer_source::AnsweredBy;
use baton_core::id::{QuestionId, SessionId};
use baton_core::text::NonBlank;
use baton_engine::desk::Desk;
use baton_engine::engine::Engine;
use baton_engine::error::EngineError;
use baton_engine::ids::Ids;
use baton_engine::place::Place;
use baton_engine::recipes::RecipeLibrary;
use baton_engine::settings::Settings;
use baton_engine::store_address::StoreAddress;
use baton_engine::survey::assumed;
use baton_engine::workshop::Workshop;
use baton_engine::worktree::Watcher;
use baton_server::http::guard::HttpGuard;
use baton_server::state::App;
use tokio::sync::watch;

use crate::cli::Common;
use crate::fault::{Fault, UNREACHABLE};
use crate::output::{self, Progress};

#[derive(Clone)]
pub struct Office {
    pub desk: Desk,
    pub place: Place,
    pub is_json: bool,
    /// What takes long is told here.
    pub progress: Progress,
    person: String,
}

/// Where the command works, and the settings there.
pub fn find(common: &Common) -> Result<(Place, Settings), Fault> {
    let folder = env::current_dir().map_err(|error| {
        Fault::usage(format!("the current folder is gone: {error}"), "change into a folder that exists")
    })?;
    let mut place = Place::find(&folder, &common.place())?;
    let settings = Settings::load(&place.settings_path()).map_err(EngineError::from)?;
    if common.store.is_none() {
        place.store = settings.store.clone().unwrap_or_default();
    }
    Ok((place, settings))
}

/// Whoever is at the keyboard: as they call themselves, or as they are logged in.
pub fn person(settings: &Settings) -> String {
    let said = |name: &str| env::var(name).ok().filter(|name| !name.trim().is_empty());
    let of_settings = || settings.person.name.clone().filter(|name| !name.trim().is_empty());
    said("BATON_USER")
        .or_else(of_settings)
        .or_else(|| said("USER"))
        .or_else(|| said("LOGNAME"))
        .unwrap_or_else(|| "someone".to_owned())
}

impl Office {
    pub async fn open(common: &Common) -> Result<Self, Fault> {
        Self::at(find(common)?.0, common.json).await
    }

    pub async fn at(place: Place, is_json: bool) -> Result<Self, Fault> {
        // An agent is told which store it is and not how to get in; without a server it would only be turned away.
        if place.store != StoreAddress::File && env::var_os("BATON_TOKEN").is_some() {
            return Err(Fault {
                message: "agents reach the shared store through the server, and none answers here".to_owned(),
                hint: "it is baton up, on the machine the agent works on".to_owned(),
                code: UNREACHABLE,
            });
        }
        let recipes = RecipeLibrary::of(&place.root);
        let progress = Progress::new(is_json);
        let store = place.open_store_before(progress.onlooker()).await;
        progress.end();
        let desk = Desk::new(store?, Ids::random()).with_recipes(recipes);
        let settings = Settings::load(&place.settings_path()).map_err(EngineError::from)?;
        let person = person(&settings);
        Ok(Self { desk, place, is_json, progress, person })
    }

    /// The same for whoever works through an outage of a shared store: calls wait until it is back.
    pub fn patient(&self) -> Self {
        let desk = Desk { store: self.desk.store.patient(), ..self.desk.clone() };
        Self { desk, ..self.clone() }
    }

    /// A workshop for those who ask: they share what happens in it, but are told when the store is away.
    pub fn for_people(shop: &Workshop) -> Workshop {
        let desk = Desk { store: shop.desk.store.impatient(), ..shop.desk.clone() };
        Workshop { desk, ..shop.clone() }
    }

    /// The server's calls on this store, for this process alone.
    pub fn app(&self, settings: Settings, ending: watch::Receiver<bool>) -> App {
        let (place, say) = (self.place.clone(), Arc::new(output::talk));
        let shop = Workshop::new(self.desk.clone(), settings, place, own_program(), say);
        let guard = HttpGuard::new((Ipv4Addr::LOCALHOST, 0).into(), None);
        App::new(shop, self.person.clone(), guard, ending)
    }

    /// The engine on this repository, with its settings. It speaks on standard error.
    pub async fn engine(&self, agents: Option<u32>) -> Result<Engine, Fault> {
        self.engine_with(|settings| settings.max_agents = agents.unwrap_or(settings.max_agents)).await
    }

    /// The same, with settings that the command line changes.
    pub async fn engine_with(&self, change: impl FnOnce(&mut Settings) + Send) -> Result<Engine, Fault> {
        let mut settings = Settings::load(&self.place.settings_path()).map_err(EngineError::from)?;
        if !self.place.settings_path().exists() {
            assumed::take_installed_agent(&mut settings);
        }
        change(&mut settings);
        let (place, say) = (self.place.clone(), Arc::new(output::talk));
        let mut engine = Engine::new(self.desk.clone(), settings, place, own_program(), say).await?;
        let progress = self.progress.clone();
        // Where several are written at once, the bar shows the one that moved last.
        let watcher = Watcher::new(move |files| {
            if files.written < files.total {
                progress.late_at("Writing the worktree's files", files.written, files.total);
            } else {
                progress.end();
            }
        });
        engine.shop.git = engine.shop.git.watched_by(watcher);
        Ok(engine)
    }

    /// Whoever is logged in.
    pub fn person(&self) -> &str {
        &self.person
    }

    pub fn actor(&self) -> Actor {
        Actor::human(self.person.clone())
    }

    pub fn answered_by(&self) -> AnsweredBy {
        AnsweredBy::human(self.person.clone())
    }

    pub async fn close(&self) -> Result<(), Fault> {
        Ok(self.desk.close().await?)
    }

    pub fn question(text: &str) -> Result<QuestionId, Fault> {
        text.parse().map_err(|error: baton_core::id::BadId| {
            Fault::usage(error.to_string(), "see the open questions: baton questions")
        })
    }

    pub fn session(text: &str) -> Result<SessionId, Fault> {
        text.parse().map_err(|error: baton_core::id::BadId| {
            Fault::usage(error.to_string(), "use letters, digits, - and _")
        })
    }

    pub fn said(text: &str, what: &str) -> Result<NonBlank, Fault> {
        NonBlank::new(text)
            .map_err(|_| Fault::usage(format!("{what} is blank"), "write at least one visible character"))
    }
}

/// This very program, for agents that call it.
pub fn own_program() -> PathBuf {
    env::current_exe().unwrap_or_else(|_| PathBuf::from("baton"))
}
