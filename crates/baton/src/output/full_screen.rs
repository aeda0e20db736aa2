//! The terminal as a full-screen canvas.

use std::io::Write;

/// The alternate screen of the terminal; dropping it restores the terminal.
pub(crate) struct FullScreen {}

/// Used when the terminal does not report its size.
const SIZE_DEFAULT: ScreenSize = ScreenSize { columns: 80, lines: 24 };

impl FullScreen {
    /// Switches to the alternate screen and hides the cursor.
    pub(crate) fn enter() -> Self {
        let _ = write!(std::io::stdout(), "\x1b[?1049h\x1b[?25l");
        Self {}
    }

    pub(crate) fn size() -> ScreenSize {
        match rustix::termios::tcgetwinsize(std::io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                ScreenSize { columns: size.ws_col.into(), lines: size.ws_row.into() }
            }
            _ => SIZE_DEFAULT,
        }
    }

    /// Overwrites line by line, which does not flicker, and clears the rest.
    pub(crate) fn draw(text: &str) {
        let mut frame = String::from("\x1b[H");
        for line in text.lines() {
            frame.push_str(line);
            frame.push_str("\x1b[K\r\n");
        }
        // A line break after the last line would scroll.
        frame.truncate(frame.trim_end_matches("\r\n").len());
        frame.push_str("\x1b[J");
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(frame.as_bytes()).and_then(|()| stdout.flush());
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        let mut stdout = std::io::stdout().lock();
        let _ = write!(stdout, "\x1b[?25h\x1b[?1049l").and_then(|()| stdout.flush());
    }
}

/// The size of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenSize {
    pub columns: usize,
    pub lines: usize,
}
