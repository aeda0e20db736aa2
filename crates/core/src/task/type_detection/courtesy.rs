//! Messages that ask for nothing: greetings and thanks.

/// One of them is in every such message.
#[rustfmt::skip]
const GREETINGS: &[&str] = &[
    "hello", "hi", "hey", "thanks", "thank", "thx", "cheers", "bye", "goodbye", "great", "good", "nice", "cool", "perfect", "excellent",
    "awesome", "brilliant", "ok", "okay", "welcome",
    "hallo", "moin", "servus", "danke", "dankeschön", "dank", "guten", "super", "prima", "tschüss", "perfekt",
    "bonjour", "bonsoir", "salut", "merci", "parfait",
    "hola", "gracias", "buenos", "buenas", "perfecto", "adiós", "genial",
    "ciao", "grazie", "buongiorno", "buonasera", "perfetto", "olá", "oi", "obrigado", "obrigada", "bom", "valeu",
    "hoi", "bedankt", "goedemorgen", "привет", "здравствуйте", "спасибо", "dzięki", "cześć", "dziękuję",
    "こんにちは", "こんばんは", "おはよう", "おはようございます", "ありがとう", "ありがとうございます", "ありがとうございました", "お疲れ様です",
    "お疲れさまです", "了解です", "よろしくお願いします",
    "你好", "您好", "谢谢", "谢谢你", "多谢", "早上好", "안녕하세요", "감사합니다", "고마워요", "고맙습니다",
];

/// What else such a message has.
#[rustfmt::skip]
const FILLING: &[&str] = &[
    "there", "you", "very", "much", "a", "lot", "so", "again", "well", "done", "work", "job", "morning", "afternoon", "evening", "night",
    "day", "everyone", "all", "team", "baton", "many", "to", "see", "that's", "that", "is", "was", "everything", "for",
    "vielen", "morgen", "tag", "abend", "sehr", "gut", "dir", "ihnen", "schön", "arbeit", "gute", "beaucoup", "bien", "bon", "travail", "au",
    "revoir", "muchas", "días", "tardes", "noches", "mucho", "mille", "tante", "muito", "dia", "je", "wel", "большое", "どうも", "本当に",
];

/// Longer ones say something.
const WORDS_MAX: usize = 6;

/// Whether a message consists of courtesies, or of signs alone.
pub(super) fn is_courtesy(text: &str, words: &[&str]) -> bool {
    if words.is_empty() {
        return !text.trim().is_empty();
    }
    words.len() <= WORDS_MAX
        && words.iter().any(|word| GREETINGS.contains(word))
        && words.iter().all(|word| GREETINGS.contains(word) || FILLING.contains(word))
}
