//! The files of a patch as tables, in one column or side by side.

use std::ops::Range;

use maud::{Markup, html};

use crate::pages::task::changes::patch::{LineKind, PatchFile, PatchHunk, PatchLine};
use crate::pages::task::changes::syntax::{Language, Token, tokens};
use crate::pages::widgets::words::pluralize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Unified,
    Split,
}

/// The changed files, with how much changed in each.
pub(super) fn tree(files: &[PatchFile]) -> Markup {
    let count = |kind| files.iter().map(|file| file.count(kind)).sum::<usize>();
    html! {
        details.files open {
            summary {
                (pluralize(files.len() as u64, "file")) " " span.plus { "+" (count(LineKind::Added)) } " " span.minus { "−" (count(LineKind::Removed)) }
            }
            ul.plain {
                @for (index, file) in files.iter().enumerate() {
                    li {
                        a href={ "#file-" (index) } { (file.name) } " "
                        span.plus { "+" (file.count(LineKind::Added)) } " " span.minus { "−" (file.count(LineKind::Removed)) }
                    }
                }
            }
        }
    }
}

pub(super) fn render_file(index: usize, file: &PatchFile, view: View) -> Markup {
    let language = Language::of(&file.name);
    html! {
        section.file #{ "file-" (index) } data-row data-file=(file.name) {
            div.file-head {
                h2 { (file.name) }
                span.plus { "+" (file.count(LineKind::Added)) } " " span.minus { "−" (file.count(LineKind::Removed)) }
                label.js { input type="checkbox" data-viewed=(file.name); " Viewed" }
            }
            @for note in &file.notes { p.muted { (note) } }
            @for hunk in &file.hunks { (render_hunk(file, hunk, view, language)) }
        }
    }
}

fn render_hunk(file: &PatchFile, hunk: &PatchHunk, view: View, language: Language) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (file.name) " " (hunk.heading) } {
            @match view {
                View::Unified => table.hunk {
                    caption { (hunk.heading) }
                    tbody { @for line in &hunk.lines { (row(line, language)) } }
                },
                View::Split => table.hunk.split {
                    caption { (hunk.heading) }
                    tbody { @for (old, new) in pairs(&hunk.lines) { (pair(old, new, language)) } }
                },
            }
        }
    }
}

const fn class_of(kind: LineKind) -> (&'static str, &'static str) {
    match kind {
        LineKind::Same => ("same", " "),
        LineKind::Added => ("added", "+"),
        LineKind::Removed => ("removed", "−"),
    }
}

/// The sign is text, too, so that nothing depends on colour alone.
fn row(line: &PatchLine, language: Language) -> Markup {
    let (class, badge) = class_of(line.kind);
    html! {
        tr class=(class) data-line=[line.new.or(line.old)] {
            td.number { @if let Some(number) = line.old { (number) } }
            td.number { @if let Some(number) = line.new { (number) } }
            td.code { span.sign { (badge) } (code(line, language)) }
        }
    }
}

fn pair(old: Option<&PatchLine>, new: Option<&PatchLine>, language: Language) -> Markup {
    let line = new.or(old);
    let side = |line: Option<&PatchLine>, number: fn(&PatchLine) -> Option<u32>| {
        let (class, badge) = line.map_or(("none", " "), |line| class_of(line.kind));
        html! {
            td class={ "number " (class) } { @if let Some(number) = line.and_then(number) { (number) } }
            td class={ "code " (class) } { @if let Some(line) = line { span.sign { (badge) } (code(line, language)) } }
        }
    };
    html! {
        tr data-line=[line.and_then(|line| line.new.or(line.old))] {
            (side(old, |line| line.old))
            (side(new, |line| line.new))
        }
    }
}

/// Lines side by side: what was removed beside what was added in its place.
fn pairs(lines: &[PatchLine]) -> Vec<(Option<&PatchLine>, Option<&PatchLine>)> {
    let mut pairs = Vec::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        if first.kind == LineKind::Same {
            pairs.push((Some(first), Some(first)));
            rest = &rest[1..];
            continue;
        }
        let run = rest.iter().take_while(|line| line.kind != LineKind::Same).count();
        let (changed, after) = rest.split_at(run);
        let removed: Vec<&PatchLine> = changed.iter().filter(|line| line.kind == LineKind::Removed).collect();
        let added: Vec<&PatchLine> = changed.iter().filter(|line| line.kind == LineKind::Added).collect();
        for index in 0..removed.len().max(added.len()) {
            pairs.push((removed.get(index).copied(), added.get(index).copied()));
        }
        rest = after;
    }
    pairs
}

/// The text with its changed words and its syntax marked.
fn code(line: &PatchLine, language: Language) -> Markup {
    let text = line.text();
    let marks = tokens(language, &text);
    let mut end = 0;
    let pieces = line.pieces.iter().map(|(is_changed, piece)| {
        let start = end;
        end += piece.len();
        (*is_changed, start..end)
    });
    html! {
        @for (is_changed, place) in pieces {
            @if is_changed { mark { (coloured(&text, &place, &marks)) } } @else { (coloured(&text, &place, &marks)) }
        }
    }
}

fn coloured(text: &str, place: &Range<usize>, marks: &[(Range<usize>, Token)]) -> Markup {
    let (start, end) = (place.start, place.end);
    let mut at = start;
    let mut parts: Vec<(&str, Option<Token>)> = Vec::new();
    for (range, token) in marks.iter().filter(|(range, _)| range.start < end && range.end > start) {
        let (from, to) = (range.start.max(start), range.end.min(end));
        if from > at {
            parts.push((text.get(at..from).unwrap_or_default(), None));
        }
        parts.push((text.get(from..to).unwrap_or_default(), Some(*token)));
        at = to;
    }
    parts.push((text.get(at..end).unwrap_or_default(), None));
    html! {
        @for (part, token) in parts {
            @match token {
                Some(token) => span class=(token.class()) { (part) },
                None => (part),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: LineKind, number: u32, text: &str) -> PatchLine {
        PatchLine { kind, old: Some(number), new: Some(number), pieces: vec![(false, text.to_owned())] }
    }

    #[test]
    fn removed_lines_stand_beside_what_replaced_them() {
        use LineKind::{Added, Removed, Same};
        let lines = [
            line(Same, 1, "a"),
            line(Removed, 2, "b"),
            line(Removed, 3, "c"),
            line(Added, 2, "B"),
            line(Same, 4, "d"),
        ];
        let seen: Vec<(Option<String>, Option<String>)> = pairs(&lines)
            .into_iter()
            .map(|(old, new)| (old.map(PatchLine::text), new.map(PatchLine::text)))
            .collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            seen,
            [(text("a"), text("a")), (text("b"), text("B")), (text("c"), None), (text("d"), text("d"))]
        );
    }

    #[test]
    fn changed_words_and_syntax_are_marked_together() {
        let line = PatchLine {
            kind: LineKind::Added,
            old: None,
            new: Some(1),
            pieces: vec![
                (false, "let x = ".to_owned()),
                (true, "\"<b>\"".to_owned()),
                (false, ";".to_owned()),
            ],
        };
        let shown = code(&line, Language::of("a.rs")).into_string();
        assert_eq!(
            shown,
            "<span class=\"t-key\">let</span> x = <mark><span class=\"t-text\">&quot;&lt;b&gt;&quot;</span></mark>;"
        );
    }
}
