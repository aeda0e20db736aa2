//! The terminal as a full-screen canvas.

use std::io::Write;

/// The whole terminal, for a screen that is drawn again and again; given back as it was when dropped.
pub struct FullScreen {}

/// Drawn on when the terminal does not say how large it is.
const SIZE_UNKNOWN: ScreenSize = ScreenSize { columns: 80, lines: 24 };

impl FullScreen {
    /// The second screen, without a cursor.
    pub fn take() -> Self {
        let _ = write!(std::io::stdout(), "\x1b[?1049h\x1b[?25l");
        Self {}
    }

    pub fn size() -> ScreenSize {
        match rustix::termios::tcgetwinsize(std::io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                ScreenSize { columns: size.ws_col.into(), lines: size.ws_row.into() }
            }
            _ => SIZE_UNKNOWN,
        }
    }

    /// Line over line, so that nothing flickers; what was below goes.
    pub fn draw(text: &str) {
        let mut frame = String::from("\x1b[H");
        for line in text.lines() {
            frame.push_str(line);
            frame.push_str("\x1b[K\r\n");
        }
        // The line break behind the last line would scroll a full screen.
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

/// Columns and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenSize {
    pub columns: usize,
    pub lines: usize,
}
