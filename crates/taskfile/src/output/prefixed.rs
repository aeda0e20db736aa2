//! Output mode `prefixed`: prints each complete line with the task's prefix.

use super::console::{Console, Stream};

pub(crate) struct PrefixedOutput {
    prefix: String,
    begun: Vec<u8>,
}

impl PrefixedOutput {
    pub(crate) fn new(prefix: &str) -> PrefixedOutput {
        PrefixedOutput { prefix: prefix.to_owned(), begun: Vec::new() }
    }

    pub(crate) fn take(&mut self, bytes: &[u8], console: &dyn Console) {
        self.begun.extend_from_slice(bytes);
        while let Some(end) = self.begun.iter().position(|b| *b == b'\n') {
            let rest = self.begun.split_off(end + 1);
            let line = std::mem::replace(&mut self.begun, rest);
            self.write(&line, console);
        }
    }

    /// Prints a last unterminated line.
    pub(crate) fn finish(mut self, console: &dyn Console) {
        if !self.begun.is_empty() {
            self.begun.push(b'\n');
            self.write(&self.begun, console);
        }
    }

    fn write(&self, line: &[u8], console: &dyn Console) {
        let mut whole = format!("[{}] ", self.prefix).into_bytes();
        whole.extend_from_slice(line);
        console.write(Stream::Out, &whole);
    }
}
