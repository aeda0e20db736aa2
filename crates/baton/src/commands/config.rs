//! `baton config`: every setting with its value and origin.

use std::env;
use std::path::Path;

use baton_engine::base::error::EngineError;
use baton_engine::settings::layers::{Layers, Origin, SettingValue};
use serde_json::{Value, json};

use crate::context;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;

pub(crate) fn show(options: &GlobalOptions) -> Result<String, CliError> {
    let (place, settings) = context::find(options)?;
    context::mention_unread(&place);
    let path = place.settings_path();
    let layers = Layers::find(&path).map_err(EngineError::from)?;
    let mut values = vec![
        setting("root", &json!(place.root), Origin::Default),
        setting(
            "state_dir",
            &json!(place.state_dir),
            flag_origin(options.state_dir.is_some(), "--state-dir", "BATON_STATE_DIR"),
        ),
        setting(
            "namespace",
            &json!(place.namespace),
            flag_origin(options.namespace.is_some(), "--namespace", "BATON_NAMESPACE"),
        ),
    ];
    values.extend(layers.values(&settings));
    // The flag overrides the settings, which know nothing of it.
    if options.store.is_some()
        && let Some(store) = values.iter_mut().find(|setting| setting.key == "store")
    {
        store.value = json!(place.store);
        store.origin = flag_origin(true, "--store", "BATON_STORE");
    }
    if options.json {
        let settings: Vec<Value> = values.iter().map(as_json).collect();
        return output::json(&json!({ "settings": settings }));
    }
    let rows: Vec<[String; 3]> = values.iter().map(|setting| row(setting, &place.root)).collect();
    Ok(output::table(["SETTING", "VALUE", "FROM"], &rows))
}

fn setting(key: &str, value: &Value, origin: Origin) -> SettingValue {
    SettingValue { key: key.to_owned(), value: value.clone(), origin }
}

/// clap merges a flag with its variable; the command line tells which one it was.
fn flag_origin(is_given: bool, flag: &'static str, variable: &str) -> Origin {
    let is_typed = env::args().any(|word| word == flag || word.starts_with(&format!("{flag}=")));
    match (is_given, is_typed) {
        (true, true) => Origin::Flag(flag),
        (true, false) => Origin::Variable(variable.to_owned()),
        (false, _) => Origin::Default,
    }
}

fn as_json(setting: &SettingValue) -> Value {
    json!({ "key": setting.key, "value": setting.value, "from": setting.origin.to_string() })
}

fn row(setting: &SettingValue, root: &Path) -> [String; 3] {
    let value = match &setting.value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    // Relative to the repository, as a person would type it.
    let from = match &setting.origin {
        Origin::File(file) => file.strip_prefix(root).unwrap_or(file).display().to_string(),
        origin => origin.to_string(),
    };
    [setting.key.clone(), value, from]
}
