//! The only place that prints. Data goes to standard output, talk to standard error.

use std::io::Write;
use std::process::ExitCode;

/// Prints data and says how that went. A reader that went away (`baton … | head`) is not an error.
pub fn data(text: &str) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to tell it to if this fails too.
            let _ = writeln!(std::io::stderr(), "baton: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}
