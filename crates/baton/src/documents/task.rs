//! A task as a text that people edit: a few lines of `name: value`, a blank line, and then the description as it is.

use std::fmt::Write;

use baton_core::id::TaskId;
use baton_core::priority::Priority;
use baton_core::text::nearest;

/// What can be changed of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDocument {
    pub title: String,
    pub priority: Priority,
    pub description: String,
}

/// Why a text is not one, and on which line.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskDocumentError {
    pub line: usize,
    pub message: String,
}

const NAMES: [&str; 2] = ["title", "priority"];

impl TaskDocument {
    pub fn write(&self, id: TaskId) -> String {
        let mut text = format!(
            "# {id}: what it asks for. Save and leave the editor to change it; leave it as it is to change nothing.\n\
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

    /// What is left out stays as it is in `before`.
    pub fn read(text: &str, before: &Self) -> Result<Self, TaskDocumentError> {
        let mut read = before.clone();
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
                    "\"{line}\" is not of the form name: value; the description begins after a blank line"
                )));
            };
            let value = value.trim();
            match name.trim() {
                "title" if value.is_empty() => return Err(bad("the title is blank".to_owned())),
                "title" => value.clone_into(&mut read.title),
                "priority" => {
                    read.priority = value.parse().map_err(|error| bad(format!("{error}")))?;
                }
                other => {
                    let known = nearest(other, NAMES).map(|name| format!("; did you mean {name}?"));
                    return Err(bad(format!("there is no \"{other}\" to set{}", known.unwrap_or_default())));
                }
            }
        }
        let rest: String = lines.collect();
        // An editor ends a file with a line break; whether there was one before does not matter.
        if rest.trim_end() != before.description.trim_end() {
            rest.trim_end().clone_into(&mut read.description);
        }
        Ok(read)
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
    fn what_is_written_reads_as_the_same() {
        let text = before().write(TaskId::from_bits(1));
        assert_eq!(TaskDocument::read(&text, &before()), Ok(before()));
        let empty = TaskDocument { description: String::new(), ..before() };
        assert_eq!(TaskDocument::read(&empty.write(TaskId::from_bits(1)), &empty), Ok(empty));
    }

    #[test]
    fn what_is_changed_is_read_and_what_is_left_out_stays() {
        let read = TaskDocument::read("priority: P0\n\nOn Tuesdays, too.\n\n", &before()).unwrap();
        let wanted = TaskDocument {
            priority: Priority::P0,
            description: "On Tuesdays, too.".to_owned(),
            title: before().title,
        };
        assert_eq!(read, wanted);
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let told = |text: &str| {
            let bad = TaskDocument::read(text, &before()).unwrap_err();
            format!("{}: {}", bad.line, bad.message)
        };
        assert_eq!(told("# note\ntitel: x\n"), "2: there is no \"titel\" to set; did you mean title?");
        assert_eq!(told("title:\n"), "1: the title is blank");
        assert!(
            told("Fix it\n").starts_with("1: \"Fix it\" is not of the form name: value"),
            "{}",
            told("Fix it\n")
        );
        assert!(told("priority: soon\n").starts_with("1: "), "{}", told("priority: soon\n"));
    }
}
