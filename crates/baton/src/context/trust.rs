//! Whether the folder's settings may start programs and open the fence.

use baton_engine::people::folder_trust::{UntrustedFolder, untrusted, untrusted_store};
use baton_engine::settings::location::StateLocation;

use crate::error::CliError;
use crate::output;

/// Refuses a store that the settings of a repository name before a person has allowed it: it is told the person's password, and
/// says what is to be done here.
pub(crate) async fn check_store(place: &StateLocation) -> Result<(), CliError> {
    match untrusted_store(place).await? {
        Some(folder) => {
            let found = describe(place, &folder);
            Err(CliError::refused(found, "read the file, then allow it as it is now: baton trust"))
        }
        None => Ok(()),
    }
}

/// Refuses to start what came with a clone before a person has allowed it. At a terminal they are asked.
pub(crate) async fn check(place: &StateLocation) -> Result<(), CliError> {
    let Some(folder) = untrusted(place).await? else { return Ok(()) };
    let found = describe(place, &folder);
    if output::confirm(&format!("{found}\nAllow this?")) {
        folder.allow()?;
        return Ok(());
    }
    Err(CliError::refused(found, "read the file, then allow it as it is now: baton trust"))
}

fn describe(place: &StateLocation, folder: &UntrustedFolder) -> String {
    let path = place.settings_path();
    format!(
        "{} is in a repository with a remote, where others can change it, and nobody has allowed yet what it starts and opens:\n{}",
        path.display(),
        list(&folder.grants).trim_end()
    )
}

/// One on each line.
pub(crate) fn list(grants: &[String]) -> String {
    let mut text = String::new();
    for grant in grants {
        text.push_str("  ");
        text.push_str(grant);
        text.push('\n');
    }
    text
}
