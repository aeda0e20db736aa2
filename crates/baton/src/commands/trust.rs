//! `baton trust`: lets the settings that came with a clone start programs.

use baton_engine::people::folder_trust::untrusted;
use serde_json::json;

use crate::context;
use crate::context::trust::list;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;

pub(crate) async fn run(options: &GlobalOptions) -> Result<String, CliError> {
    let place = context::find(options)?.0;
    context::check_is_person(&place)?;
    let found = untrusted(&place).await?;
    if let Some(folder) = &found {
        folder.allow()?;
    }
    let programs = found.map(|folder| folder.programs).unwrap_or_default();
    if options.json {
        return output::json(&json!({ "allowed": programs }));
    }
    if programs.is_empty() {
        return Ok("Nothing has to be allowed here.\n".to_owned());
    }
    Ok(format!("Allowed, until {} changes:\n{}", place.settings_path().display(), list(&programs)))
}
