//! Detects whether a text asks its reader something. Only prose counts: not code, quotes, URLs, headings or an FAQ.
//!
//! A question that the text answers itself ("Why was it slow? The index was missing.") asks nobody. One that is
//! addressed to the reader ("Should I …?"), or that nothing follows, does. So do requests for a decision without a
//! question mark.

mod phrases;
mod sentences;

use crate::base::text::NonBlank;
use sentences::{Paragraph, Sentence, paragraphs};

/// Longest question extracted from an output. Longer ones are cut and marked; the output keeps the whole text.
const QUESTION_CHARS_MAX: usize = 4_000;

/// Whether the prose of `output` asks the human something.
pub fn asks(output: &str) -> bool {
    asking(output).iter().any(|(_, count)| *count > 0)
}

/// The paragraphs of `output` that ask, joined into one question.
pub fn question_in(output: &str) -> Option<NonBlank> {
    let asking = asking(output);
    let texts: Vec<&str> =
        asking.iter().filter(|(_, count)| *count > 0).map(|(text, _)| text.as_str()).collect();
    let mut text = texts.join("\n\n");
    if let Some((cut, _)) = text.char_indices().nth(QUESTION_CHARS_MAX) {
        text.truncate(cut);
        text.push('…');
    }
    let count: usize = asking.iter().map(|(_, count)| count).sum();
    let text = NonBlank::new(text).ok()?;
    // I1: one question to answer, whatever the agent wrote.
    Some(if count > 1 {
        let lead = format!("{count} things; answer them in one reply.\n\n{text}");
        NonBlank::led_by("The agent asks ", &lead)
    } else {
        text
    })
}

/// Each paragraph, with the number of sentences that ask.
fn asking(output: &str) -> Vec<(String, usize)> {
    let paragraphs = paragraphs(output);
    let mut found = Vec::new();
    for (index, paragraph) in paragraphs.iter().enumerate() {
        let after = paragraphs.get(index + 1).and_then(|next| next.sentences.first());
        found.push((paragraph.text.clone(), count_asking(paragraph, after)));
    }
    found
}

fn count_asking(paragraph: &Paragraph, after: Option<&Sentence>) -> usize {
    if paragraph.is_faq {
        return 0;
    }
    let sentences = &paragraph.sentences;
    let asks = |index: usize| {
        let sentence = &sentences[index];
        if !sentence.is_question {
            return !paragraph.is_heading && phrases::requests(&sentence.text);
        }
        if paragraph.is_heading {
            return phrases::is_addressed(&sentence.text) && !after.is_some_and(is_answer);
        }
        match sentences.get(index + 1) {
            Some(next) => !is_answered_by(sentence, next),
            None => !after.is_some_and(|after| is_answer(after) || is_labelled_answer(sentence, after)),
        }
    };
    let count = (0..sentences.len()).filter(|index| asks(*index)).count();
    if count == 0 && !paragraph.is_heading && phrases::offers_a_choice(&paragraph.prose) { 1 } else { count }
}

/// Whether `next` answers the question before it in the same paragraph.
fn is_answered_by(question: &Sentence, next: &Sentence) -> bool {
    if is_answer(next) || is_labelled_answer(question, next) {
        return true;
    }
    if next.is_question || phrases::lists_options(&question.text, &next.text) {
        return false;
    }
    !phrases::is_addressed(&question.text)
}

fn is_answer(sentence: &Sentence) -> bool {
    !sentence.is_question && phrases::begins_an_answer(&sentence.text)
}

