//! Guesses the type of task a message asks for, from its words.
//!
//! The guess errs towards `IMPLEMENTATION`: a change request mistaken for a question would end with words and no
//! work. So the types whose output is the deliverable are chosen only if nothing asks for a change. The sender may
//! always set the type.

use crate::base::task_type::TaskType;

/// Verbs that ask for a change to files, as people start requests with them.
#[rustfmt::skip]
const CHANGES: [&str; 45] = [
    "add", "apply", "build", "change", "clean", "complete", "convert", "correct", "create", "delete",
    "deploy", "disable", "drop", "edit", "enable", "extend", "extract", "finish", "fix", "implement",
    "improve", "install", "introduce", "make", "merge", "migrate", "modify", "move", "optimise",
    "optimize", "port", "refactor", "remove", "rename", "replace", "resolve", "rewrite", "set", "simplify",
    "split", "support", "update", "upgrade", "use", "write",
];

/// The same in German, French and Spanish, by how the words begin.
#[rustfmt::skip]
const CHANGES_BEGIN: [&str; 44] = [
    "änder", "beheb", "behebe", "bereinig", "entfern", "erstell", "ersetz", "erweiter", "füg", "hinzufüg", "implementier",
    "korrigier", "lösch", "reparier", "schreib", "umbenenn", "verbesser", "verschieb",
    "ajout", "amélior", "chang", "corrig", "crée", "créer", "déplac", "implément", "modifi", "remplac", "renomm", "répar",
    "supprim", "écri",
    "agreg", "añad", "arregl", "borra", "cambi", "crea", "elimin", "escrib", "implement", "mejor", "modific", "renombr",
];

/// The same in Japanese and Chinese, anywhere in the text.
#[rustfmt::skip]
const CHANGES_ANYWHERE: [&str; 18] = [
    "修正", "直して", "追加", "変更して", "変更を", "削除", "実装", "作成", "書き換え", "リファクタ", "更新して", "置き換え",
    "修复", "添加", "更改", "删除", "实现", "重构",
];

/// Words before a request.
const LEADING: [&str; 9] = ["please", "now", "so", "and", "hi", "hello", "bitte", "bonjour", "hola"];

/// How questions start.
#[rustfmt::skip]
const ASKING: [&str; 70] = [
    "are", "can", "check", "could", "describe", "did", "do", "does", "explain", "find", "has", "have", "how", "inspect", "is",
    "list", "look", "print", "show", "tell", "verify", "was", "what", "what's", "when", "where", "which", "who", "why",
    "erkläre", "erklär", "liste", "prüfe", "was", "warum", "welche", "wer", "wie", "wo", "zeig", "zeige",
    "beschreibe", "kannst", "können", "sag",
    "comment", "explique", "expliquez", "dis", "décris", "décrivez", "montre", "montrez", "où", "peux", "pouvez", "pourquoi",
    "quel", "quelle", "qui", "vérifie", "vérifiez",
    "cómo", "dime", "explica", "explícame", "muestra", "muéstrame", "puedes", "qué",
];

/// How questions for a reason, a way, a place or a person start.
#[rustfmt::skip]
const REASONS: [&str; 25] = [
    "why", "who", "when", "how", "what", "what's", "where", "which", "should",
    "warum", "wer", "wie", "was", "wo", "welche", "welcher", "wann",
    "pourquoi", "comment", "où", "quel", "quelle",
    "cómo", "qué", "dónde",
];

/// Questions in Japanese and Chinese, anywhere in the text.
const ASKING_ANYWHERE: [&str; 8] = ["説明して", "教えて", "ですか", "ますか", "なぜ", "解释", "为什么", "吗"];

/// How requests for a report start.
#[rustfmt::skip]
const REPORTING: [&str; 18] = [
    "analyse", "analyze", "audit", "compare", "evaluate", "investigate", "report", "research", "summarise", "summarize",
    "survey", "rédige", "rédigez", "analysiere", "vergleiche", "résume", "compara", "resume",
];

/// Requests for a report, anywhere in the text.
#[rustfmt::skip]
const REPORTING_ANYWHERE: [&str; 8] = [
    "write a report", "write a summary", "write an analysis", "schreibe einen bericht", "écris un rapport", "escribe un informe",
    "要約して", "レポートを",
];

