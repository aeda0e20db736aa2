//! The picture: a pure function of the state and the size of the terminal.

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, List, ListItem, ListState, Paragraph, Wrap};

use crate::commands::cost::dollars;
use crate::commands::watch::rows::{Section, WatchRow};
use crate::commands::watch::state::{Mode, Pane, WatchState, keys_for};
use crate::output::visible;

/// From this width on, list and details are side by side.
const WIDE: u16 = 100;

const HELP: &str = "\
j k ↓ ↑      select            g G      first, last
tab i l d    details, log, changes      space b  scroll
1–9          answer with an option      enter    answer in your own words
a            accept work, approve a plan
r            send work back, reject a plan
t            try again, release, let an agent plan
m            message to the agent       s        stop the agent
x            cancel the task            o        open its page
z            take back the last decision (8 s)
q            quit";

pub(crate) fn draw(frame: &mut Frame<'_>, state: &WatchState, now: Instant) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(
        Paragraph::new(heading(state)).style(Style::new().add_modifier(Modifier::REVERSED)),
        head,
    );
    let [list, detail] = if body.width >= WIDE {
        Layout::horizontal([Constraint::Percentage(45), Constraint::Fill(1)]).areas(body)
    } else {
        Layout::vertical([Constraint::Percentage(45), Constraint::Fill(1)]).areas(body)
    };
    draw_list(frame, state, list);
    draw_detail(frame, state, detail);
    frame.render_widget(Paragraph::new(last_line(state, now)), foot);
    if state.mode == Mode::Help {
        draw_help(frame, body);
    }
}

fn heading(state: &WatchState) -> String {
    let count = |section| state.rows.iter().filter(|row| row.section() == section).count();
    let clock = state.snapshot.now.to_string();
    format!(
        " baton   {} for you · {} running · {} landing · {} next   {} today   {} UTC",
        count(Section::ForYou),
        count(Section::Running),
        count(Section::Landing),
        count(Section::Next),
        dollars(state.snapshot.cost_micro_usd),
        clock.get(11..16).unwrap_or_default(),
    )
}

fn draw_list(frame: &mut Frame<'_>, state: &WatchState, area: Rect) {
    let mut items = Vec::new();
    let mut selected = None;
    let mut section = None;
    for (index, row) in state.rows.iter().enumerate() {
        if section != Some(row.section()) {
            section = Some(row.section());
            let heading = Line::styled(row.section().heading(), Style::new().add_modifier(Modifier::BOLD));
            items.push(ListItem::new(heading));
        }
        if index == state.selected_index() {
            selected = Some(items.len());
        }
        items.push(ListItem::new(row_line(row)));
    }
    if items.is_empty() {
        items.push(ListItem::new("Nothing waits for you, and nothing runs."));
    }
    let list = List::new(items)
        .block(Block::new().borders(Borders::RIGHT))
        .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(list, area, &mut ListState::default().with_selected(selected));
}

fn row_line(row: &WatchRow) -> Line<'static> {
    let id = row.task.map(|task| format!("{task}  ")).unwrap_or_default();
    let note = if row.note.len() <= 8 { format!("{:>6}  ", row.note) } else { String::new() };
    let color = match row.section() {
        Section::ForYou => Color::Yellow,
        Section::Running => Color::Green,
        Section::Landing => Color::Cyan,
        Section::Next => Color::Reset,
    };
    Line::from(vec![
        Span::styled(format!(" {} ", row.sign()), paint(color)),
        Span::styled(format!("{id}{note}"), Style::new().add_modifier(Modifier::DIM)),
        Span::raw(visible(&row.title).into_owned()),
    ])
}

fn draw_detail(frame: &mut Frame<'_>, state: &WatchState, area: Rect) {
    let tab = |pane: Pane| {
        let is_shown = pane == state.pane;
        let style = if is_shown { Modifier::BOLD | Modifier::UNDERLINED } else { Modifier::DIM };
        [Span::styled(pane.title(), Style::new().add_modifier(style)), Span::raw("  ")]
    };
    let title: Vec<Span<'_>> = Pane::ALL.into_iter().flat_map(tab).collect();
    let block = Block::new().borders(Borders::TOP).title(Line::from(title));
    let room = block.inner(area).height;
    let text = visible(&state.detail).replace('\t', "    ");
    let lines: Vec<Line<'static>> = text.lines().map(|line| detail_line(line, state.pane)).collect();
    let paragraph = match state.pane {
        Pane::Details => Paragraph::new(lines).wrap(Wrap { trim: false }).scroll((state.scroll, 0)),
        Pane::Changes => Paragraph::new(lines).scroll((state.scroll, 0)),
        Pane::Log => {
            let shown = lines.len().saturating_sub(state.scroll.into());
            let from = shown.saturating_sub(room.into());
            Paragraph::new(lines[from..shown].to_vec())
        }
    };
    frame.render_widget(paragraph.block(block), area);
}

fn detail_line(line: &str, pane: Pane) -> Line<'static> {
    let style = match (pane, line.as_bytes().first()) {
        (Pane::Changes, _) if line.starts_with("diff --git") => Style::new().add_modifier(Modifier::BOLD),
        (Pane::Changes, Some(b'+')) => paint(Color::Green),
        (Pane::Changes, Some(b'-')) => paint(Color::Red),
        (Pane::Changes, Some(b'@')) => paint(Color::Cyan),
        _ => Style::new(),
    };
    Line::styled(line.to_owned(), style)
}

fn last_line(state: &WatchState, now: Instant) -> Line<'static> {
    if let Mode::Typing { wanted, text } = &state.mode {
        let typed = format!("{}: {text}▏", wanted.prompt());
        return Line::from(vec![
            Span::styled(typed, Style::new().add_modifier(Modifier::BOLD)),
            Span::styled("   enter sends, esc leaves it", Style::new().add_modifier(Modifier::DIM)),
        ]);
    }
    match state.status(now) {
        Some(status) => {
            Line::styled(visible(&status).into_owned(), Style::new().add_modifier(Modifier::BOLD))
        }
        None => Line::styled(keys_for(state.selected()), Style::new().add_modifier(Modifier::DIM)),
    }
}

fn draw_help(frame: &mut Frame<'_>, body: Rect) {
    let lines = u16::try_from(HELP.lines().count()).unwrap_or(u16::MAX);
    let columns =
        u16::try_from(HELP.lines().map(|line| line.chars().count()).max().unwrap_or(0)).unwrap_or(u16::MAX);
    let width = columns.saturating_add(4).min(body.width);
    let height = lines.saturating_add(2).min(body.height);
    let area =
        Rect { x: body.x + (body.width - width) / 2, y: body.y + (body.height - height) / 2, width, height };
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(HELP).block(Block::bordered().title("Keys, any closes this")), area);
}

/// Colours, unless the person wants none (`NO_COLOR`).
fn paint(color: Color) -> Style {
    if std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty()) {
        Style::new()
    } else {
        Style::new().fg(color)
    }
}
