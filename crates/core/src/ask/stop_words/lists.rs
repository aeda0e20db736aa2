//! What people say when they do not want work to go on, in many languages.

/// "No". What follows one behind a comma says what is wanted instead, or stops.
#[rustfmt::skip]
pub(super) const NEGATIONS: [&str; 16] = [
    "no", "nope", "nah", "nein", "nee", "nej", "non", "não", "нет", "hayır", "いいえ", "いや", "不", "아니요", "아니", "👎",
];

/// Other words that a refusal begins with.
#[rustfmt::skip]
pub(super) const REFUSALS: [&str; 29] = [
    "never", "stop", "cancel", "abort", "don't", "please don't", "not now", "not yet", "do not", "please do not", "rather not",
    "i would rather not", "i'd rather not", "no way", "bitte nicht", "noch nicht", "lieber nicht", "auf keinen fall", "auf gar keinen fall",
    "keinesfalls", "nie", "ne le fais pas", "surtout pas", "ダメ", "だめ", "許可しません", "許可できません", "不可以", "不行",
];

/// What may follow a refusal that is meant as nothing but that.
#[rustfmt::skip]
pub(super) const COURTESIES: [&str; 36] = [
    "thanks", "thank you", "thanks a lot", "please", "please don't", "please do not", "don't", "do not", "don't do it", "do not do it", "do it",
    "do that", "do this", "go on", "go ahead", "continue", "proceed", "start", "way", "not yet", "not yet please", "gracias", "lo hagas", "danke",
    "bitte nicht", "lieber nicht", "tu das nicht", "auf keinen fall", "merci", "grazie", "obrigado", "です", "まだです", "結構です", "ダメです", "谢谢",
];

/// Those that stop also with a reason behind a comma. "Wait, use port 80" is an instruction.
#[rustfmt::skip]
pub(super) const CLEAR_STOPS: [&str; 29] = [
    "stop", "stop it", "cancel", "cancel it", "abort", "not now", "not yet", "not today", "later", "maybe later", "forget it", "stopp", "abbrechen",
    "nicht jetzt", "jetzt nicht", "noch nicht", "später", "hör auf", "pas maintenant", "pas encore", "plus tard", "ahora no", "todavía no",
    "más tarde", "agora não", "やめて", "今はやめて", "後で", "あとで",
];

/// Answers that stop the work, whatever was asked. "No" is not among them: it answers many questions.
#[rustfmt::skip]
pub(super) const STOPS: [&str; 192] = [
    "stop", "stop it", "stop this", "stop here", "stop now", "stop working", "stop the task", "stop everything", "please stop", "stop please",
    "stop, please", "cancel", "cancel it", "cancel this", "cancel the task", "please cancel", "abort", "abort it", "abort this",
    "halt", "quit", "not now", "not now, please", "not yet", "not today", "not this time", "later", "maybe later", "later please",
    "later, please", "hold off", "hold on", "hold", "hold it", "wait", "please wait", "wait a moment", "wait for me", "pause", "postpone",
    "postpone it", "another time", "some other time", "tomorrow", "ask me later", "ask me tomorrow", "ask again later", "ask me again later",
    "ask me again tomorrow", "one moment", "just a moment", "let me think", "let me think about it", "leave it", "leave it alone", "let it be",
    "let it go", "never mind", "nevermind", "forget it", "forget about it", "give up", "give it up", "drop it", "do nothing",
    "i will do it myself", "i'll do it myself",
    "stopp", "abbrechen", "nicht jetzt", "jetzt nicht", "noch nicht", "heute nicht", "später", "warte", "warten", "bitte nicht", "bitte warten", "warte mal",
    "aufhören", "hör auf", "hör auf damit", "hoer auf", "lass es", "lass es sein", "lass das", "lass mal", "vergiss es", "ein andermal", "morgen",
    "einen moment", "moment mal", "gib auf", "ich mache es selbst",
    "arrête", "arrêter", "arrêtez", "annuler", "annule", "pas maintenant", "pas encore", "plus tard", "attends", "attendez", "attendre",
    "laisse tomber", "laisse", "oublie", "demain", "un moment", "ça suffit comme ça",
    "ahora no", "todavía no", "aún no", "más tarde", "mas tarde", "luego", "espera", "espere", "cancelar", "para", "para ya", "pare", "basta",
    "olvídalo", "déjalo", "mañana", "un momento",
    "agora não", "ainda não", "mais tarde", "depois", "esquece", "amanhã", "non ora", "non adesso", "non ancora", "più tardi", "dopo", "aspetta",
    "lascia perdere", "domani", "nu niet", "nog niet", "wacht", "laat maar", "pozdniej", "później", "nie teraz", "inte nu", "şimdi değil",
    "не сейчас", "не надо", "позже", "потом", "подожди", "стоп", "стой", "хватит", "забудь", "завтра",
    "やめて", "やめてください", "今はやめて", "いまはやめて", "中止", "ストップ", "停止", "取消", "不要", "後で", "あとで", "後でお願いします", "後ほど",
    "また今度", "待って", "待ってください", "ちょっと待って", "もういい", "明日",
    "稍后", "以后再说", "等一下", "现在不行", "算了", "明天", "나중에", "잠깐만", "중지", "취소", "그만", "내일",
];