/// Work that can destroy something beyond a worktree. Phrases with hardly any other meaning.
#[rustfmt::skip]
const DANGEROUS: [&str; 22] = [
    "rm -rf", "rm -fr", "drop table", "drop the table", "drop database", "drop the database",
    "drop schema", "truncate table", "force push", "force-push", "push --force", "push -f", "reset --hard",
    "delete production", "delete the production", "wipe the disk", "wipe the database", "mkfs", "dd if=",
    "terraform destroy", "kubectl delete", "delete all data",
];

/// Verbs that destroy what follows them.
#[rustfmt::skip]
const DESTROYING: [&str; 20] = [
    "delete", "destroy", "drop", "erase", "nuke", "purge", "remove", "truncate", "wipe", "lösche", "löschen", "entferne",
    "supprime", "supprimer", "supprimez", "efface", "borra", "borrar", "elimina", "eliminar",
];

/// What is outside any worktree.
#[rustfmt::skip]
const OUTSIDE: [&str; 10] = [
    "production", "prod", "backups", "produktion", "produktionsdatenbank", "datenbank", "sauvegardes", "producción", "produktiv",
    "prod-datenbank",
];

/// Destroyed only as a whole: "all branches", "every tag".
#[rustfmt::skip]
const WHOLE: [&str; 16] = [
    "accounts", "branches", "buckets", "clusters", "containers", "customers", "data", "databases", "instances", "records",
    "repositories", "rows", "tables", "tags", "users", "volumes",
];

/// Nouns that are outside when nothing follows that makes them part of the code ("the database tests").
const OUTSIDE_AT_END: [&str; 6] = ["bucket", "cluster", "database", "disk", "schema", "table"];

/// Words after which a noun is not part of a longer one.
#[rustfmt::skip]
const AFTER_NOUN: [&str; 12] = ["and", "as", "at", "completely", "for", "from", "in", "now", "of", "on", "please", "then"];

/// Files and services that decide how everything else is built, checked or shipped.
#[rustfmt::skip]
const CONFIGURATION: [&str; 16] = [
    ".github/", ".gitlab-ci", "github action", "gitlab ci", "ci pipeline", "ci config", "ci workflow",
    "ci job", "jenkinsfile", "dockerfile", "docker-compose", "docker compose", "azure-pipelines",
    "circleci", "travis.yml", "release workflow",
];

/// Phrases of review feedback.
#[rustfmt::skip]
const REVIEWED: [&str; 10] = [
    "review comment", "review feedback", "review finding", "review note", "reviewer", "pr comment",
    "pr feedback", "pull request comment", "pull request feedback", "code review asked",
];

/// Changes to wording, not to behaviour.
#[rustfmt::skip]
const LIGHT: [&str; 13] = [
    "spelling", "misspel", "wording", "whitespace", "indentation", "grammar", "reword",
    "punctuation", "tippfehler", "rechtschreib", "faute de frappe", "orthographe", "誤字",
];

impl TaskType {
    /// The type a message asks for, as far as its words show it.
    pub fn detect(text: &str) -> Self {
        let text = text.to_lowercase();
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
        let words: Vec<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-'))
            .filter(|word| !word.is_empty())
            .collect();
        let asks_for_change = changes(&words).next().is_some() || has(&CHANGES_ANYWHERE);
        // "Please" and "now" are not the request.
        let is_request = |word: &&str| !LEADING.contains(word);
        // "Explique-moi" and "peux-tu" begin with their verb.
        let first = words.iter().copied().find(is_request).map(|word| word.split('-').next().unwrap_or(word));
        let begins_with = |verbs: &[&str]| first.is_some_and(|word| verbs.contains(&word));
        let is_question =
            text.trim_end().ends_with(['?', '？']) || begins_with(&ASKING) || has(&ASKING_ANYWHERE);
        let is_light = has(&LIGHT) || words.iter().any(|word| ["typo", "typos"].contains(word));
        // Asking for a reason or a way asks for no change, whatever it is about. "What about adding a test?" proposes one.
        let is_proposal = words.get(1).is_some_and(|word| *word == "about");
        if (begins_with(&REASONS) && text.trim_end().ends_with(['?', '？']) && !is_proposal) || tells(&words)
        {
            return Self::ReadInfo;
        }
        let is_report = begins_with(&REPORTING) || has(&REPORTING_ANYWHERE);
        // Asking about something dangerous does nothing yet.
        let is_dangerous = has(&DANGEROUS) || destroys(&words) || destroys_in_japanese(&text);
        if is_dangerous && (asks_for_change || !is_question) {
            Self::DangerousOp
        } else if has(&REVIEWED) && !is_question {
            Self::ReviewResponse
        } else if (has(&CONFIGURATION) || words.contains(&"ci")) && asks_for_change {
            Self::ConfigCiChange
        } else if is_light && words.len() <= LIGHT_WORDS_MAX {
            Self::LightEdit
        } else if asks_for_change && !(is_report && asks_only_for_report(&words)) {
            Self::Implementation
        } else if is_report {
            Self::Report
        } else if is_question {
            Self::ReadInfo
        } else {
            Self::Implementation
        }
    }
}

