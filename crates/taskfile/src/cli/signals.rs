//! A signal ends the run and everything it started.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::shell::CancelToken;

/// Throws the switch at the first signal, and leaves at once at the third.
pub fn cancel_on_signal(cancel: &CancelToken) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    let cancel = cancel.clone();
    // Without the thread a signal ends this process alone; the run itself does not need it.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for (count, signal) in signals.forever().enumerate() {
            cancel.cancel();
            if count >= 2 {
                std::process::exit(128 + signal);
            }
        }
    });
}
