//! axe-core, which checks accessibility. It comes from the npm registry and is cached outside the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::driver::skipped;

const VERSION: &str = "4.10.3";

/// Its script; none, with a message, if it cannot be downloaded.
pub(crate) fn script() -> Option<String> {
    let folder = cache();
    let file = folder.join(format!("axe-core-{VERSION}.min.js"));
    if !file.is_file() {
        fs::create_dir_all(&folder).ok()?;
        if !fetch(&folder, &file) {
            skipped("axe-core cannot be downloaded: neither npm nor curl reaches the npm registry");
            return None;
        }
    }
    Some(fs::read_to_string(file).unwrap())
}

fn cache() -> PathBuf {
    let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    home.unwrap_or_else(std::env::temp_dir).join("baton-tests")
}

/// Downloads it with npm, or with curl if npm is missing.
fn fetch(folder: &Path, file: &Path) -> bool {
    let scratch = tempfile::tempdir_in(folder).unwrap();
    let name = format!("axe-core-{VERSION}.tgz");
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(scratch.path()).output();
        output.is_ok_and(|output| output.status.success())
    };
    let address = format!("https://registry.npmjs.org/axe-core/-/{name}");
    let has_archive =
        run("npm", &["pack", "--silent", "--fetch-timeout=60000", &format!("axe-core@{VERSION}")])
            || run("curl", &["--fail", "--silent", "--location", "--output", &name, &address]);
    has_archive
        && run("tar", &["-xzf", &name, "package/axe.min.js"])
        && fs::rename(scratch.path().join("package/axe.min.js"), file).is_ok()
}
