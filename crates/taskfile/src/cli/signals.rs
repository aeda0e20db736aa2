//! Cancels the run on a signal.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::shell::CancelToken;

/// Cancels at the first signal and exits immediately at the third.
pub(super) fn cancel_on_signal(cancel: &CancelToken) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    let cancel = cancel.clone();
    // Without the thread, a signal only kills this process; the run does not depend on it.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for (count, signal) in signals.forever().enumerate() {
            cancel.cancel();
            if count >= 2 {
                std::process::exit(128 + signal);
            }
        }
    });
}
