//! The phrases that tell who a question is for, and those that ask without a question mark. In lower case.

/// Ends of questions without a question mark.
pub(super) const QUESTION_ENDINGS: [&str; 9] =
    ["ますか", "ですか", "ませんか", "でしょうか", "ましょうか", "吗", "습니까", "까요", "나요"];

/// A question with one of these is for the reader.
#[rustfmt::skip]
const ADDRESSED: [&str; 38] = [
    "should i", "should we", "should it", "should the", "should be", "shall i", "shall we", "may i", "may we", "can i ",
    "could i ", "must i", "do i ", "do you", "would you", "will you", "can you", "could you", "are you", "have you", "did you",
    "want me", "want to", "prefer", "ok to", "okay to", "is it ok", "which one", "soll ich", "sollen wir", "darf ich",
    "möchten sie", "möchtest du", "voulez-vous", "dois-je", "souhaitez-vous", "debo ", "quieres que",
];

/// Requests for a decision or for information.
#[rustfmt::skip]
const REQUESTS: &[&str] = &[
    "reply yes", "answer yes", "reply with yes", "type yes",
    "please confirm", "please choose", "please decide", "please clarify", "please advise", "please specify",
    "please tell me", "please let me know", "please answer", "please approve", "please pick", "please select",
    "please indicate", "please say ", "please provide", "please give me", "please respond", "please reply",
    "i need to know", "i need your", "i need you to", "i need more information", "i need a decision",
    "i need an answer", "i need clarification", "i must know", "i have to know", "need clarification on",
    "waiting for your", "awaiting your", "until you confirm", "until you decide", "until you answer",
    "without your approval", "without your decision", "without your answer", "without your confirmation",
    "tell me which", "tell me what", "tell me whether", "tell me how", "let me know which", "let me know whether",
    "let me know what", "let me know how",
    "veuillez confirmer", "veuillez préciser", "veuillez choisir", "merci de confirmer", "merci de préciser",
    "dites-moi", "j'ai besoin de savoir", "merci de me préciser", "merci de me dire", "merci de m'indiquer", "veuillez indiquer",
    "bitte gib", "bitte geben", "bitte nenne", "bitte sag", "bitte bestätig", "bitte entscheid", "bitte wähl", "ich muss wissen", "sagen sie mir", "sag mir",
    "por favor, confirm", "por favor confirm", "necesito saber", "preciso saber",
    "j'ai besoin de votre", "j'ai besoin de ton", "j'ai besoin d'une réponse", "j'ai besoin d'une décision",
    "ich brauche deine", "ich brauche ihre", "ich benötige deine", "ich benötige ihre", "ich brauche eine entscheidung",
    "ich brauche eine antwort", "per favore conferm", "per favore, conferm", "per favore indic", "per favore, indic",
    "per favore scegli", "ho bisogno di sapere", "ho bisogno della tua", "ho bisogno della sua",
    "пожалуйста, подтверд", "пожалуйста подтверд", "пожалуйста, уточн", "пожалуйста, укаж", "пожалуйста, выбер", "мне нужно знать",
    "мне нужно ваше", "мне нужно твоё",
];

/// What one is told at the end of an answer; it needs no reply.
#[rustfmt::skip]
const CLOSINGS: &[&str] = &[
    "let me know if you need", "let me know if you have", "let me know if you'd like", "let me know if you would like",
    "let me know if you want", "let me know if anything", "let me know if something", "let me know if there is anything",
    "let me know if there's anything", "let me know if any ", "let me know should you", "let me know in case",
    "wenn du fragen", "wenn sie fragen", "falls du fragen", "falls sie fragen", "falls noch fragen", "wenn du noch", "wenn sie noch",
    "wenn etwas unklar", "falls etwas unklar", "bei fragen", "si vous avez des questions", "si tu as des questions", "si besoin",
    "si tienes preguntas", "si tiene preguntas", "se hai domande", "se ha domande", "если есть вопросы", "если возникнут вопросы",
    "ご不明", "不明な点", "何かあれば", "何かありましたら", "何かございましたら", "質問があれば", "質問がありましたら", "ご質問", "問題があれば",
    "如有", "如果有", "如需", "궁금한", "있으면 알려", "있으시면 알려",
];

/// Even so it asks: the writer waits for this.
const WAITED_FOR: [&str; 3] = ["if you want me to", "if you'd like me to", "if you would like me to"];

/// The same in languages without spaces between words.
#[rustfmt::skip]
const REQUESTS_ANYWHERE: &[&str] = &[
    "ことを確認してください", "ことをご確認ください", "で良いか確認",
    "教えてください", "教えて下さい", "指定してください", "選んでください", "選択してください", "知らせてください",
    "お知らせください", "決めてください", "か確認してください", "かご確認ください", "かを確認してください", "ご指示ください",
    "ご判断ください", "确认是否", "请确认", "请告诉我", "请选择", "알려 주세요", "알려주세요", "확인해 주세요",
    "ご指示をお願い", "指示をお願い", "ご確認をお願い", "ご判断をお願い", "ご承認をお願い", "ご回答をお願い", "ご返答をお願い", "承認が必要です",
    "ご承認が必要", "指示が必要です", "判断が必要です",
];

