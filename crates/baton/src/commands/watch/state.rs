//! What is selected, typed and about to happen. Pure: keys come in, requests go out.

use std::time::{Duration, Instant};

use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_engine::reports::standstill::StandstillReason;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::commands::watch::decision::WatchDecision;
use crate::commands::watch::rows::{RowKind, Section, WatchRow, rows};
use crate::commands::watch::snapshot::WatchSnapshot;

/// As long as on the pages.
const UNDO_FOR: Duration = Duration::from_secs(8);
/// Lines that a page key moves.
const PAGE_LINES: u16 = 10;

/// What the right half shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pane {
    Details,
    Log,
    Changes,
}

impl Pane {
    pub(crate) const ALL: [Self; 3] = [Self::Details, Self::Log, Self::Changes];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Details => "Details",
            Self::Log => "Log",
            Self::Changes => "Changes",
        }
    }

    const fn next(self) -> Self {
        match self {
            Self::Details => Self::Log,
            Self::Log => Self::Changes,
            Self::Changes => Self::Details,
        }
    }
}

/// What a typed line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Answer(QuestionId),
    RejectReason(TaskId),
    CancelReason(TaskId),
    Message(TaskId),
}

impl Wanted {
    pub(crate) const fn prompt(self) -> &'static str {
        match self {
            Self::Answer(_) => "Your answer",
            Self::RejectReason(_) => "What should change",
            Self::CancelReason(_) => "Why cancel",
            Self::Message(_) => "To the agent",
        }
    }

    fn decision(self, text: &str) -> WatchDecision {
        match self {
            Self::Answer(question) => WatchDecision::answer(question, text),
            Self::RejectReason(task) => WatchDecision::reject(task, text),
            Self::CancelReason(task) => WatchDecision::cancel(task, text),
            Self::Message(task) => WatchDecision::say(task, text),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    Browsing,
    Typing { wanted: Wanted, text: String },
    Help,
}

/// What the keys ask for.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    Quit,
    /// The right half shows something else.
    LoadDetail,
    CarryOut(WatchDecision),
    OpenPage(Option<TaskId>),
}

pub(crate) struct WatchState {
    pub(crate) rows: Vec<WatchRow>,
    pub(crate) snapshot: WatchSnapshot,
    selected: usize,
    pub(crate) pane: Pane,
    /// Lines above the shown part; for a log, lines below it.
    pub(crate) scroll: u16,
    pub(crate) mode: Mode,
    /// Decided and not yet sent.
    pending: Option<(WatchDecision, Instant)>,
    pub(crate) notice: Option<String>,
    pub(crate) detail: String,
}

impl WatchState {
    pub(crate) fn new(snapshot: WatchSnapshot) -> Self {
        Self {
            rows: rows(&snapshot),
            snapshot,
            selected: 0,
            pane: Pane::Details,
            scroll: 0,
            mode: Mode::Browsing,
            pending: None,
            notice: None,
            detail: String::new(),
        }
    }

    pub(crate) fn selected(&self) -> Option<&WatchRow> {
        self.rows.get(self.selected)
    }

    pub(crate) const fn selected_index(&self) -> usize {
        self.selected
    }

    /// Takes new data. The selected row stays selected where it is still there; `true` if another one is now.
    pub(crate) fn refresh(&mut self, snapshot: WatchSnapshot) -> bool {
        let before = self.selected().map(WatchRow::key);
        self.rows = rows(&snapshot);
        self.snapshot = snapshot;
        self.hide_decided();
        let found = before.as_ref().and_then(|key| self.rows.iter().position(|row| row.key() == *key));
        self.selected = found.unwrap_or_else(|| self.selected.min(self.rows.len().saturating_sub(1)));
        self.selected().map(WatchRow::key) != before
    }

    /// A decision takes effect at once; for some seconds it can be taken back.
    fn hide_decided(&mut self) {
        if let Some((decision, _)) = &self.pending {
            let about = &decision.about;
            let is_decided = |row: &WatchRow| row.key() == *about && row.section() == Section::ForYou;
            self.rows.retain(|row| !is_decided(row));
        }
    }

