//! A text as paragraphs of sentences, without code, quotes and URLs.

#[derive(Debug)]
pub(super) struct Paragraph {
    /// As written.
    pub text: String,
    /// Without code, quotes and URLs.
    pub prose: String,
    pub sentences: Vec<Sentence>,
    pub is_heading: bool,
    /// Below a heading such as "FAQ", where questions come with their answers.
    pub is_faq: bool,
}

#[derive(Debug)]
pub(super) struct Sentence {
    /// In lower case, without what surrounds it.
    pub text: String,
    pub is_question: bool,
}

/// Stands for what was taken out.
const GAP: &str = "_";

/// A longer passage is not a quotation but a mark that was never closed.
const QUOTE_CHARS_MAX: usize = 1_000;

/// Quotation marks, opening and closing.
const QUOTES: [(char, char); 8] =
    [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('»', '«'), ('「', '」'), ('『', '』'), ('‘', '’')];

pub(super) fn paragraphs(output: &str) -> Vec<Paragraph> {
    let mut is_faq = false;
    let mut paragraphs = Vec::new();
    for text in blocks(output) {
        let is_heading = text.starts_with('#');
        if is_heading {
            is_faq = false;
        }
        is_faq |= (is_heading || !text.contains('\n')) && names_faq(&text);
        let code_free = without_inline_code(&text);
        let unquoted = without_reported(&without_quotes(&code_free));
        // A text that is nothing but a quote is what its writer says.
        let is_all_quoted = unquoted.chars().all(|c| !c.is_alphanumeric());
        let prose = without_addresses(if is_all_quoted { &code_free } else { &unquoted });
        paragraphs.push(Paragraph { sentences: sentences(&prose), text, prose, is_heading, is_faq });
    }
    paragraphs
}

fn names_faq(text: &str) -> bool {
    let is_word = |word: &str| {
        matches!(word.trim_matches(|c: char| !c.is_alphanumeric() && c != '&'), "FAQ" | "FAQs" | "Q&A")
    };
    text.split_whitespace().any(is_word) || text.to_lowercase().contains("frequently asked")
}

/// The text without code blocks, tables and quoted lines, split at blank lines; each heading by itself.
fn blocks(output: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let mut fence: Option<&str> = None;
    let mut is_in_table = false;
    let mut lines = output.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        // A table begins with the line above its rule and ends where a line has no cells.
        is_in_table =
            line.contains('|') && (is_in_table || lines.peek().is_some_and(|next| is_table_rule(next)));
        if is_in_table && fence.is_none() {
            continue;
        }
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(open), Some(closing)) if open == closing => fence = None,
            // Nothing inside code is a question.
            (Some(_), _) => {}
            (None, None) if trimmed.is_empty() => blocks.push(String::new()),
            (None, None)
                if line.starts_with("    ") || line.starts_with('\t') || trimmed.starts_with('>') => {}
            (None, None) if trimmed.starts_with('#') => {
                blocks.extend([line.trim().to_owned(), String::new()]);
            }
            (None, None) => {
                if let Some(last) = blocks.last_mut() {
                    if !last.is_empty() {
                        last.push('\n');
                    }
                    last.push_str(line.trim_end());
                }
            }
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// `| --- | :-: |`, between the head of a table and its rows.
fn is_table_rule(line: &str) -> bool {
    line.contains('|')
        && line.contains('-')
        && line.chars().all(|c| matches!(c, '|' | '-' | ':') || c.is_whitespace())
}

/// Drops `code` between backticks. A lone backtick opens nothing.
fn without_inline_code(paragraph: &str) -> String {
    let pieces: Vec<&str> = paragraph.split('`').collect();
    let last = pieces.len() - 1;
    let mut prose = String::with_capacity(paragraph.len());
    for (index, piece) in pieces.iter().enumerate() {
        let is_code = index % 2 == 1 && index < last;
        prose.push_str(if is_code { GAP } else { piece });
    }
    prose
}

/// Drops quoted passages. A mark that is never closed opens nothing.
fn without_quotes(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let closing = QUOTES.iter().find(|(open, _)| *open == first).map(|(_, close)| *close);
        let is_closing = |c: char| closing == Some(c);
        let end = closing
            .and_then(|_| after.char_indices().take(QUOTE_CHARS_MAX).find(|(_, c)| is_closing(*c)))
            .map(|(at, close)| at + close.len_utf8());
        if let Some(end) = end {
            prose.push_str(GAP);
            rest = &after[end..];
        } else {
            prose.push(first);
            rest = after;
        }
    }
    prose
}

