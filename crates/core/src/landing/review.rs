//! The review of one task's work by another agent: how it is found, and what it says.

use crate::base::git_name::CommitId;
use crate::base::id::{SessionId, TaskId};
use crate::base::text::{NonBlank, Role};
use crate::task::TaskSpec;

/// The words that a review ends with.
const AGREE: &str = "AGREE";
const DISAGREE: &str = "DISAGREE";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewOpinion {
    Agrees,
    Disagrees { reason: NonBlank },
}

/// The session that all reviews of a task are in.
pub fn review_session(task: TaskId) -> Option<SessionId> {
    format!("review-{task}").parse().ok()
}

/// Whether this task is a review of another one's work.
pub fn is_review(spec: &TaskSpec) -> bool {
    let of_task = spec.session_id.as_str().strip_prefix("review-").and_then(|id| id.parse::<TaskId>().ok());
    spec.role == Role::verify() && of_task.is_some()
}

/// The line by which a review names what it is about.
pub fn subject_line(head: &CommitId) -> String {
    format!("Commit under review: {head}")
}

/// The opinion in what the reviewer wrote: its last line that begins with one of the words. None if it said neither.
pub fn opinion_in(output: &str) -> Option<ReviewOpinion> {
    let lines: Vec<&str> = output.lines().map(plain).collect();
    let (number, word) = lines.iter().enumerate().rev().find_map(|(number, line)| {
        let word = line.split(|c: char| !c.is_ascii_alphabetic()).next()?;
        [AGREE, DISAGREE].contains(&word).then_some((number, word))
    })?;
    if word == AGREE {
        return Some(ReviewOpinion::Agrees);
    }
    // What stands after the word, or else all that was said before it.
    let after = lines[number][DISAGREE.len()..].trim_start_matches([':', '.', ' ', '-', '*', '—']);
    let rest: Vec<&str> = std::iter::once(after).chain(lines[number + 1..].iter().copied()).collect();
    let whole = NonBlank::or(output, NonBlank::fixed("the reviewer disagrees, without a reason"));
    Some(ReviewOpinion::Disagrees { reason: NonBlank::or(rest.join("\n").trim(), whole) })
}

fn plain(line: &str) -> &str {
    line.trim().trim_start_matches(['*', '_', '#', '`', '>', ' ']).trim_end_matches(['*', '_', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_counts() {
        let reason = |output: &str| match opinion_in(output) {
            Some(ReviewOpinion::Disagrees { reason }) => reason.to_string(),
            other => format!("{other:?}"),
        };
        for agreed in ["AGREE", "All fine.\n\n**AGREE**", "DISAGREE at first\nAGREE.", "> AGREE\n\n"] {
            assert_eq!(opinion_in(agreed), Some(ReviewOpinion::Agrees), "{agreed}");
        }
        for neither in ["", "I agree.", "AGREED", "It is hard to say", "Agree"] {
            assert_eq!(opinion_in(neither), None, "{neither}");
        }
        assert_eq!(reason("AGREE\nNo:\nDISAGREE: no test"), "no test");
        assert_eq!(reason("The loop never ends.\n**DISAGREE**"), "The loop never ends.\n**DISAGREE**");
        assert_eq!(reason("DISAGREE:\n- one\n- two"), "- one\n- two");
    }
}
