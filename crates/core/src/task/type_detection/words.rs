//! The words that a message's type is guessed from, in the languages people write to Baton in.

/// Verbs that ask for a change to files, as people start requests with them.
#[rustfmt::skip]
pub(super) const CHANGES: &[&str] = &[
    "add", "apply", "build", "change", "clean", "complete", "convert", "correct", "create", "delete",
    "deploy", "disable", "drop", "edit", "enable", "extend", "extract", "finish", "fix", "implement",
    "improve", "install", "introduce", "make", "merge", "migrate", "modify", "move", "optimise",
    "optimize", "port", "refactor", "remove", "rename", "replace", "resolve", "rewrite", "set", "simplify",
    "split", "support", "update", "upgrade", "use", "write",
];

/// The same in German, French and Spanish, by how the words begin.
#[rustfmt::skip]
pub(super) const CHANGES_BEGIN: &[&str] = &[
    "änder", "beheb", "behebe", "bereinig", "entfern", "erstell", "ersetz", "erweiter", "füg", "hinzufüg", "implementier",
    "korrigier", "lösch", "reparier", "schreib", "umbenenn", "verbesser", "verschieb",
    "ajout", "amélior", "chang", "corrig", "crée", "créer", "déplac", "implément", "modifi", "remplac", "renomm", "répar",
    "supprim", "écri",
    "agreg", "añad", "arregl", "borra", "cambi", "crea", "elimin", "escrib", "implement", "mejor", "modific", "renombr",
];

/// The same in Japanese and Chinese, anywhere in the text.
#[rustfmt::skip]
pub(super) const CHANGES_ANYWHERE: &[&str] = &[
    "修正", "直して", "追加", "変更して", "変更を", "削除", "実装", "作成", "書き換え", "リファクタ", "更新して", "置き換え",
    "修复", "添加", "更改", "删除", "实现", "重构",
];

/// Words before a request.
#[rustfmt::skip]
pub(super) const LEADING: &[&str] = &[
    "please", "now", "yet", "so", "and", "but", "just", "only", "simply", "hi", "hello", "hey", "thanks", "bitte", "nur", "hallo", "aber", "und",
    "bonjour", "seulement", "mais", "hola", "solo", "pero",
];

