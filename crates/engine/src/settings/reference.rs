//! `docs/reference/configuration.md`, written from the settings themselves.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::kept_page::holds;
use crate::settings::about::{ABOUT, About};
use crate::settings::budgets::Budgets;
use crate::settings::keys::ROLE;
use crate::settings::{Settings, agents, leaves};

const INTRO: &str = "# Configuration\n\n\
<!-- Written by `scripts/reference` from crates/engine/src/settings. Do not edit. -->\n\n\
Settings come from flags, then `BATON_*` variables, then `.agent/baton.toml` in the repository, then\n\
`~/.config/baton/config.toml`, then the defaults. `baton config` shows each value and where it came from. An unknown key\n\
is an error that names the nearest known one. `baton init` writes a commented file to start from.\n";

/// The tables of the page, in the order a person needs them.
const SECTIONS: [(&str, &str, &str); 11] = [
    ("General", "", "At the top of the file."),
    ("`[agents.NAME]`", "agents.", "One table for each agent. See [agents](../agents.md)."),
    ("`[roles.NAME]`", "roles.", "Which agent does which kind of work."),
    ("`[asking]`", "asking.", "See [asking](../asking.md)."),
    (
        "`[notify]`",
        "notify.",
        "How a person who is not looking is told. Both may be set. See [notifications](../guides/notifications.md).",
    ),
    ("`[worktree]`", "worktree.", "What an agent finds in its folder, and how soon."),
    (
        "`[budgets.SCOPE]`",
        "budgets.",
        "SCOPE is `task`, `project` or `day`. See [agents](../agents.md#budgets).",
    ),
    (
        "`[retention]`",
        "retention.",
        "How long things are kept that nobody needs any more. Work is never among them.",
    ),
    ("`[user_tasks]`", "user_tasks.", "See [user tasks](../user-tasks.md)."),
    ("`[telemetry]`", "telemetry.", "Off unless it is set."),
    ("`[person]`", "person.", "Who works here; for your own `~/.config/baton/config.toml`."),
];

/// Every key there is, by the code that reads them.
fn keys() -> BTreeSet<String> {
    let named =
        |table: &str, keys: &[&str]| keys.iter().map(|key| format!("{table}.NAME.{key}")).collect::<Vec<_>>();
    let plain = leaves().into_iter().filter(|path| path[0] != "budgets").map(|path| path.join("."));
    let budgets = Budgets::KEYS.iter().map(|key| format!("budgets.SCOPE.{key}"));
    plain
        .chain(budgets)
        .chain(named("agents", &agents::KEYS))
        .chain(named("roles", &ROLE))
        .chain(["checks".to_owned()])
        .collect()
}

/// What stands where nothing is set, asked of the settings themselves.
fn default_of(key: &str) -> String {
    if key.ends_with(".permissions") {
        return "`ask`".to_owned();
    }
    let text =
        "[agents.NAME]\nkind = \"command\"\ncommand = [\"program\"]\n[roles.NAME]\n".replace("NAME", "name");
    let text = format!("default_agent = \"name\"\n{text}");
    let one = Settings::read(&text, Path::new("example")).unwrap();
    let of_named = key.contains(".NAME.");
    let settings = if of_named { one } else { Settings::default() };
    let all = serde_json::to_value(settings).unwrap();
    let path = format!("/{}", key.replace("NAME", "name").replace('.', "/"));
    match (key, all.pointer(&path)) {
        ("agents.NAME.kind" | "agents.NAME.command", _) => "what is known of the name".to_owned(),
        ("default_agent", _) => "the one that is installed".to_owned(),
        (_, None | Some(Value::Null)) => "–".to_owned(),
        (_, Some(Value::Array(list))) if list.is_empty() => "–".to_owned(),
        (_, Some(Value::Object(table))) if table.is_empty() => "–".to_owned(),
        (_, Some(Value::String(text))) => format!("`{text}`"),
        (_, Some(value)) => format!("`{value}`"),
    }
}

/// A setting under a name of one's own has no variable.
fn variable_of(key: &str) -> String {
    let is_named = key.contains(".NAME.") || key == "checks";
    let words = key.replace('.', "_").to_uppercase();
    if is_named { "–".to_owned() } else { format!("`BATON_{words}`") }
}

fn page() -> String {
    let mut text = INTRO.to_owned();
    for (title, prefix, intro) in SECTIONS {
        let _ = writeln!(
            text,
            "\n## {title}\n\n{intro}\n\n| key | type | default | meaning | variable |\n| --- | --- | --- | --- | --- |"
        );
        let is_inside = |about: &&About| {
            if prefix.is_empty() { !about.key.contains('.') } else { about.key.starts_with(prefix) }
        };
        for About { key, kind, means } in ABOUT.iter().filter(is_inside) {
            let name = key.rsplit('.').next().unwrap();
            let _ = writeln!(
                text,
                "| `{name}` | {kind} | {} | {means} | {} |",
                default_of(key),
                variable_of(key)
            );
        }
    }
    text.push_str(
        "\n## Other variables\n\n| variable | meaning |\n| --- | --- |\n\
         | `BATON_ROOT`, `BATON_STATE_DIR`, `BATON_NAMESPACE`, `BATON_STORE` | as the flags of the same name, see [the command line](cli.md) |\n\
         | `BATON_SERVER_TOKEN` | what clients of `baton up` must show |\n\
         | `BATON_LOG` | how much `baton up` and `baton worker` log on standard error: a level such as `debug`, or a list such as `info,baton_engine=debug`; see [monitoring](../guides/monitoring.md) |\n\
         | `BATON_LOG_FORMAT` | `text` or `json`, as `--log-format` of `baton up` and `baton worker` |\n\
         | `BATON_USER` | the name your decisions are recorded under; else `USER` |\n",
    );
    text
}

#[test]
fn reference_has_every_setting_and_no_other() {
    let described: BTreeSet<String> = ABOUT.iter().map(|about| about.key.to_owned()).collect();
    let keys = keys();
    let missing: Vec<_> = keys.difference(&described).collect();
    assert!(missing.is_empty(), "say in settings/about.rs what these are for: {missing:?}");
    let gone: Vec<_> = described.difference(&keys).collect();
    assert!(gone.is_empty(), "settings/about.rs describes what is no setting: {gone:?}");
    assert_eq!(described.len(), ABOUT.len(), "one is described twice");
    let of_sections: usize = SECTIONS
        .iter()
        .filter(|(_, prefix, _)| !prefix.is_empty())
        .map(|(_, prefix, _)| ABOUT.iter().filter(|about| about.key.starts_with(prefix)).count())
        .sum();
    let top = ABOUT.iter().filter(|about| !about.key.contains('.')).count();
    assert_eq!(of_sections + top, ABOUT.len(), "a setting is in no section of the page");
}

#[test]
fn reference_of_the_configuration_is_what_the_code_says() {
    holds("reference/configuration.md", &page());
}
