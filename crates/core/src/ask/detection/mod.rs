//! Detects whether a text asks its reader something. Only prose counts, not code, quotes or URLs.

use crate::base::text::NonBlank;

/// Longest question extracted from an output. Longer ones are cut and marked; the output keeps the whole text.
const QUESTION_CHARS_MAX: usize = 4_000;

/// Whether the prose of `output` asks the human something.
pub fn asks(output: &str) -> bool {
    prose_paragraphs(output).iter().any(|paragraph| paragraph_asks(paragraph))
}

/// The paragraphs of `output` that ask, joined into one question.
pub fn question_in(output: &str) -> Option<NonBlank> {
    let asking: Vec<String> =
        prose_paragraphs(output).into_iter().filter(|paragraph| paragraph_asks(paragraph)).collect();
    let mut text = asking.join("\n\n");
    if let Some((cut, _)) = text.char_indices().nth(QUESTION_CHARS_MAX) {
        text.truncate(cut);
        text.push('…');
    }
    NonBlank::new(text).ok()
}

/// The text without code blocks and quoted lines, split at blank lines.
fn prose_paragraphs(output: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fence: Option<&str> = None;
    for line in output.lines() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(open), Some(closing)) if open == closing => fence = None,
            // Nothing inside code is a question.
            (Some(_), _) => {}
            (None, None) if trimmed.is_empty() => paragraphs.push(String::new()),
            (None, None)
                if line.starts_with("    ") || line.starts_with('\t') || trimmed.starts_with('>') => {}
            (None, None) => {
                if let Some(last) = paragraphs.last_mut() {
                    if !last.is_empty() {
                        last.push('\n');
                    }
                    last.push_str(line.trim_end());
                }
            }
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

fn paragraph_asks(paragraph: &str) -> bool {
    let prose = without_inline_code(paragraph);
    prose.split_whitespace().any(word_ends_a_question) || offers_a_choice(&prose)
}

/// Drops `code` between backticks. A lone backtick opens nothing.
fn without_inline_code(paragraph: &str) -> String {
    let pieces: Vec<&str> = paragraph.split('`').collect();
    let last = pieces.len() - 1;
    let mut prose = String::with_capacity(paragraph.len());
    for (index, piece) in pieces.iter().enumerate() {
        let is_code = index % 2 == 1 && index < last;
        prose.push_str(if is_code { "_" } else { piece });
    }
    prose
}

/// Whether a word ends a question: it ends with a question mark (before closing punctuation), and it is not a URL
/// with a query, nor a lone `?` or `??` used as an operator.
fn word_ends_a_question(word: &str) -> bool {
    let core = word.trim_end_matches(['"', '\'', ')', ']', '*', '_', '”', '’', '»', '」', '!', '.', ',']);
    let is_address = core.contains("://") || core.starts_with("www.");
    let wide = core.ends_with('？');
    let plain = core.ends_with('?')
        && core.trim_end_matches('?').ends_with(|c: char| c.is_alphanumeric() || "_)]}'\"”’%".contains(c));
    (plain || wide) && !is_address
}

/// `[YES/NO]`, `(y/n)`: an offered choice is a question without a question mark.
fn offers_a_choice(prose: &str) -> bool {
    let lower = prose.to_lowercase();
    ["[yes/no", "(yes/no", "yes/no:", "[y/n]", "(y/n)"].iter().any(|offer| lower.contains(offer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn questions_in_prose_are_found() {
        for asking in [
            "Which file should I change?",
            "Done.\n\nShould I also update the docs? I can do it now.",
            "Proceed? (YES/NO)",
            "Delete the table [YES/NO]",
            "どのファイルを変更しますか？",
            "Is `main` the base branch?",
            "**Shall I go on?**",
            "He asked \"really?\"",
            "- option A or B?",
            "A lone ` tick. Which one?",
        ] {
            assert!(asks(asking), "{asking}");
        }
    }

    #[test]
    fn code_quotes_and_urls_are_not_questions() {
        for silent in [
            "",
            "All done.",
            "```\nwhy?\n```\nDone.",
            "~~~rust\nlet x = y?;\n~~~",
            "    indented = really?\n",
            "Use `value?` to pass the error on.",
            "See https://example.org/search?q=a or http://x/?",
            "> what the user asked: which one?\n\nAnswered below.",
            "let a = b ? c : d",
            "The ?? operator",
            "```\nnever closed: why?",
        ] {
            assert!(!asks(silent), "{silent}");
        }
    }

    #[test]
    fn the_asking_paragraphs_become_one_question() {
        let output = "I changed two files.\n\nWhich database?\nPostgres or SQLite.\n\n```\nno?\n```\n\nAnd which port?";
        assert_eq!(
            question_in(output).unwrap().as_str(),
            "Which database?\nPostgres or SQLite.\n\nAnd which port?"
        );
        assert_eq!(question_in("nothing"), None);
        assert!(question_in(&format!("{}?", "word".repeat(5_000))).unwrap().as_str().ends_with('…'));
    }

    proptest! {
        #[test]
        fn any_text_is_judged_without_panic(text in any::<String>()) {
            prop_assert_eq!(asks(&text), question_in(&text).is_some());
        }

        #[test]
        fn a_question_after_any_paragraphs_without_code_is_found(before in "[a-z .\n]{0,200}") {
            let message = format!("{before}\n\nWhich one?");
            prop_assert!(asks(&message));
        }
    }
}