/// How an answer to one's own question begins.
#[rustfmt::skip]
const ANSWERS: [&str; 16] = [
    "yes", "no", "none", "nothing", "nobody", "never", "because", "answer:", "oui", "non", "ja", "nein",
    "sí", "はい", "いいえ", "なし",
];

/// Why-questions in languages without word order to go by; followed by anything, they are rhetorical.
const WHY: [&str; 4] = ["なぜ", "どうして", "何故", "为什么"];

const CHOICES: [&str; 5] = ["[yes/no", "(yes/no", "yes/no:", "[y/n]", "(y/n)"];

/// `[YES/NO]`, `(y/n)`: an offered choice is a question without a question mark.
pub(super) fn offers_a_choice(prose: &str) -> bool {
    let lower = prose.to_lowercase();
    CHOICES.iter().any(|offer| lower.contains(offer))
}

pub(super) fn is_addressed(question: &str) -> bool {
    if offers_a_choice(question) {
        return true;
    }
    // "How do I …?" and "Can I …?" are also how a manual asks; there an answer follows, and that decides first.
    let is_manual =
        ["how do i", "how can i", "how to", "why "].iter().any(|start| question.starts_with(start));
    let is_foreign = !question.is_ascii()
        && question.chars().any(|c| ('\u{3040}'..='\u{9fff}').contains(&c) || ('가'..='힣').contains(&c));
    if is_foreign {
        return !WHY.iter().any(|why| question.starts_with(why));
    }
    !is_manual && ADDRESSED.iter().any(|phrase| question.contains(phrase))
}

/// Words that begin a question to which yes and no are no answers.
#[rustfmt::skip]
const ASKING_WORDS: [&str; 20] = [
    "why", "what", "which", "how", "who", "when", "where", "welche", "welcher", "welches", "welchen", "was", "wie", "wo", "wann",
    "quel", "quelle", "qué", "cuál", "dónde",
];

/// The order of words that makes a sentence a question to the reader, whatever it ends with.
#[rustfmt::skip]
const INVERTED: [&str; 14] = [
    "should i", "should we", "shall i", "shall we", "do you want", "do you prefer", "would you like", "would you prefer",
    "soll ich", "sollen wir", "möchtest du", "dois-je", "devons-nous", "debo ",
];

/// What somebody who cannot go on needs, said at the end of the sentence.
const TO_GO_ON: [&str; 5] = ["to continue", "to proceed", "to go on", "before i can", "to finish this"];

pub(super) fn begins_with_asking_word(sentence: &str) -> bool {
    let first = sentence.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|first| ASKING_WORDS.contains(&first))
}

pub(super) fn requests(sentence: &str) -> bool {
    let is_closing = CLOSINGS.iter().any(|closing| sentence.contains(closing));
    if is_closing && !WAITED_FOR.iter().any(|offer| sentence.contains(offer)) {
        return false;
    }
    // "Should I find more, I will say so" is a condition.
    let is_condition = [", i ", ", i'll", ", we "].iter().any(|main| sentence.contains(main));
    if INVERTED.iter().any(|order| sentence.starts_with(order)) && !is_condition {
        return true;
    }
    // "Before I go on, tell me …": not what somebody else tells.
    if sentence.starts_with("tell me ") || sentence.contains(", tell me ") {
        return true;
    }
    if begins_with_asking_word(sentence) && INVERTED.iter().any(|order| sentence.contains(order)) {
        return true;
    }
    let needs = sentence.starts_with("i need ") || sentence.contains(" i need ");
    if needs && TO_GO_ON.iter().any(|end| sentence.contains(end)) {
        return true;
    }
    // Alone it asks the reader; with an object ("the README") it is advice.
    if ["確認してください", "ご確認ください"].contains(&sentence.trim_end_matches(['。', '！', '!', '.']))
    {
        return true;
    }
    let at_word = |phrase: &str| {
        sentence.match_indices(phrase).any(|(at, _)| !sentence[..at].ends_with(char::is_alphanumeric))
    };
    REQUESTS.iter().any(|phrase| at_word(phrase))
        || REQUESTS_ANYWHERE.iter().any(|phrase| sentence.contains(phrase))
}

/// Whether a sentence says what can be answered to the question before it.
pub(super) fn lists_options(question: &str, sentence: &str) -> bool {
    let takes_yes = !begins_with_asking_word(question);
    offers_a_choice(sentence)
        || (takes_yes && ["yes:", "yes ", "no:", "no "].iter().any(|option| sentence.starts_with(option)))
        || [" or ", " oder ", " ou ", " o ", "または", "それとも"].iter().any(|or| sentence.contains(or))
}

/// "Yes, 12 ms.", not "YES: it goes on", which says what an answer would do.
pub(super) fn begins_an_answer(sentence: &str) -> bool {
    ANSWERS.iter().any(|answer| {
        let Some(rest) = sentence.strip_prefix(answer) else { return false };
        let is_labelled = answer.ends_with(':') || *answer == "because";
        is_labelled || rest.is_empty() || rest.starts_with([',', '.', '!', ';', '、', '。'])
    })
}
