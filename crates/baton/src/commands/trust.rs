//! `baton trust`: allows what the settings that came with a clone start and open.

use baton_engine::people::folder_trust::untrusted;
use serde_json::json;

use crate::context;
use crate::context::trust::list;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;

pub(crate) async fn run(options: &GlobalOptions) -> Result<String, CliError> {
    let place = context::find(options)?.0;
    context::attempt::check_is_person(&place)?;
    let found = untrusted(&place).await?;
    if let Some(folder) = &found {
        folder.allow()?;
    }
    let grants = found.map(|folder| folder.grants).unwrap_or_default();
    if options.json {
        return output::json(&json!({ "allowed": grants }));
    }
    if grants.is_empty() {
        return Ok("Nothing has to be allowed here.\n".to_owned());
    }
    Ok(format!(
        "Allowed for {}; whatever is added there is asked about:\n{}",
        place.settings_path().display(),
        list(&grants)
    ))
}