    /// What can no longer be taken back.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<WatchDecision> {
        let is_due = self.pending.as_ref().is_some_and(|(_, due)| now >= *due);
        if is_due { self.take_pending() } else { None }
    }

    pub(crate) fn take_pending(&mut self) -> Option<WatchDecision> {
        self.pending.take().map(|(decision, _)| decision)
    }

    /// What is told in the last line.
    pub(crate) fn status(&self, now: Instant) -> Option<String> {
        match &self.pending {
            Some((decision, due)) => {
                let left = due.saturating_duration_since(now).as_secs() + 1;
                Some(format!("{}.  z takes it back ({left} s)", decision.told))
            }
            None => self.notice.clone(),
        }
    }

    pub(crate) fn key(&mut self, key: KeyEvent, now: Instant) -> Vec<Request> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return vec![Request::Quit];
        }
        match std::mem::replace(&mut self.mode, Mode::Browsing) {
            Mode::Browsing => self.browse(key.code, now),
            Mode::Typing { wanted, text } => self.typed(key.code, wanted, text, now),
            // Any key closes it.
            Mode::Help => Vec::new(),
        }
    }

    fn typed(&mut self, key: KeyCode, wanted: Wanted, mut text: String, now: Instant) -> Vec<Request> {
        match key {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => {
                return match NonBlank::new(text.trim()) {
                    Ok(text) => self.decide(wanted.decision(text.as_str()), now),
                    Err(_) => Vec::new(),
                };
            }
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(typed) => text.push(typed),
            _ => {}
        }
        self.mode = Mode::Typing { wanted, text };
        Vec::new()
    }

    fn browse(&mut self, key: KeyCode, now: Instant) -> Vec<Request> {
        match key {
            KeyCode::Char('q') => vec![Request::Quit],
            KeyCode::Char('?') => {
                self.mode = Mode::Help;
                Vec::new()
            }
            KeyCode::Char('j') | KeyCode::Down => self.select(self.selected.saturating_add(1)),
            KeyCode::Char('k') | KeyCode::Up => self.select(self.selected.saturating_sub(1)),
            KeyCode::Char('g') | KeyCode::Home => self.select(0),
            KeyCode::Char('G') | KeyCode::End => self.select(usize::MAX),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll_by(PAGE_LINES, true),
            KeyCode::PageUp | KeyCode::Char('b') => self.scroll_by(PAGE_LINES, false),
            KeyCode::Tab => self.show(self.pane.next()),
            KeyCode::Char('i') => self.show(Pane::Details),
            KeyCode::Char('l') => self.show(Pane::Log),
            KeyCode::Char('d') => self.show(Pane::Changes),
            KeyCode::Char('o') => vec![Request::OpenPage(self.selected().and_then(|row| row.task))],
            KeyCode::Char('z') => self.undo(),
            other => self.act(other, now),
        }
    }

    /// Keys that mean something for the selected row only.
    fn act(&mut self, key: KeyCode, now: Instant) -> Vec<Request> {
        let Some(row) = self.selected().cloned() else { return Vec::new() };
        let decision = match (&row.kind, row.task, key) {
            (RowKind::Question(record), _, KeyCode::Char(digit @ '1'..='9')) => {
                let number = usize::from(digit as u8 - b'1');
                let Some(option) = record.question.draft.options.get(number) else { return Vec::new() };
                WatchDecision::answer(record.question.id, option.as_str())
            }
            (RowKind::Question(record), _, KeyCode::Enter | KeyCode::Char('e')) => {
                return self.type_for(Wanted::Answer(record.question.id));
            }
            (RowKind::Review, Some(task), KeyCode::Char('a')) => WatchDecision::accept(task),
            (RowKind::Plan, Some(task), KeyCode::Char('a')) => WatchDecision::approve(task),
            (RowKind::Review | RowKind::Plan, Some(task), KeyCode::Char('r')) => {
                return self.type_for(Wanted::RejectReason(task));
            }
            (RowKind::Failed, Some(task), KeyCode::Char('t')) => WatchDecision::retry(task),
            (RowKind::Standstill(reason), Some(task), KeyCode::Char('t')) => {
                match released_by(*reason, task) {
                    Some(decision) => decision,
                    None => return Vec::new(),
                }
            }
            (RowKind::Running, Some(task), KeyCode::Char('s')) => WatchDecision::stop(task),
            (RowKind::Running, Some(task), KeyCode::Char('m') | KeyCode::Enter) => {
                return self.type_for(Wanted::Message(task));
            }
            (_, Some(task), KeyCode::Char('x')) => return self.type_for(Wanted::CancelReason(task)),
            (_, _, KeyCode::Enter) => return self.show(self.pane.next()),
            _ => return Vec::new(),
        };
        self.decide(decision, now)
    }

    fn type_for(&mut self, wanted: Wanted) -> Vec<Request> {
        self.mode = Mode::Typing { wanted, text: String::new() };
        Vec::new()
    }

    /// The decision before it goes out; this one waits for a moment.
    fn decide(&mut self, decision: WatchDecision, now: Instant) -> Vec<Request> {
        let earlier = self.take_pending();
        self.notice = None;
        self.pending = Some((decision, now + UNDO_FOR));
        let before = self.selected().map(WatchRow::key);
        self.hide_decided();
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
        let mut requests: Vec<Request> = earlier.map(Request::CarryOut).into_iter().collect();
        if self.selected().map(WatchRow::key) != before {
            self.scroll = 0;
            requests.push(Request::LoadDetail);
        }
        requests
    }

    fn undo(&mut self) -> Vec<Request> {
        let Some(decision) = self.take_pending() else {
            self.notice = Some("There is nothing to take back.".to_owned());
            return Vec::new();
        };
        self.notice = Some("Taken back.".to_owned());
        self.rows = rows(&self.snapshot);
        self.selected = self.rows.iter().position(|row| row.key() == decision.about).unwrap_or(0);
        vec![Request::LoadDetail]
    }

    fn select(&mut self, wanted: usize) -> Vec<Request> {
        let next = wanted.min(self.rows.len().saturating_sub(1));
        if next == self.selected {
            return Vec::new();
        }
        (self.selected, self.scroll, self.notice) = (next, 0, None);
        vec![Request::LoadDetail]
    }

    fn show(&mut self, pane: Pane) -> Vec<Request> {
        (self.pane, self.scroll) = (pane, 0);
        vec![Request::LoadDetail]
    }

    /// A log is read from its end.
    fn scroll_by(&mut self, lines: u16, is_down: bool) -> Vec<Request> {
        let goes_up = is_down != (self.pane == Pane::Log);
        let longest = u16::try_from(self.detail.lines().count()).unwrap_or(u16::MAX);
        self.scroll = if goes_up {
            self.scroll.saturating_add(lines).min(longest)
        } else {
            self.scroll.saturating_sub(lines)
        };
        Vec::new()
    }
}

