//! A task as an editable document: a few `name: value` lines, a blank line, then the description.

use std::fmt::Write;

use baton_core::base::id::TaskId;
use baton_core::base::priority::Priority;
use baton_core::base::text::nearest;

/// The editable fields of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskDocument {
    pub(crate) title: String,
    pub(crate) priority: Priority,
    pub(crate) description: String,
}

/// What is wrong with a document, and on which line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TaskDocumentError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

const NAMES: [&str; 2] = ["title", "priority"];

impl TaskDocument {
    pub(crate) fn write(&self, id: TaskId) -> String {
        let mut text = format!(
            "# {id}. Save and exit to apply changes; exit without changes to cancel.\n\
             # Everything below the first blank line is the description.\n"
        );
        // Writing to a String cannot fail.
        let _ = writeln!(text, "title: {}\npriority: {}\n", self.title, self.priority.as_str());
        text.push_str(&self.description);
        if !self.description.is_empty() && !self.description.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// Fields that are left out keep their value in `before`.
    pub(crate) fn parse(text: &str, before: &Self) -> Result<Self, TaskDocumentError> {
        let mut parsed = before.clone();
        let mut lines = text.split_inclusive('\n');
        for (number, line) in (1..).zip(lines.by_ref()) {
            let bad = |message: String| TaskDocumentError { line: number, message };
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if line.starts_with('#') {
                continue;
            }
            let Some((name, value)) = line.split_once(':') else {
                return Err(bad(format!(
                    "\"{line}\" is not a name: value line; the description starts after a blank line"
                )));
            };
            let value = value.trim();
            match name.trim() {
                "title" if value.is_empty() => return Err(bad("the title is blank".to_owned())),
                "title" => value.clone_into(&mut parsed.title),
                "priority" => {
                    parsed.priority = value.parse().map_err(|error| bad(format!("{error}")))?;
                }
                other => {
                    let known = nearest(other, NAMES).map(|name| format!("; did you mean {name}?"));
                    return Err(bad(format!("unknown field \"{other}\"{}", known.unwrap_or_default())));
                }
            }
        }
        let rest: String = lines.collect();
        // Editors add a line break at the end.
        if rest.trim_end() != before.description.trim_end() {
            rest.trim_end().clone_into(&mut parsed.description);
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before() -> TaskDocument {
        TaskDocument {
            title: "Fix: the login".to_owned(),
            priority: Priority::P1,
            description: "# Why\n\nIt fails on Mondays.".to_owned(),
        }
    }

    #[test]
    fn a_written_task_reads_back_the_same() {
        let text = before().write(TaskId::from_bits(1));
        assert_eq!(TaskDocument::parse(&text, &before()), Ok(before()));
        let empty = TaskDocument { description: String::new(), ..before() };
        assert_eq!(TaskDocument::parse(&empty.write(TaskId::from_bits(1)), &empty), Ok(empty));
    }

    #[test]
    fn omitted_fields_keep_their_value() {
        let read = TaskDocument::parse("priority: P0\n\nOn Tuesdays, too.\n\n", &before()).unwrap();
        let wanted = TaskDocument {
            priority: Priority::P0,
            description: "On Tuesdays, too.".to_owned(),
            title: before().title,
        };
        assert_eq!(read, wanted);
    }

    #[test]
    fn an_error_names_its_line() {
        let error = |text: &str| {
            let bad = TaskDocument::parse(text, &before()).unwrap_err();
            format!("{}: {}", bad.line, bad.message)
        };
        assert_eq!(error("# note\ntitel: x\n"), "2: unknown field \"titel\"; did you mean title?");
        assert_eq!(error("title:\n"), "1: the title is blank");
        assert!(
            error("Fix it\n").starts_with("1: \"Fix it\" is not a name: value line"),
            "{}",
            error("Fix it\n")
        );
        assert!(error("priority: soon\n").starts_with("1: "), "{}", error("priority: soon\n"));
    }
}
