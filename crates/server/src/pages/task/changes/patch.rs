//! Parses a git patch: files, hunks, lines, and the changed words within lines.

use similar::{ChangeTag, TextDiff};

/// Lines parsed per patch.
pub(super) const LINES_MAX: usize = 20_000;
/// Longer runs of changed lines are not compared word by word.
const COMPARED_LINES_MAX: usize = 40;
/// Longer lines are not compared word by word.
const COMPARED_CHARS_MAX: usize = 1_000;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PatchFile {
    /// The new name; the old one if the file was deleted.
    pub name: String,
    /// Git's notes: new, deleted, renamed, binary.
    pub notes: Vec<String>,
    pub hunks: Vec<PatchHunk>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatchHunk {
    pub heading: String,
    pub lines: Vec<PatchLine>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatchLine {
    pub kind: LineKind,
    pub old: Option<u32>,
    pub new: Option<u32>,
    /// Pieces of the line, each with whether it changed.
    pub pieces: Vec<(bool, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Same,
    Added,
    Removed,
}

impl PatchFile {
    pub(super) fn count(&self, kind: LineKind) -> usize {
        self.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count()
    }
}

impl PatchLine {
    pub(super) fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// The files of a patch, and whether it was cut.
pub(super) fn read(text: &str) -> (Vec<PatchFile>, bool) {
    let mut files: Vec<PatchFile> = Vec::new();
    let (mut old, mut new, mut count) = (0, 0, 0);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            // The new name follows ` b/`, renamed or not.
            let name = rest.rsplit_once(" b/").map_or(rest, |(_, name)| name);
            files.push(PatchFile { name: name.trim_end_matches('"').to_owned(), ..PatchFile::default() });
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(rest) = line.strip_prefix("@@ ") {
            (old, new) = starts(rest);
            file.hunks.push(PatchHunk { heading: line.to_owned(), lines: Vec::new() });
            continue;
        }
        let Some(hunk) = file.hunks.last_mut() else {
            note(file, line);
            continue;
        };
        let Some((kind, text)) = kind_of(line) else { continue };
        count += 1;
        if count > LINES_MAX {
            finish(&mut files);
            return (files, true);
        }
        let pieces = vec![(false, text.to_owned())];
        hunk.lines.push(PatchLine {
            kind,
            old: (kind != LineKind::Added).then_some(old),
            new: (kind != LineKind::Removed).then_some(new),
            pieces,
        });
        old += u32::from(kind != LineKind::Added);
        new += u32::from(kind != LineKind::Removed);
    }
    finish(&mut files);
    (files, false)
}

fn kind_of(line: &str) -> Option<(LineKind, &str)> {
    let kind = match line.as_bytes().first() {
        Some(b'+') => LineKind::Added,
        Some(b'-') => LineKind::Removed,
        Some(b' ') => LineKind::Same,
        // For example "\ No newline at end of file".
        _ => return None,
    };
    line.get(1..).map(|text| (kind, text))
}

/// `-12,5 +12,7 @@ fn main()` → 12 and 12.
fn starts(heading: &str) -> (u32, u32) {
    let mut numbers = heading.split(' ').filter_map(|word| {
        word.trim_start_matches(['-', '+']).split(',').next().and_then(|number| number.parse().ok())
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn note(file: &mut PatchFile, line: &str) {
    let is_told = ["new file", "deleted file", "rename ", "copy ", "Binary", "old mode", "new mode"]
        .iter()
        .any(|start| line.starts_with(start));
    if is_told {
        file.notes.push(line.to_owned());
    }
}

/// Marks the changed words of replaced lines.
fn finish(files: &mut [PatchFile]) {
    for hunk in files.iter_mut().flat_map(|file| &mut file.hunks) {
        let mut at = 0;
        while at < hunk.lines.len() {
            let run = |from: usize, kind: LineKind| {
                hunk.lines[from..].iter().take_while(|line| line.kind == kind).count()
            };
            let removed = run(at, LineKind::Removed);
            let added = run(at + removed, LineKind::Added);
            if removed > 0 && removed == added && removed <= COMPARED_LINES_MAX {
                for offset in 0..removed {
                    compare(&mut hunk.lines, at + offset, at + removed + offset);
                }
            }
            at += (removed + added).max(1);
        }
    }
}

fn compare(lines: &mut [PatchLine], old: usize, new: usize) {
    let (before, after) = (lines[old].text(), lines[new].text());
    if before.len() > COMPARED_CHARS_MAX || after.len() > COMPARED_CHARS_MAX {
        return;
    }
    let diff = TextDiff::from_unicode_words(&before, &after);
    // Lines with little in common are not marked.
    if diff.ratio() < 0.4 {
        return;
    }
    let (mut time_left, mut right) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let text = change.value();
        match change.tag() {
            ChangeTag::Equal => {
                push(&mut time_left, false, text);
                push(&mut right, false, text);
            }
            ChangeTag::Delete => push(&mut time_left, true, text),
            ChangeTag::Insert => push(&mut right, true, text),
        }
    }
    (lines[old].pieces, lines[new].pieces) = (time_left, right);
}

fn push(pieces: &mut Vec<(bool, String)>, changed: bool, text: &str) {
    match pieces.last_mut() {
        Some((kind, last)) if *kind == changed => last.push_str(text),
        _ => pieces.push((changed, text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
diff --git a/src/main.rs b/src/main.rs
index 111..222 100644
--- a/src/main.rs
+++ b/src/main.rs
@@ -10,3 +10,4 @@ fn main() {
 let a = 1;
-let b = two(a, 2);
+let b = three(a, 2);
+let c = 3;
 done();
diff --git a/old name.txt b/new name.txt
rename from old name.txt
rename to new name.txt
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-- a line that begins with a dash
\\ No newline at end of file
";

    #[test]
    fn a_patch_is_parsed_into_files_hunks_and_lines() {
        let (files, is_cut) = read(PATCH);
        assert!(!is_cut);
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["src/main.rs", "new name.txt", "gone"]);
        let lines: Vec<_> =
            files[0].hunks[0].lines.iter().map(|line| (line.old, line.new, line.text())).collect();
        assert_eq!(lines[0], (Some(10), Some(10), "let a = 1;".to_owned()));
        assert_eq!(lines[1], (Some(11), None, "let b = two(a, 2);".to_owned()));
        assert_eq!(lines[3], (None, Some(12), "let c = 3;".to_owned()));
        assert_eq!(lines[4], (Some(12), Some(13), "done();".to_owned()));
        assert_eq!(files[1].notes.len(), 2);
        assert_eq!(files[2].hunks[0].lines[0].text(), "- a line that begins with a dash");
        assert_eq!((files[0].count(LineKind::Added), files[0].count(LineKind::Removed)), (2, 1));
    }

    #[test]
    fn changed_words_are_marked() {
        let patch = "diff --git a/x b/x\n@@ -1 +1 @@\n-let b = two(a, 2);\n+let b = three(a, 2);\n";
        let (files, _) = read(patch);
        let marked = |line: usize| -> Vec<&str> {
            let pieces = &files[0].hunks[0].lines[line].pieces;
            pieces.iter().filter(|(changed, _)| *changed).map(|(_, text)| text.as_str()).collect()
        };
        assert_eq!((marked(0), marked(1)), (vec!["two"], vec!["three"]));
    }

    #[test]
    fn any_text_can_be_parsed() {
        for text in ["", "@@", "+", "diff --git ", "diff --git a b\n@@ -x +y @@\n+ä\n+", "\0\u{feff}"] {
            read(text);
        }
        let long = format!("diff --git a/x b/x\n@@ -1 +1 @@\n{}", "+x\n".repeat(LINES_MAX + 5));
        let (files, is_cut) = read(&long);
        assert!(is_cut);
        assert_eq!(files[0].count(LineKind::Added), LINES_MAX);
    }
}
