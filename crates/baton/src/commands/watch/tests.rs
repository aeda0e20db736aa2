//! Keys and pictures, without a terminal.

use std::time::{Duration, Instant};

use baton_core::ask::question::{Question, QuestionDraft, QuestionKind};
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{QuestionId, SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::task::state::{QueueName, TaskStatus};
use baton_engine::reports::view::TaskSummary;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::decision::WatchDecision;
use super::draw::draw;
use super::snapshot::WatchSnapshot;
use super::state::{Mode, Pane, Request, WatchState};

fn task(bits: u32, title: &str) -> TaskSummary {
    let session: SessionId = "cli".parse().unwrap();
    TaskSummary {
        task_id: TaskId::from_bits(bits),
        task_group_id: session.clone(),
        session_id: session,
        project_id: None,
        title: NonBlank::new(title).unwrap(),
        task_type: TaskType::Implementation,
        priority: Priority::default(),
        status: TaskStatus::Running,
        queue: QueueName::Claimed,
        show_reply_ui: false,
        is_breakdown: false,
        re_breakdown_depth: 0,
        replaces_task_id: None,
        too_large: None,
        needs_review: Vec::new(),
        open_question: None,
        left_to_person: None,
        held_because: None,
        start_at: None,
        waits_until: None,
        waits_behind: None,
        added_by: None,
        question: None,
        created_at: Timestamp::from_ms(0),
        updated_at: Timestamp::from_ms(0),
        version: 1,
    }
}

fn question(bits: u32, text: &str, options: &[&str]) -> QuestionRecord {
    let text = NonBlank::new(text).unwrap();
    let options = options.iter().map(|option| NonBlank::new(*option).unwrap()).collect();
    let draft = QuestionDraft { options, ..QuestionDraft::new(QuestionKind::Clarification, text) };
    QuestionRecord {
        question: Question { id: QuestionId::from_bits(bits), draft },
        task_id: Some(TaskId::from_bits(9)),
        session_id: "cli".parse().unwrap(),
        asked_at: Timestamp::from_ms(30_000),
        state: QuestionState::Pending,
    }
}

fn snapshot() -> WatchSnapshot {
    WatchSnapshot {
        now: Timestamp::from_ms(90_000),
        questions: vec![question(1, "Red or blue?", &["red", "blue"])],
        running: vec![task(1, "Serve\x1b[31m it")],
        to_accept: vec![task(2, "Fix it"), TaskSummary { is_breakdown: true, ..task(3, "Split it") }],
        landing: Vec::new(),
        failed: Vec::new(),
        standstills: Vec::new(),
        ready: vec![task(4, "Later"), task(5, "Last")],
        cost_micro_usd: 1_250_000,
    }
}

fn press(state: &mut WatchState, keys: &str, now: Instant) -> Vec<Request> {
    let mut requests = Vec::new();
    for key in keys.chars() {
        let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        requests.extend(state.key(KeyEvent::new(code, KeyModifiers::NONE), now));
    }
    requests
}

fn picture(state: &WatchState, columns: u16, lines: u16, now: Instant) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| draw(frame, state, now)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let line =
        |y: u16| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..lines).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_number_answers_and_the_next_row_is_selected() {
    let now = Instant::now();
    let mut state = WatchState::new(snapshot());
    assert_eq!(press(&mut state, "2", now), [Request::LoadDetail]);
    assert_eq!(state.selected().unwrap().title, "Fix it");
    assert!(
        state.status(now).unwrap().starts_with("Answered Q-00000001 with blue."),
        "{:?}",
        state.status(now)
    );
    // It is sent when it can no longer be taken back.
    assert_eq!(state.take_due(now), None);
    let later = now + Duration::from_secs(9);
    assert_eq!(state.take_due(later), Some(WatchDecision::answer(QuestionId::from_bits(1), "blue")));
    assert_eq!(press(&mut state, "7", now), [], "a number without an option means nothing");
}