/// Words that make one doubt whether a "no" that goes on is an instruction.
#[rustfmt::skip]
pub(super) const DOUBTS: [&str; 43] = [
    "stop", "stopp", "wait", "later", "nothing", "pause", "hold", "cancel", "abort", "halt", "quit", "tomorrow", "myself", "not now", "not yet",
    "warte", "warten", "später", "nichts", "morgen", "aufhören", "selbst", "noch nicht", "arrête", "attends", "attendez", "rien", "demain",
    "plus tard", "espera", "nada", "luego", "mañana", "depois", "domani", "dopo", "aspetta", "потом", "позже", "後で", "待って", "停止", "나중에",
];

/// Answers that want nothing, which is no instruction.
#[rustfmt::skip]
pub(super) const NOTHING: [&str; 20] = [
    "nothing", "nothing else", "nothing more", "nothing at all", "none", "nichts", "nichts mehr", "gar nichts", "rien", "rien de plus", "nada",
    "nada más", "niente", "ничего", "何も", "何もない", "なし", "特になし", "没有", "없음",
];

/// "Yes". "Go" is not among them: "go through it again" is an instruction.
#[rustfmt::skip]
pub(super) const AGREEMENTS: [&str; 26] = [
    "yes", "yep", "yeah", "yup", "sure", "ok", "okay", "okey", "of course", "alright", "fine", "agreed", "ja", "jawohl", "klar", "oui", "d'accord",
    "sí", "claro", "sim", "да", "はい", "是", "好", "네", "👍",
];

/// What stands between a yes and its condition.
#[rustfmt::skip]
pub(super) const BRIDGES: [&str; 27] = [
    "but", "only", "and", "then", "just", "though", "however", "please", "do it", "do that", "go ahead", "aber", "nur", "und", "dann", "bitte", "mais",
    "seulement", "pero", "solo", "mas", "però", "но", "только", "でも", "ただし", "但是",
];

/// What begins a time or a condition.
#[rustfmt::skip]
pub(super) const CONDITIONS: [&str; 60] = [
    "if", "when", "once", "after", "unless", "until", "till", "as soon as", "as long as", "provided", "assuming", "not before", "not until", "before",
    "in an hour", "in a moment", "in a minute", "next week", "next month", "tonight", "on monday", "on condition",
    "wenn", "falls", "sobald", "sofern", "nachdem", "erst", "bis", "nicht vor", "nicht bevor", "vorausgesetzt", "nächste woche",
    "si", "quand", "lorsque", "dès que", "après", "à condition", "pas avant", "cuando", "después", "en cuanto", "antes", "quando", "se",
    "assim que", "appena", "если", "когда", "после", "как только", "もし", "たら", "なら", "終わってから", "如果", "等", "以后", "之后",
];

/// Words for another time, wherever they stand behind a yes.
#[rustfmt::skip]
pub(super) const LATER: [&str; 33] = [
    "later", "tomorrow", "wait", "hold on", "hold off", "postpone", "not now", "not yet", "some day", "warte", "warten", "später", "morgen",
    "noch nicht", "jetzt nicht", "nicht jetzt", "attends", "attendez", "demain", "plus tard", "espera", "luego", "mañana", "depois", "domani",
    "dopo", "aspetta", "потом", "позже", "後で", "待って", "等一下", "나중에",
];
