//! A progress bar on the last line of the terminal.
//!
//! Appears only at a terminal and only after a moment. Drawn by a thread of its own, because the work may block the
//! others. It clears its line at the end.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use baton_engine::settings::location::{ProgressListener, ProgressStage};

/// Shorter operations show no bar.
const APPEARS_AFTER: Duration = Duration::from_millis(500);
/// Time between two frames.
const DRAWN_EVERY: Duration = Duration::from_millis(100);

const CLEAR_LINE: &str = "\r\x1b[K";

/// The last line of the terminal, shared by messages and bars.
static LINE: Mutex<StatusLine> = Mutex::new(StatusLine { has_bar: false, is_closed: false });

struct StatusLine {
    has_bar: bool,
    /// The command has printed its result; no bar may follow.
    is_closed: bool,
}

/// The current operation.
struct ProgressItem {
    what: String,
    count: u64,
    /// 0 if unknown.
    total: u64,
    began: Instant,
    appears_at: Instant,
}

/// Cheap to clone; clones share one line.
#[derive(Clone)]
pub(crate) struct ProgressBar(Option<Arc<ProgressDrawer>>);

#[derive(Default)]
struct ProgressDrawer {
    state: Mutex<ProgressState>,
    ended: Condvar,
}

#[derive(Default)]
struct ProgressState {
    work: Option<ProgressItem>,
    is_drawing: bool,
}

impl ProgressBar {
    /// Draws nothing with `--json` or without a terminal.
    pub(crate) fn new(is_json: bool) -> Self {
        Self((!is_json && std::io::stderr().is_terminal()).then(Arc::default))
    }

    /// Reports progress; a `total` of 0 means unknown.
    pub(crate) fn at(&self, what: &str, count: u64, total: u64) {
        self.note(what, count, total, APPEARS_AFTER);
    }

    /// The same for work that has already taken long: the bar appears at once.
    pub(crate) fn late_at(&self, what: &str, count: u64, total: u64) {
        self.note(what, count, total, Duration::ZERO);
    }

    /// Clears the line.
    pub(crate) fn end(&self) {
        let Some(drawer) = &self.0 else { return };
        let mut state = drawer.state();
        if state.work.take().is_some() {
            erase(&mut line());
            drawer.ended.notify_all();
        }
    }

    /// Shows what the store is doing while it opens.
    pub(crate) fn onlooker(&self) -> ProgressListener {
        let progress = self.clone();
        ProgressListener::new(move |stage| match stage {
            ProgressStage::Reaching => progress.at("Waiting for PostgreSQL", 0, 0),
            ProgressStage::Checking => progress.at("Checking the store", 0, 0),
            ProgressStage::Upgrading { from: 0, .. } => progress.at("Creating the store", 0, 0),
            ProgressStage::Upgrading { from, to } => {
                progress.at(&format!("Upgrading the store from version {from} to {to}"), 0, 0);
            }
            ProgressStage::Copying { pages, total } => progress.at("Copying the store", pages, total),
        })
    }

    fn note(&self, what: &str, count: u64, total: u64, delay: Duration) {
        let Some(drawer) = &self.0 else { return };
        let mut state = drawer.state();
        match &mut state.work {
            Some(work) if work.what == what => (work.count, work.total) = (count, total),
            // The next part of the same work appears without another delay.
            Some(work) => {
                let began = Instant::now();
                let what = what.to_owned();
                *work = ProgressItem { what, count, total, began, appears_at: work.appears_at };
            }
            None => {
                let began = Instant::now();
                let what = what.to_owned();
                state.work = Some(ProgressItem { what, count, total, began, appears_at: began + delay });
            }
        }
        if !state.is_drawing {
            state.is_drawing = true;
            let drawer = Arc::clone(drawer);
            std::thread::spawn(move || drawer.draw());
        }
    }
}

impl ProgressDrawer {
    fn state(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs until there is nothing to draw. Holds the state while drawing, so that nothing is drawn after the end.
    fn draw(&self) {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let wait = match &state.work {
                None => break,
                Some(work) if work.appears_at > now => work.appears_at - now,
                Some(work) => {
                    redraw(&mut line(), &work.text(now));
                    DRAWN_EVERY
                }
            };
            state =
                self.ended.wait_timeout(state, wait).map_or_else(|held| held.into_inner().0, |woken| woken.0);
        }
        state.is_drawing = false;
    }
}

impl ProgressItem {
    fn text(&self, now: Instant) -> String {
        let Self { what, count, total, .. } = self;
        let seconds = now.duration_since(self.began).as_secs();
        match (count, total) {
            (0, 0) => format!("{what} … {seconds} s"),
            (_, 0) => format!("{what} … {count}, {seconds} s"),
            (_, _) => {
                const CELLS: u64 = 30;
                let filled = (count * CELLS).checked_div(*total).unwrap_or(CELLS);
                let cells: String = (0..CELLS).map(|cell| if cell < filled { '█' } else { '░' }).collect();
                format!("{what} {cells} {count}/{total}")
            }
        }
    }
}

fn line() -> MutexGuard<'static, StatusLine> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn redraw(line: &mut StatusLine, text: &str) {
    if !line.is_closed {
        line.has_bar = true;
        let _ = write!(std::io::stderr(), "{CLEAR_LINE}{text}");
    }
}

fn erase(line: &mut StatusLine) {
    if std::mem::take(&mut line.has_bar) {
        let _ = write!(std::io::stderr(), "{CLEAR_LINE}");
    }
}

/// Prints a message, in place of a bar if there is one.
pub(super) fn say(text: &str) {
    let mut line = line();
    erase(&mut line);
    // In one piece, so that what goes to stdout at the same time stands on a line of its own. A closed stderr does not stop
    // the work.
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// No bar after this: the command prints its result.
pub(super) fn close() {
    let mut line = line();
    erase(&mut line);
    line.is_closed = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(count: u64, total: u64) -> String {
        let began = Instant::now();
        let work = ProgressItem { what: "Working".to_owned(), count, total, began, appears_at: began };
        work.text(began + Duration::from_millis(3_400))
    }

    #[test]
    fn the_bar_shows_what_is_known() {
        assert_eq!(text(0, 0), "Working … 3 s");
        assert_eq!(text(1_200, 0), "Working … 1200, 3 s");
        assert_eq!(text(5, 10), "Working ███████████████░░░░░░░░░░░░░░░ 5/10");
    }

    #[test]
    fn nothing_is_drawn_with_json() {
        let progress = ProgressBar::new(true);
        progress.at("Working", 1, 2);
        progress.end();
        assert!(progress.0.is_none());
    }
}