#[test]
fn a_decision_is_taken_back_or_sent_before_the_next_one() {
    let now = Instant::now();
    let mut state = WatchState::new(snapshot());
    press(&mut state, "ja", now);
    assert!(state.rows.iter().all(|row| row.title != "Fix it"));
    press(&mut state, "z", now);
    assert_eq!(state.selected().unwrap().title, "Fix it");
    assert_eq!(state.take_pending(), None);
    press(&mut state, "a", now);
    let accepted = WatchDecision::accept(TaskId::from_bits(2));
    assert_eq!(press(&mut state, "a", now)[0], Request::CarryOut(accepted));
    assert_eq!(state.take_pending(), Some(WatchDecision::approve(TaskId::from_bits(3))));
}

#[test]
fn a_decided_row_stays_hidden_when_the_data_changes() {
    let now = Instant::now();
    let mut state = WatchState::new(snapshot());
    press(&mut state, "ja", now);
    state.refresh(snapshot());
    assert!(state.rows.iter().all(|row| row.title != "Fix it"));
}

#[test]
fn words_are_typed_and_escape_leaves_them() {
    let now = Instant::now();
    let mut state = WatchState::new(snapshot());
    press(&mut state, "\nquit q", now);
    assert!(matches!(&state.mode, Mode::Typing { text, .. } if text == "quit q"), "{:?}", state.mode);
    state.key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE), now);
    assert_eq!(state.mode, Mode::Browsing);
    assert_eq!(state.take_pending(), None);
    press(&mut state, "jr  \n", now);
    assert_eq!(state.take_pending(), None, "a blank reason is none");
    press(&mut state, "rAdd tests\n", now);
    assert_eq!(state.take_pending(), Some(WatchDecision::reject(TaskId::from_bits(2), "Add tests")));
}

#[test]
fn keys_that_mean_nothing_for_a_row_do_nothing() {
    let now = Instant::now();
    let mut state = WatchState::new(snapshot());
    press(&mut state, "ars tm", now);
    assert_eq!(state.take_pending(), None);
    assert_eq!(state.mode, Mode::Browsing);
    press(&mut state, "G", now);
    assert_eq!(state.selected().unwrap().title, "Last");
    press(&mut state, "a1rst", now);
    assert_eq!(state.take_pending(), None);
    let mut empty = WatchState::new(WatchSnapshot {
        questions: Vec::new(),
        running: Vec::new(),
        to_accept: Vec::new(),
        ready: Vec::new(),
        ..snapshot()
    });
    press(&mut empty, "jkgGa1rstxmz?q\n", now);
    assert_eq!(empty.selected(), None);
    assert_eq!(press(&mut empty, "q", now), [Request::Quit]);
}

#[test]
fn the_selected_row_stays_selected_when_others_come_and_go() {
    let mut state = WatchState::new(snapshot());
    press(&mut state, "jj", Instant::now());
    assert!(!state.refresh(WatchSnapshot { questions: Vec::new(), ..snapshot() }));
    assert_eq!(state.selected().unwrap().title, "Split it");
    assert!(state.refresh(WatchSnapshot { to_accept: Vec::new(), ..snapshot() }));
}

#[test]
fn everything_fits_any_size() {
    let now = Instant::now();
    let mut state = WatchState::new(snapshot());
    state.detail = "A long line of a log that does not fit\n".repeat(300);
    for pane in Pane::ALL {
        state.pane = pane;
        for (columns, lines) in [(1, 1), (2, 3), (20, 5), (99, 12), (240, 70)] {
            for scroll in [0, 7, u16::MAX] {
                state.scroll = scroll;
                picture(&state, columns, lines, now);
            }
        }
    }
    state.mode = Mode::Help;
    picture(&state, 10, 4, now);
}

#[test]
fn the_screen_as_a_whole() {
    let mut state = WatchState::new(snapshot());
    state.detail = "Red or blue?\n\n  1  red\n  2  blue".to_owned();
    insta::assert_snapshot!(picture(&state, 70, 16, Instant::now()), @"
     baton   3 for you · 1 running · 0 landing · 2 next   $1.25 today   00
    For you                                                              │
     ? TASK-00000009   1 min  Red or blue?                               │
     ✓ TASK-00000002   1 min  Fix it                                     │
     ≡ TASK-00000003   1 min  Split it                                   │
    Running                                                              │
     ▶ TASK-00000001   1 min  Serve␛[31m it                              │
    Details  Log  Changes  ───────────────────────────────────────────────
    Red or blue?

      1  red
      2  blue



    1–9 answer  enter in own words  x cancel  tab details/log/changes  ? k
    ");
}