/// `Q: Is it fast?`, then `A: It is.` Below any other question, `A: fast` is an option.
fn is_labelled_answer(question: &Sentence, next: &Sentence) -> bool {
    question.text.starts_with("q:") && next.text.starts_with("a:")
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
            "どのファイルを変更しますか。",
            "削除してもよろしいでしょうか",
            "データベースの種類を教えてください。",
            "Is `main` the base branch?",
            "**Shall I go on?**",
            "- option A or B?",
            "A lone ` tick. Which one?",
            "Please confirm that I may delete the old table.",
            "I looked at it. Please choose one of the two.",
            "I need to know which database to use before I can go on.",
            "I need your decision on the schema.",
            "I cannot continue without your approval.",
            "Tell me which of the two you want.",
            "Let me know which branch to use.",
            "Le rapport est prêt. Voulez-vous que je corrige ?",
            "Veuillez confirmer la suppression.",
            "J'ai besoin de savoir quelle base utiliser.",
            "Bitte bestätigen Sie das Löschen.",
            "Ich muss wissen, welche Datenbank gemeint ist.",
            "¿Qué archivo debo cambiar?",
            "Por favor, confirma el borrado.",
            "请确认是否删除旧表。",
            "続行してよいか確認してください。",
            "この変更でよいかご確認ください",
            "어떤 파일을 변경할까요?",
            "Which database?\nPostgres or SQLite.",
            "1. Which port?\n2. Which host?",
            "## Should I delete the table?\n\nIt is not used any more.",
            "\"Which port?\"",
            "There are two ways: A or B. Which one do you want me to take?\n\n- A: fast\n- B: safe",
            "Welche Variante soll ich nehmen?\n\n- A: schnell\n- B: sicher",
            "どちらにしますか？\n- A: 速い\n- B: 安全",
            "Bitte gib mir den Namen des Branches.",
            "Merci de me préciser la branche cible.",
            "| id | name |\n| --- | --- |\n| 1 | a |\n\nWhich of the rows should I delete?",
            "Which of the rows | columns should I delete?",
            "Welche Datei soll ich ändern",
            "確認してください。",
            "ポートが80であることを確認してください。",
            "Which of these do you want:\n1. red\n2. blue",
            "I need the API key to continue.",
            "Reply YES to continue or NO to stop.",
            "Ready. Which file should I change",
            "The rest is done. What should the default be? I would use 80.",
            "Confirmez-vous que le port est 80 ?",
            "Le port est 80 ?",
            "Dois-je utiliser la version 2\u{a0}?",
            "Faut-il Python 3\u{202f}?",
            "J'ai besoin de votre accord pour continuer.",
            "Ich brauche deine Entscheidung, bevor ich weitermache.",
            "ご指示をお願いします。",
            "ご確認をお願いいたします。",
            "続行するには承認が必要です。",
            "Per favore conferma la porta.",
            "Пожалуйста, подтвердите порт.",
            "Before I go on, tell me the name of the database.",
            "Should I use tabs or spaces",
            "Soll ich Tabs oder Leerzeichen nehmen",
            "Please let me know if I should delete the table.",
            "Please let me know if you want me to delete the table.",
            "It says: done. Which port should I use?\n\nWhich host?",
        ] {
            assert!(asks(asking), "{asking}");
        }
    }

    #[test]
    fn what_asks_nobody_is_not_a_question() {
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
            "FAQ\n\nHow do I run it? With make run.\nIs it fast? Yes, 12 ms.",
            "## FAQ\n\n**How do I run it?**\n\nWith make run.",
            "Q: Is it fast?\nA: It is.",
            "Is it fast? Yes, 12 ms.",
            "What is slow? The join. Why? No index.",
            "It says what to do when I should retry.",
            "What you need to continue is in the README.",
            "The users need a token to continue, which the page says.",
            "Can I run it twice? No, the second run fails.",
            "Why was it slow? The index was missing. I added it to the list.",
            "なぜ遅いのですか？インデックスがありませんでした。",
            "# Open questions?\n\nNone.",
            "## What changed?\n\nThe parser.",
            "The user story says: \"Where is my order?\" and is covered by a test.",
            "Il demande « pourquoi ? » et la page répond.",
            "Der Text „Wirklich löschen?“ steht im Dialog.",
            "画面には「削除しますか？」と表示されます。",
            "Let me know if you have any questions.",
            "Everything is fine. Please let me know if you need anything else.",
            "Please let me know if you have questions.",
            "Please let me know if anything is unclear.",
            "ご不明な点があればお知らせください。",
            "何かあれば教えてください。",
            "Bitte sag Bescheid, wenn du noch Fragen hast.",
            "如有问题请告诉我。",
            "The log says: Are you sure? (y/n)",
            "TODO in code: // should we cache this?",
            "Should I find more, I will add it to the list.",
            "The logs tell me the cause.",
            "x = a > 1 ? 2 : 3",
            "Please note that the tests take a minute.",
            "Please see the README for details.",
            "The prompt asks the user to confirm the deletion.",
            "Everything was confirmed by the tests.",
            "動作は README を確認してください。",
            "| Field | Nullable? |\n| --- | --- |\n| id | no |",
            "Field | Ready?\n:-- | :-:\nid | yes",
            "The table:\n\n| Check | Passed? | Why? |\n|---|---|---|\n| lint | yes | clean |\n\nAll done.",
        ] {
            assert!(!asks(silent), "{silent}");
        }
    }

    #[test]
    fn the_asking_paragraphs_become_one_question() {
        let output = "I changed two files.\n\nWhich database?\nPostgres or SQLite.\n\n```\nno?\n```\n\nAnd which port?";
        assert_eq!(
            question_in(output).unwrap().as_str(),
            "The agent asks 2 things; answer them in one reply.\n\n\
             Which database?\nPostgres or SQLite.\n\nAnd which port?"
        );
        assert_eq!(question_in("Which port?\n\nI stop here.").unwrap().as_str(), "Which port?");
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