/// How questions start.
#[rustfmt::skip]
pub(super) const ASKING: &[&str] = &[
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
pub(super) const REASONS: &[&str] = &[
    "why", "who", "when", "how", "what", "what's", "where", "which", "should",
    "warum", "wer", "wie", "was", "wo", "welche", "welcher", "wann",
    "pourquoi", "comment", "où", "quel", "quelle",
    "cómo", "qué", "dónde",
];

/// How requests to be told something start.
#[rustfmt::skip]
pub(super) const TELLING: &[&str] = &[
    "tell", "explain", "describe", "show", "say", "list", "find", "look", "check",
    "sag", "sage", "erkläre", "erklär", "beschreibe", "zeig", "zeige", "prüfe", "dis", "explique", "expliquez", "décris", "montre",
    "dime", "explica", "explícame", "muestra", "dimmi", "spiega", "diga", "explique", "leg", "vertel", "объясни", "скажи",
];

/// Questions in Japanese and Chinese, anywhere in the text.
pub(super) const ASKING_ANYWHERE: &[&str] =
    &["説明して", "教えて", "ですか", "ますか", "なぜ", "解释", "为什么", "吗"];

/// How requests for a report start.
#[rustfmt::skip]
pub(super) const REPORTING: &[&str] = &[
    "analyse", "analyze", "audit", "compare", "evaluate", "investigate", "report", "research", "summarise", "summarize",
    "survey", "rédige", "rédigez", "analysiere", "vergleiche", "résume", "compara", "resume",
];

/// Requests for a report, anywhere in the text.
#[rustfmt::skip]
pub(super) const REPORTING_ANYWHERE: &[&str] = &[
    "write a report", "write a summary", "write an analysis", "schreibe einen bericht", "écris un rapport", "escribe un informe",
    "要約して", "レポートを",
];

/// Work that can destroy something beyond a worktree. Phrases with hardly any other meaning.
#[rustfmt::skip]
pub(super) const DANGEROUS: &[&str] = &[
    "rm -rf", "rm -fr", "drop table", "drop the table", "drop database", "drop the database",
    "drop schema", "truncate table", "force push", "force-push", "push --force", "push -f", "reset --hard",
    "delete production", "delete the production", "wipe the disk", "wipe the database", "mkfs", "dd if=",
    "terraform destroy", "kubectl delete", "delete all data",
];

/// Verbs that destroy what follows them.
#[rustfmt::skip]
pub(super) const DESTROYING: &[&str] = &[
    "delete", "destroy", "drop", "erase", "nuke", "purge", "remove", "truncate", "wipe", "lösche", "löschen", "entferne",
    "supprime", "supprimer", "supprimez", "efface", "borra", "borrar", "elimina", "eliminar",
];

/// What is outside any worktree.
#[rustfmt::skip]
pub(super) const OUTSIDE: &[&str] = &[
    "production", "prod", "backups", "produktion", "produktionsdatenbank", "datenbank", "sauvegardes", "producción", "produktiv",
    "prod-datenbank",
];

/// Destroyed only as a whole: "all branches", "every tag".
#[rustfmt::skip]
pub(super) const WHOLE: &[&str] = &[
    "accounts", "branches", "buckets", "clusters", "containers", "customers", "data", "databases", "instances", "records",
    "repositories", "rows", "tables", "tags", "users", "volumes",
];

/// Nouns that are outside when nothing follows that makes them part of the code ("the database tests").
pub(super) const OUTSIDE_AT_END: &[&str] = &["bucket", "cluster", "database", "disk", "schema", "table"];

/// Words after which a noun is not part of a longer one.
#[rustfmt::skip]
pub(super) const AFTER_NOUN: &[&str] = &["and", "as", "at", "completely", "for", "from", "in", "now", "of", "on", "please", "then"];

/// Files and services that decide how everything else is built, checked or shipped.
#[rustfmt::skip]
pub(super) const CONFIGURATION: &[&str] = &[
    ".github/", ".gitlab-ci", "github action", "gitlab ci", "ci pipeline", "ci config", "ci workflow",
    "ci job", "jenkinsfile", "dockerfile", "docker-compose", "docker compose", "azure-pipelines",
    "circleci", "travis.yml", "release workflow",
];

/// Phrases of review feedback.
#[rustfmt::skip]
pub(super) const REVIEWED: &[&str] = &[
    "review comment", "review feedback", "review finding", "review note", "reviewer", "pr comment",
    "pr feedback", "pull request comment", "pull request feedback", "code review asked",
];

/// Changes to wording, not to behaviour.
#[rustfmt::skip]
pub(super) const LIGHT: &[&str] = &[
    "spelling", "misspel", "wording", "whitespace", "indentation", "grammar", "reword",
    "punctuation", "tippfehler", "rechtschreib", "faute de frappe", "orthographe", "誤字",
];

/// Verbs that are nouns too.
#[rustfmt::skip]
pub(super) const NOUNS: &[&str] = &[
    "build", "change", "drop", "edit", "fix", "merge", "move", "port", "set", "split", "update", "use",
];

/// Words before a noun.
#[rustfmt::skip]
pub(super) const ARTICLES: &[&str] = &[
    "the", "a", "an", "this", "that", "our", "my", "last", "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "le", "la",
    "les", "un", "une", "el", "los", "il", "lo",
];

/// Where a program shows something to its users, and when: a request to show it there is one to change the program.
#[rustfmt::skip]
pub(super) const SHOWN_AT: &[&str] = &[
    "page", "pages", "screen", "button", "dialog", "menu", "dashboard", "sidebar", "footer", "header", "form", "toolbar", "navbar",
    "popup", "tooltip", "banner", "when", "whenever", "if", "while", "after", "instead",
];

/// What one can be given in words.
#[rustfmt::skip]
pub(super) const GIVEN: &[&str] = &[
    "overview", "list", "explanation", "description", "idea", "status", "details", "rundown", "outline", "understanding", "example",
    "summary", "answer", "reason", "reasons", "hint",
];