/// Verbs before a colon after which a program is quoted, or a page: "The log says: …".
#[rustfmt::skip]
const REPORTING: [&str; 18] = [
    "says", "said", "prints", "printed", "shows", "displays", "reads", "logs", "outputs", "reports", "contains",
    "sagt", "zeigt", "meldet", "steht", "dit", "affiche", "dice",
];

/// Drops what a line reports of somebody else's words, and comments of code.
fn without_reported(text: &str) -> String {
    let line = |line: &str| {
        let comment = line.match_indices("//").find(|(at, _)| line[..*at].ends_with(char::is_whitespace));
        let reported = line.match_indices(": ").find(|(at, _)| {
            let word = line[..*at].trim_end().rsplit(|c: char| !c.is_alphanumeric()).next();
            word.is_some_and(|word| REPORTING.contains(&word.to_lowercase().as_str()))
        });
        let end = [comment, reported].into_iter().flatten().map(|(at, _)| at).min();
        end.map_or_else(|| line.to_owned(), |end| format!("{}{GAP}", &line[..end]))
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn without_addresses(text: &str) -> String {
    let is_address = |word: &str| word.contains("://") || word.starts_with("www.");
    let line = |line: &str| {
        let words: Vec<&str> =
            line.split(' ').map(|word| if is_address(word) { GAP } else { word }).collect();
        words.join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A sentence ends at its mark, and at a line that begins a list item.
fn sentences(prose: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    for line in prose.lines() {
        if is_list_item(line) || line.trim_start().starts_with(['*', '#']) {
            push(&mut sentences, &mut current, false);
        }
        let letters: Vec<char> = line.chars().collect();
        for (index, letter) in letters.iter().enumerate() {
            current.push(*letter);
            if let Some(is_question) = ends_with(*letter, &letters[index + 1..], &current) {
                push(&mut sentences, &mut current, is_question);
            }
        }
        current.push(' ');
    }
    push(&mut sentences, &mut current, false);
    sentences
}

fn is_list_item(line: &str) -> bool {
    let trimmed = line.trim_start();
    let number = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    trimmed.starts_with("- ") || (number.len() < trimmed.len() && number.starts_with(['.', ')']))
}

/// Whether the sentence ends with this letter, and if so whether it is a question.
fn ends_with(letter: char, rest: &[char], so_far: &str) -> Option<bool> {
    let is_closing = |c: &&char| "\"')]*_”’»」!.,".contains(**c);
    let next = rest.iter().find(|c| !is_closing(c));
    let is_end = next.is_none_or(|c| c.is_whitespace());
    match letter {
        '？' | '؟' => Some(true),
        '。' | '！' => Some(ends_in_question_word(so_far)),
        '?' if is_end => is_question_mark(so_far, rest).then_some(true),
        '.' | '!' if is_end && !so_far.ends_with("_.") => Some(false),
        _ => None,
    }
}

/// Not an operator: it follows a word, or a space before the end of the sentence as in French.
fn is_question_mark(so_far: &str, rest: &[char]) -> bool {
    let before = so_far.trim_end_matches('?');
    if before.ends_with(|c: char| c.is_alphanumeric() || "_)]}'\"”’%*".contains(c)) {
        return true;
    }
    let is_after_word = before.trim_end().ends_with(|c: char| c.is_alphanumeric() || "_)%»".contains(c));
    let is_single = before.len() + 1 == so_far.len() && before.ends_with([' ', '\u{a0}', '\u{202f}']);
    let next = rest.iter().find(|c| !c.is_whitespace());
    is_single && is_after_word && next.is_none_or(|c| c.is_uppercase() || *c == '_')
}

/// Japanese and Chinese questions may end without a question mark.
fn ends_in_question_word(sentence: &str) -> bool {
    let words = sentence.trim_end_matches(['。', '！', ' ']);
    super::phrases::QUESTION_ENDINGS.iter().any(|ending| words.ends_with(ending))
}

fn push(sentences: &mut Vec<Sentence>, current: &mut String, is_question: bool) {
    let whole = std::mem::take(current);
    let text = whole.trim().trim_start_matches(|c: char| !c.is_alphanumeric() && c != '¿').to_lowercase();
    // The number of a list item is not a sentence.
    if !text.chars().any(char::is_alphabetic) {
        if is_question {
            sentences.push(Sentence { text, is_question });
        }
        return;
    }
    let is_question = is_question || ends_in_question_word(&whole);
    sentences.push(Sentence { text, is_question });
}
