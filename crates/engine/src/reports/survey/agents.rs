//! The known agents whose program is on PATH. `baton doctor` checks whether they work.

use std::path::Path;

use baton_agents::presets::known::PRESETS;

pub fn find_installed() -> Vec<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let is_installed = |program: &str| folders.iter().any(|folder| is_program(&folder.join(program)));
    PRESETS
        .iter()
        .filter(|preset| preset.command.first().is_some_and(|program| is_installed(program)))
        .map(|preset| preset.name)
        .collect()
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}
