//! Whether the folder's settings may start programs.

use baton_engine::people::folder_trust::{UntrustedFolder, untrusted};
use baton_engine::settings::location::StateLocation;

use crate::error::CliError;
use crate::output;

/// Refuses to start what came with a clone before a person has allowed it. At a terminal they are asked.
pub(crate) async fn check(place: &StateLocation) -> Result<(), CliError> {
    let Some(folder) = untrusted(place).await? else { return Ok(()) };
    let found = describe(place, &folder);
    if output::confirm(&format!("{found}\nThey run with your permissions. Allow them?")) {
        folder.allow()?;
        return Ok(());
    }
    Err(CliError::refused(found, "read the file, then allow it as it is now: baton trust"))
}

fn describe(place: &StateLocation, folder: &UntrustedFolder) -> String {
    let path = place.settings_path();
    format!(
        "{} came with this clone and starts programs:\n{}",
        path.display(),
        list(&folder.programs).trim_end()
    )
}

/// One program on each line.
pub(crate) fn list(programs: &[String]) -> String {
    let mut text = String::new();
    for program in programs {
        text.push_str("  ");
        text.push_str(program);
        text.push('\n');
    }
    text
}
