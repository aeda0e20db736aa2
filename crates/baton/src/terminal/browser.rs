//! The person's own browser, where there is a screen to show it on.

use std::env;
use std::process::{Command, Stdio};

/// Asks the desktop to show a page; false where there is no desktop, or it does not know how.
pub fn open(url: &str) -> bool {
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
    let asked = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match asked {
        Ok(mut child) => {
            // It may stay for as long as the browser does. Somebody has to see it end, or it stays on as a zombie.
            std::thread::spawn(move || child.wait());
            true
        }
        Err(_) => false,
    }
}
