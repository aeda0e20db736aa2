//! How far a long piece of work is, on the last line of the terminal.
//!
//! Seen only by a person who sits there and has waited for a moment; what is over sooner leaves no trace. It is drawn by a
//! thread of its own, because what takes long may hold the others. It owns nothing but that one line, and gives it back.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use baton_engine::place::{ProgressListener, ProgressStage};

/// What is over sooner is not spoken of.
const APPEARS_AFTER: Duration = Duration::from_millis(500);
/// Between two drawings: often enough to be seen moving.
const DRAWN_EVERY: Duration = Duration::from_millis(100);

const CLEAR_LINE: &str = "\r\x1b[K";

/// The terminal's last line, which talk and bars share.
static LINE: Mutex<Line> = Mutex::new(Line { has_bar: false, is_closed: false });

struct Line {
    has_bar: bool,
    /// The command has said its last word.
    is_closed: bool,
}

/// What is worked on now.
struct Work {
    what: String,
    count: u64,
    /// None while nobody knows how much there is.
    total: u64,
    began: Instant,
    appears_at: Instant,
}

/// Cheap to clone; clones are one line.
#[derive(Clone)]
pub struct Progress(Option<Arc<Drawer>>);

#[derive(Default)]
struct Drawer {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    work: Option<Work>,
    is_drawing: bool,
}

impl Progress {
    /// Nothing is drawn before there is something to tell, and nothing at all for a program.
    pub fn new(is_json: bool) -> Self {
        Self((!is_json && std::io::stderr().is_terminal()).then(Arc::default))
    }

    /// So much is done of so much; of none where nobody knows how much there is.
    pub fn at(&self, what: &str, count: u64, total: u64) {
        self.note(what, count, total, APPEARS_AFTER);
    }

    /// The same for work that was long before anybody told of it.
    pub fn late_at(&self, what: &str, count: u64, total: u64) {
        self.note(what, count, total, Duration::ZERO);
    }

    /// Takes the line away; what came of it is told by the command.
    pub fn end(&self) {
        let Some(drawer) = &self.0 else { return };
        let mut state = drawer.state();
        if state.work.take().is_some() {
            erase(&mut line());
            drawer.ended.notify_all();
        }
    }

    /// What a store tells of itself, in words.
    pub fn onlooker(&self) -> ProgressListener {
        let progress = self.clone();
        ProgressListener::new(move |stage| match stage {
            ProgressStage::Reaching => progress.at("PostgreSQL does not answer, trying again", 0, 0),
            ProgressStage::Checking => progress.at("Looking over the whole store", 0, 0),
            ProgressStage::Upgrading { from: 0, .. } => progress.at("Making the store", 0, 0),
            ProgressStage::Upgrading { from, to } => {
                progress.at(&format!("Bringing the store from form {from} to {to}"), 0, 0);
            }
            ProgressStage::Copying { pages, total } => progress.at("Copying the store", pages, total),
        })
    }

    fn note(&self, what: &str, count: u64, total: u64, delay: Duration) {
        let Some(drawer) = &self.0 else { return };
        let mut state = drawer.state();
        match &mut state.work {
            Some(work) if work.what == what => (work.count, work.total) = (count, total),
            // The next part of the same work: whoever has waited for the last one need not wait again.
            Some(work) => {
                let began = Instant::now();
                let what = what.to_owned();
                *work = Work { what, count, total, began, appears_at: work.appears_at };
            }
            None => {
                let began = Instant::now();
                let what = what.to_owned();
                state.work = Some(Work { what, count, total, began, appears_at: began + delay });
            }
        }
        if !state.is_drawing {
            state.is_drawing = true;
            let drawer = Arc::clone(drawer);
            std::thread::spawn(move || drawer.draw());
        }
    }
}

impl Drawer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until there is nothing to draw. The state is held while the line is drawn, so that nothing comes after the end.
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

impl Work {
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

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn redraw(line: &mut Line, text: &str) {
    if !line.is_closed {
        line.has_bar = true;
        let _ = write!(std::io::stderr(), "{CLEAR_LINE}{text}");
    }
}

fn erase(line: &mut Line) {
    if std::mem::take(&mut line.has_bar) {
        let _ = write!(std::io::stderr(), "{CLEAR_LINE}");
    }
}

/// Says something on standard error, in the place of a bar that stands there.
pub(super) fn say(text: &str) {
    let mut line = line();
    erase(&mut line);
    // Nobody listens: the work goes on all the same.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The command is about to say its last word; no bar comes after it.
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
        let work = Work { what: "Working".to_owned(), count, total, began, appears_at: began };
        work.text(began + Duration::from_millis(3_400))
    }

    #[test]
    fn a_line_says_as_much_as_is_known() {
        assert_eq!(text(0, 0), "Working … 3 s");
        assert_eq!(text(1_200, 0), "Working … 1200, 3 s");
        assert_eq!(text(5, 10), "Working ███████████████░░░░░░░░░░░░░░░ 5/10");
    }

    #[test]
    fn for_a_program_nothing_is_drawn_and_nobody_is_started() {
        let progress = Progress::new(true);
        progress.at("Working", 1, 2);
        progress.end();
        assert!(progress.0.is_none());
    }
}
