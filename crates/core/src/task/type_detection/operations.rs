//! Messages that ask for work on what runs or is public, beyond any worktree: what no commit can take back.

use super::words::{AFTER_NOUN, DANGEROUS, DESTROYING, LEADING, OUTSIDE, OUTSIDE_AT_END, WHOLE};

/// "drop the old users table": more words between make it another sentence.
const NOUN_DISTANCE_MAX: usize = 3;

/// Words between a greeting and the verb of a request.
#[rustfmt::skip]
const OPENERS: &[&str] = &[
    "can", "could", "would", "will", "you", "we", "let's", "let", "us", "i", "want", "need", "to", "kannst", "können", "könntest",
    "du", "sie", "wir", "peux", "pouvez", "tu", "vous", "puedes", "podrías", "puede", "puoi", "pode", "kun", "je",
];

/// Verbs that bring something to where others use it.
#[rustfmt::skip]
const DEPLOYING: &[&str] = &[
    "deploy", "redeploy", "release", "publish", "ship", "promote", "rollout", "deploye", "deployen", "veröffentliche",
    "veröffentlichen", "ausrollen", "bereitstellen", "déploie", "déployer", "déployez", "publie", "publier", "publiez",
    "despliega", "desplegar", "despliegue", "publica", "publicar", "distribuisci", "pubblica", "implante", "implantar", "uitrollen",
];

/// Where others use it.
#[rustfmt::skip]
const PUBLIC: &[&str] = &[
    "production", "prod", "staging", "npm", "crates", "pypi", "rubygems", "maven", "dockerhub", "produktion", "producción",
    "produção", "produzione", "productie",
];

/// What is meant by "the deploy script".
#[rustfmt::skip]
const ABOUT_DEPLOYING: &[&str] = &[
    "script", "scripts", "job", "jobs", "step", "steps", "pipeline", "workflow", "key", "keys", "button", "command", "target", "log",
    "logs", "error", "errors", "notes", "docs", "process", "fails", "failed", "is", "to-do",
];

/// Verbs that throw away or replace what something holds.
#[rustfmt::skip]
const RESETTING: &[&str] = &[
    "reset", "flush", "clear", "empty", "overwrite", "restore", "setze", "zurücksetzen", "leere", "leeren", "überschreibe",
    "réinitialise", "réinitialiser", "réinitialisez", "vide", "vider", "videz", "restaure", "restaurer", "restablece", "restablecer",
    "reinicia", "reiniciar", "vacía", "vaciar", "restaura", "restaurar", "azzera", "ripristina", "redefina", "reset-te",
];

/// What holds it.
#[rustfmt::skip]
const HOLDING: &[&str] = &[
    "database", "databases", "db", "cluster", "production", "prod", "bucket", "datenbank", "produktion", "données", "datos", "dati",
    "dados", "producción", "databank",
];

/// Verbs that are harmless elsewhere.
#[rustfmt::skip]
const OPERATING: &[&str] = &[
    "run", "execute", "restart", "reboot", "rollback", "migrate", "seed", "downgrade", "scale", "starte", "redémarre", "redémarrer",
];
const IN_USE: &[&str] = &["production", "prod", "produktion", "producción"];

/// Then the message is about code.
const ABOUT_TESTS: &[&str] = &["test", "tests", "fixture", "fixtures", "spec", "specs", "testdatenbank"];

/// Whether a message asks for something that can destroy work, or is about it; a question about it does nothing yet.
pub(super) fn is_destructive(text: &str, words: &[&str]) -> bool {
    DANGEROUS.iter().any(|phrase| text.contains(phrase)) || destroys(words) || destroys_unspaced(text)
}

