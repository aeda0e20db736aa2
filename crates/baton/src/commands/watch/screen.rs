//! The terminal: keys and changes come in, the picture goes out.

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::{Duration, Instant};

use baton_server::client::EventStream;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::commands::watch::decision::WatchDecision;
use crate::commands::watch::draw::draw;
use crate::commands::watch::snapshot::WatchSnapshot;
use crate::commands::watch::state::{Pane, Request, WatchState};
use crate::commands::watch::{RECONNECT_AFTER, ROWS_MAX, detail};
use crate::context::api::Api;
use crate::context::server_file;
use crate::error::{CliError, UNREACHABLE};
use crate::options::GlobalOptions;
use crate::terminal::browser;
use crate::terminal::signals::Signals;

/// Ages and the countdown change without events; changes are gathered for as long.
const TICK: Duration = Duration::from_millis(250);
/// Keys that were typed and not yet handled.
const KEYS_MAX: usize = 256;

/// Why the screen is left.
enum Left {
    Quit,
    /// The server has ended.
    Away,
}

pub(crate) async fn run(options: &GlobalOptions) -> Result<(), CliError> {
    let mut keys = read_keys();
    // Fails before the screen is taken over, so that the message can be read.
    let mut api = Api::open(options).await?;
    let mut state = WatchState::new(WatchSnapshot::load(&api, ROWS_MAX).await?);
    let mut terminal = ratatui::init();
    let ended = loop {
        let was_served = api.is_served();
        let left =
            Box::pin(Screen { api: &api, state: &mut state, terminal: &mut terminal, keys: &mut keys }.run())
                .await;
        match left {
            Ok(Left::Quit) => break Ok(()),
            Err(error) if !was_served || error.code != UNREACHABLE => break Err(error),
            Ok(Left::Away) | Err(_) => {}
        }
        state.notice = Some("The server is away; waiting for it. q quits.".to_owned());
        if let Err(error) = api.close().await {
            ratatui::restore();
            return Err(error);
        }
        let Some(opened) = reconnect(options, &mut state, &mut terminal, &mut keys).await else {
            ratatui::restore();
            return Ok(());
        };
        api = opened;
    };
    ratatui::restore();
    api.close().await?;
    ended
}

/// None if the person does not want to wait.
async fn reconnect(
    options: &GlobalOptions,
    state: &mut WatchState,
    terminal: &mut DefaultTerminal,
    keys: &mut mpsc::Receiver<Event>,
) -> Option<Api> {
    loop {
        let _ = terminal.draw(|frame| draw(frame, state, Instant::now()));
        tokio::select! {
            () = sleep(RECONNECT_AFTER) => {}
            key = keys.recv() => {
                let quits = |request: &Request| *request == Request::Quit;
                if let Some(Event::Key(key)) = key && state.key(key, Instant::now()).iter().any(quits) {
                    return None;
                }
                continue;
            }
        }
        if let Ok(api) = Api::open(options).await {
            state.notice = None;
            return Some(api);
        }
    }
}

/// A thread of its own reads the terminal: reading blocks, and nothing else may.
fn read_keys() -> mpsc::Receiver<Event> {
    let (sender, keys) = mpsc::channel(KEYS_MAX);
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if sender.blocking_send(event).is_err() {
                return;
            }
        }
    });
    keys
}

struct Screen<'a> {
    api: &'a Api,
    state: &'a mut WatchState,
    terminal: &'a mut DefaultTerminal,
    keys: &'a mut mpsc::Receiver<Event>,
}

type Work<'a> = Pin<Box<dyn Future<Output = Result<String, CliError>> + 'a>>;

impl<'a> Screen<'a> {
    async fn run(mut self) -> Result<Left, CliError> {
        let api = self.api;
        let mut events = api.events(api.last_event().await?).await?;
        self.reload().await?;
        self.load_detail().await;
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut is_stale, mut decided) = (false, VecDeque::<WatchDecision>::new());
        let mut work: Option<Work<'a>> = None;
        let mut signals = Signals::install()?;
        loop {
            let now = Instant::now();
            let drawn = self.terminal.draw(|frame| draw(frame, self.state, now));
            drawn.map_err(|error| {
                CliError::failed(format!("cannot draw: {error}"), "baton status prints the same")
            })?;
            if work.is_none() {
                decided.extend(self.state.take_due(now));
                work = decided.pop_front().map(|decision| -> Work<'a> { Box::pin(decision.carry_out(api)) });
            }
            tokio::select! {
                key = self.keys.recv() => {
                    let Some(key) = key else { return Ok(Left::Quit) };
                    for request in self.requests(&key) {
                        match request {
                            Request::Quit => return self.quit(work, decided).await,
                            Request::LoadDetail => self.load_detail().await,
                            Request::CarryOut(decision) => decided.push_back(decision),
                            Request::OpenPage(task) => self.open_page(task.map(|task| task.to_string())),
                        }
                    }
                }
                () = signals.next() => return self.quit(work, decided).await,
                changed = next(&mut events) => {
                    if !changed? {
                        return Ok(Left::Away);
                    }
                    is_stale = true;
                }
                ended = finished(&mut work) => {
                    work = None;
                    is_stale = true;
                    self.state.notice = Some(match ended {
                        Ok(told) => format!("{told}."),
                        Err(error) if error.code == UNREACHABLE => return Err(error),
                        Err(error) => format!("{}; {}", error.message, error.hint),
                    });
                }
                _ = tick.tick() => {
                    if is_stale {
                        is_stale = false;
                        self.reload().await?;
                        self.load_detail().await;
                    } else if self.state.pane == Pane::Log && self.state.scroll == 0 {
                        // It grows without events.
                        self.load_detail().await;
                    }
                }
            }
        }
    }

    fn requests(&mut self, event: &Event) -> Vec<Request> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.state.key(*key, Instant::now()),
            // The next picture fits the new size.
            _ => Vec::new(),
        }
    }

    /// What was decided is done first.
    async fn quit(
        self,
        work: Option<Work<'a>>,
        mut decided: VecDeque<WatchDecision>,
    ) -> Result<Left, CliError> {
        if let Some(work) = work {
            work.await?;
        }
        decided.extend(self.state.take_pending());
        for decision in decided {
            decision.carry_out(self.api).await?;
        }
        Ok(Left::Quit)
    }

    async fn reload(&mut self) -> Result<(), CliError> {
        let snapshot = WatchSnapshot::load(self.api, ROWS_MAX).await?;
        if self.state.refresh(snapshot) {
            self.state.scroll = 0;
        }
        Ok(())
    }

    async fn load_detail(&mut self) {
        self.state.detail = detail::load(self.api, self.state.selected(), self.state.pane).await;
    }

    fn open_page(&mut self, task: Option<String>) {
        let address = server_file::recorded_url(&self.api.place).filter(|_| self.api.is_served());
        self.state.notice = Some(match address {
            Some(address) => {
                let url =
                    task.map_or_else(|| format!("{address}/"), |task| format!("{address}/tasks/{task}"));
                if browser::open(&url) { format!("Opened {url}") } else { url }
            }
            None => "No server is running here; start it: baton up".to_owned(),
        });
    }
}

/// False once the server has ended.
async fn next(events: &mut EventStream) -> Result<bool, CliError> {
    Ok(events.next().await?.is_some())
}

async fn finished(work: &mut Option<Work<'_>>) -> Result<String, CliError> {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}
