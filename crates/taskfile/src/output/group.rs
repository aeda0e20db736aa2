//! Output mode `group`: prints a command's output in one piece when it ends.

use super::console::{Console, Stream};

pub(crate) struct GroupedOutput {
    begin: String,
    end: String,
    error_only: bool,
    kept: Vec<u8>,
}

impl GroupedOutput {
    pub(crate) fn new(begin: String, end: String, error_only: bool) -> GroupedOutput {
        GroupedOutput { begin, end, error_only, kept: Vec::new() }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
    }

    /// Prints nothing for a command without output, nor for a successful one in error-only mode.
    pub(crate) fn finish(self, console: &dyn Console, failed: bool) {
        if self.kept.is_empty() || (self.error_only && !failed) {
            return;
        }
        let mut whole = Vec::with_capacity(self.kept.len() + self.begin.len() + self.end.len() + 2);
        let line = |text: &str| if text.is_empty() { String::new() } else { format!("{text}\n") };
        whole.extend_from_slice(line(&self.begin).as_bytes());
        whole.extend_from_slice(&self.kept);
        whole.extend_from_slice(line(&self.end).as_bytes());
        console.write(Stream::Out, &whole);
    }
}