/// Whether a message asks to deploy, reset or operate something, in whatever form: "Can you deploy to production?"
pub(super) fn operates(text: &str, words: &[&str]) -> bool {
    let bare: Vec<&str> = words.iter().map(|word| word.split('-').next().unwrap_or(word)).collect();
    let is_opening = |word: &&str| LEADING.contains(word) || OPENERS.contains(word);
    let Some(at) = bare.iter().position(|word| !is_opening(word)) else { return false };
    let (head, rest) = (&bare[at..], &words[at + 1..]);
    // German verbs stand at the end.
    let last = words.last().copied().unwrap_or_default();
    let is_verb = |verbs: &[&str]| verbs.contains(&head[0]) || (verbs.contains(&last) && !last.is_ascii());
    let rolls = |way: &str| matches!(head, ["roll", next, ..] if *next == way);
    let says = |nouns: &[&str]| words.iter().any(|word| nouns.contains(word));
    if says(ABOUT_TESTS) {
        return false;
    }
    let is_script = rest.first().is_some_and(|word| ABOUT_DEPLOYING.contains(word));
    let deploys = is_verb(DEPLOYING) || last == "ausrollen" || rolls("out");
    let is_public = says(PUBLIC) || last == "live";
    let resets = is_verb(RESETTING) && holds(words, HOLDING);
    let runs = (is_verb(OPERATING) || rolls("back"))
        && (holds(words, IN_USE) || (says(IN_USE) && holds(words, HOLDING)));
    (deploys && is_public && !is_script) || resets || runs || goes_live(text) || operates_unspaced(text)
}

/// "Mets-le en production": the verb alone means anything.
fn goes_live(text: &str) -> bool {
    [
        "mets en production",
        "mets-le en production",
        "mettre en production",
        "pasa a producción",
        "bring es live",
    ]
    .iter()
    .any(|phrase| text.contains(phrase))
}

/// Whether one of the nouns is what the sentence is about, and not part of a longer one: "the database tests".
fn holds(words: &[&str], nouns: &[&str]) -> bool {
    words.iter().enumerate().any(|(index, word)| {
        // "Staging-Datenbank"
        let is_noun = nouns.iter().any(|noun| word.rsplit('-').next() == Some(noun));
        let ends =
            |next: &&str| AFTER_NOUN.contains(next) || ["zurück", "zurücksetzen", "neu"].contains(next);
        is_noun && words.get(index + 1).is_none_or(ends)
    })
}

/// Whether the words destroy something that no worktree contains.
fn destroys(words: &[&str]) -> bool {
    let Some(at) = words.iter().position(|word| DESTROYING.contains(word)) else { return false };
    let rest = &words[at + 1..];
    let ends = |index: usize| rest.get(index + 1).is_none_or(|word| AFTER_NOUN.contains(word));
    let is_all = rest
        .iter()
        .any(|word| matches!(*word, "all" | "every" | "alle" | "toutes" | "tous" | "todos" | "todas"));
    // "Delete all files", of nothing smaller than the repository.
    let names_files = rest.first() == Some(&"everything") || (is_all && rest.contains(&"files"));
    let is_whole = matches!(rest, ["everything"] | ["all", "files"] | ["all", "the", "files"])
        || rest.last().is_some_and(|last| ["repository", "repo", "disk", "server", "machine"].contains(last));
    if names_files && is_whole {
        return true;
    }
    rest.iter().enumerate().any(|(index, word)| {
        OUTSIDE.contains(word)
            || (is_all && WHOLE.contains(word))
            || (OUTSIDE_AT_END.contains(word) && ends(index) && index <= NOUN_DISTANCE_MAX)
    })
}

/// The same in Japanese and Chinese.
fn destroys_unspaced(text: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    has(&["本番", "データベース", "全ブランチ", "すべてのブランチ", "生产", "数据库"])
        && has(&["削除", "消して", "破棄", "删除"])
}

fn operates_unspaced(text: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    let fails = has(&["失敗", "失败", "エラー", "报错", "テスト", "测试"]);
    let deploys = has(&["本番", "生产", "線上", "线上"])
        && has(&["デプロイして", "リリースして", "反映して", "部署到", "发布到"]);
    let resets = has(&["データベース", "数据库"])
        && has(&["リセットして", "初期化して", "空にして", "重置", "清空", "初始化"]);
    (deploys || resets) && !fails
}