fn begins_change(word: &str) -> bool {
    CHANGES_BEGIN.iter().any(|start| word.starts_with(start))
}

/// "What changed": English words that begin like a verb of another language.
fn tells_of_change(word: &str) -> bool {
    word.is_ascii() && (word.ends_with("ed") || word == "changes")
}

/// "Tell me which version we use."
fn tells(words: &[&str]) -> bool {
    let asked = ["which", "what", "how", "why", "where", "whether", "if", "who", "when"];
    matches!(words, ["tell", "me" | "us", word, ..] if asked.contains(word))
}

/// The words that ask for a change. "The build" and "a fix" are nouns.
fn changes<'a>(words: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let is_change = |word: &str| CHANGES.contains(&word) || (begins_change(word) && !tells_of_change(word));
    let is_noun = |index: usize, word: &str| {
        let before = index.checked_sub(1).map(|before| words[before]);
        NOUNS.contains(&word) && before.is_some_and(|before| ARTICLES.contains(&before))
    };
    words
        .iter()
        .enumerate()
        .filter(move |(index, word)| is_change(word) && !is_noun(*index, word))
        .map(|(_, word)| *word)
}

/// Verbs that are nouns too.
#[rustfmt::skip]
const NOUNS: [&str; 12] = [
    "build", "change", "drop", "edit", "fix", "merge", "move", "port", "set", "split", "update", "use",
];

const ARTICLES: [&str; 8] = ["the", "a", "an", "this", "that", "our", "my", "last"];

/// "Write" is the only change: what is written is the report.
fn asks_only_for_report(words: &[&str]) -> bool {
    changes(words).all(|word| matches!(word, "write" | "schreibe" | "écris" | "escribe"))
}

/// Whether the words destroy something that no worktree contains.
fn destroys(words: &[&str]) -> bool {
    let Some(at) = words.iter().position(|word| DESTROYING.contains(word)) else { return false };
    let rest = &words[at + 1..];
    let ends = |index: usize| rest.get(index + 1).is_none_or(|word| AFTER_NOUN.contains(word));
    let is_all = rest
        .iter()
        .any(|word| matches!(*word, "all" | "every" | "alle" | "toutes" | "tous" | "todos" | "todas"));
    rest.iter().enumerate().any(|(index, word)| {
        OUTSIDE.contains(word)
            || (is_all && WHOLE.contains(word))
            || (OUTSIDE_AT_END.contains(word) && ends(index) && index <= NOUN_DISTANCE_MAX)
    })
}

/// "drop the old users table": more words between make it another sentence.
const NOUN_DISTANCE_MAX: usize = 3;

fn destroys_in_japanese(text: &str) -> bool {
    let is_outside = ["本番", "データベース", "全ブランチ", "すべてのブランチ", "生产", "数据库"]
        .iter()
        .any(|noun| text.contains(noun));
    is_outside && ["削除", "消して", "破棄", "删除"].iter().any(|verb| text.contains(verb))
}

