//! Opens pages in the browser of the desktop.

use std::env;
use std::process::{Command, Stdio};

/// Opens a page; false if there is no desktop, or no opener.
pub(crate) fn open(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| env::var_os(name).is_some_and(|set| !set.is_empty()))
    {
        "xdg-open"
    } else {
        return false;
    };
    let opener = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match opener {
        Ok(mut child) => {
            // It may live as long as the browser; wait for it, so that it does not become a zombie.
            std::thread::spawn(move || child.wait());
            true
        }
        Err(_) => false,
    }
}