/// What leads on, where one step does.
fn released_by(reason: StandstillReason, task: TaskId) -> Option<WatchDecision> {
    match reason {
        StandstillReason::Held => Some(WatchDecision::release(task)),
        StandstillReason::PlanWanted => Some(WatchDecision::plan(task)),
        StandstillReason::Failed => Some(WatchDecision::retry(task)),
        _ => None,
    }
}

/// The keys that do something for this row, as they are shown.
pub(crate) fn keys_for(row: Option<&WatchRow>) -> String {
    let own = match row.map(|row| &row.kind) {
        Some(RowKind::Question(record)) if record.question.draft.options.is_empty() => "enter answer",
        Some(RowKind::Question(_)) => "1–9 answer  enter in own words",
        Some(RowKind::Review) => "a accept  r send back",
        Some(RowKind::Plan) => "a approve  r reject",
        Some(RowKind::Failed) => "t try again",
        Some(RowKind::Standstill(StandstillReason::Held)) => "t release",
        Some(RowKind::Standstill(StandstillReason::PlanWanted)) => "t let an agent plan",
        Some(RowKind::Running) => "m message  s stop",
        Some(RowKind::Standstill(_) | RowKind::Landing | RowKind::Ready) | None => "",
    };
    let cancel = if row.is_some_and(|row| row.task.is_some()) { "x cancel" } else { "" };
    let always = "tab details/log/changes  ? keys  q quit";
    [own, cancel, always].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}
