//! `baton config`: each setting, its value, and where that came from.

use std::env;
use std::path::Path;

use baton_engine::base::error::EngineError;
use baton_engine::settings::layers::{Layers, Origin, Standing};
use serde_json::{Value, json};

use crate::cli::Common;
use crate::fault::Fault;
use crate::office;
use crate::output;

pub fn show(common: &Common) -> Result<String, Fault> {
    let (place, settings) = office::find(common)?;
    let path = place.settings_path();
    let layers = Layers::find(&path).map_err(EngineError::from)?;
    let mut standings = vec![
        standing("root", &json!(place.root), Origin::Default),
        standing(
            "state_dir",
            &json!(place.state_dir),
            given(common.state_dir.is_some(), "--state-dir", "BATON_STATE_DIR"),
        ),
        standing(
            "namespace",
            &json!(place.namespace),
            given(common.namespace.is_some(), "--namespace", "BATON_NAMESPACE"),
        ),
    ];
    standings.extend(layers.standings(&settings));
    // The command line has the last word on it, also where it says nothing and the settings do.
    if common.store.is_some()
        && let Some(store) = standings.iter_mut().find(|standing| standing.key == "store")
    {
        store.value = json!(place.store);
        store.origin = given(true, "--store", "BATON_STORE");
    }
    if common.json {
        let settings: Vec<Value> = standings.iter().map(as_json).collect();
        return output::json(&json!({ "settings": settings }));
    }
    let rows: Vec<[String; 3]> = standings.iter().map(|standing| row(standing, &place.root)).collect();
    Ok(output::table(["SETTING", "VALUE", "FROM"], &rows))
}

fn standing(key: &str, value: &Value, origin: Origin) -> Standing {
    Standing { key: key.to_owned(), value: value.clone(), origin }
}

/// A flag and its variable are read as one; what is in the variable did not come by the flag.
fn given(is_given: bool, flag: &'static str, variable: &str) -> Origin {
    let is_typed = env::args().any(|word| word == flag || word.starts_with(&format!("{flag}=")));
    match (is_given, is_typed) {
        (true, true) => Origin::Flag(flag),
        (true, false) => Origin::Variable(variable.to_owned()),
        (false, _) => Origin::Default,
    }
}

fn as_json(standing: &Standing) -> Value {
    json!({ "key": standing.key, "value": standing.value, "from": standing.origin.to_string() })
}

fn row(standing: &Standing, root: &Path) -> [String; 3] {
    let value = match &standing.value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    // As a person standing in the repository would type it.
    let from = match &standing.origin {
        Origin::File(file) => file.strip_prefix(root).unwrap_or(file).display().to_string(),
        origin => origin.to_string(),
    };
    [standing.key.clone(), value, from]
}