/// A longer request that mentions a typo asks for more than that.
const LIGHT_WORDS_MAX: usize = 25;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_and_their_types() {
        #[rustfmt::skip]
        let table = [
            ("What does the parser do with an empty file?", TaskType::ReadInfo),
            ("Explain the retry loop", TaskType::ReadInfo),
            ("please list the open endpoints", TaskType::ReadInfo),
            ("Why did somebody force push?", TaskType::ReadInfo),
            ("Summarize the last week of commits", TaskType::Report),
            ("Write a report on test coverage", TaskType::Report),
            ("Compare the two caches", TaskType::Report),
            ("Fix the typo in the README", TaskType::LightEdit),
            ("reword the error", TaskType::LightEdit),
            ("Add the city to the address", TaskType::Implementation),
            ("Make the CI faster", TaskType::ConfigCiChange),
            ("Change the typography", TaskType::Implementation),
            ("Swipe the card to delete it", TaskType::Implementation),
            ("Fix the login", TaskType::Implementation),
            ("Can you fix the login?", TaskType::Implementation),
            ("What about adding a test? Then implement it.", TaskType::Implementation),
            ("Summarize the design and update the docs", TaskType::Implementation),
            ("The login fails on Mondays", TaskType::Implementation),
            ("ログインを直してください", TaskType::Implementation),
            ("Address the review comments on the parser", TaskType::ReviewResponse),
            ("Add a step to the CI pipeline", TaskType::ConfigCiChange),
            ("update .github/workflows/test.yml", TaskType::ConfigCiChange),
            ("Force push the cleaned branch", TaskType::DangerousOp),
            ("run terraform destroy on staging", TaskType::DangerousOp),
            ("Can you drop the database and create it again?", TaskType::DangerousOp),
            ("please check the status of CI", TaskType::ReadInfo),
            ("please check the STATUS of CI", TaskType::ReadInfo),
            ("Verify that the tests pass", TaskType::ReadInfo),
            ("Check the parser and fix it", TaskType::Implementation),
            ("drop the users table in production", TaskType::DangerousOp),
            ("delete all branches", TaskType::DangerousOp),
            ("Remove every tag and all branches on the remote", TaskType::DangerousOp),
            ("Wipe prod", TaskType::DangerousOp),
            ("Delete the staging database", TaskType::DangerousOp),
            ("Delete the database tests", TaskType::Implementation),
            ("Remove the table component from the page", TaskType::Implementation),
            ("Why would somebody delete all branches?", TaskType::ReadInfo),
            ("Write a parser for dates", TaskType::Implementation),
            ("Investigate why the build is slow", TaskType::Report),
            ("Erkläre die Schleife", TaskType::ReadInfo),
            ("Warum ist der Build langsam?", TaskType::ReadInfo),
            ("Behebe den Fehler im Login", TaskType::Implementation),
            ("Kannst du den Login reparieren?", TaskType::Implementation),
            ("Korrigiere den Tippfehler", TaskType::LightEdit),
            ("Lösche die Produktionsdatenbank", TaskType::DangerousOp),
            ("Explique la boucle de reprise", TaskType::ReadInfo),
            ("Explique-moi la boucle de reprise", TaskType::ReadInfo),
            ("Peux-tu décrire le parseur", TaskType::ReadInfo),
            ("Peux-tu corriger le parseur", TaskType::Implementation),
            ("Bitte erkläre die Schleife", TaskType::ReadInfo),
            ("Explícame el bucle", TaskType::ReadInfo),
            ("How do I add a user?", TaskType::ReadInfo),
            ("Should we use Postgres or SQLite?", TaskType::ReadInfo),
            ("What would it take to add dark mode?", TaskType::ReadInfo),
            ("Where do we delete users?", TaskType::ReadInfo),
            ("Tell me which version we use", TaskType::ReadInfo),
            ("Wie füge ich einen Benutzer hinzu?", TaskType::ReadInfo),
            ("Comment ajouter un utilisateur ?", TaskType::ReadInfo),
            ("¿Cómo añado un usuario?", TaskType::ReadInfo),
            ("Summarize what changed last week", TaskType::Report),
            ("Rédige un rapport sur la couverture", TaskType::Report),
            ("Can you add a user?", TaskType::Implementation),
            ("Pourquoi le test échoue-t-il ?", TaskType::ReadInfo),
            ("Corrige le bug de connexion", TaskType::Implementation),
            ("Peux-tu ajouter un test ?", TaskType::Implementation),
            ("¿Cómo funciona el bucle?", TaskType::ReadInfo),
            ("Arregla el inicio de sesión", TaskType::Implementation),
            ("このループを説明してください", TaskType::ReadInfo),
            ("テストはなぜ遅いのですか？", TaskType::ReadInfo),
            ("ログインのテストを追加してください", TaskType::Implementation),
            ("本番のデータベースを削除して", TaskType::DangerousOp),
            ("先週のコミットを要約して", TaskType::Report),
            ("", TaskType::Implementation),
        ];
        for (text, expected) in table {
            assert_eq!(TaskType::detect(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_a_request_for_change_is_never_a_question(text in any::<String>()) {
            let _ = TaskType::detect(&text);
            let asked = TaskType::detect(&format!("{text} implement it"));
            prop_assert!(!matches!(asked, TaskType::ReadInfo | TaskType::Report), "{asked}");
        }
    }
}
