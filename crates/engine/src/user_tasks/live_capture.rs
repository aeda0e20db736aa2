//! Keeps the output of a user task, both streams in one as they came, and shows it meanwhile.

use baton_agents::output::live::LiveOutput;
use baton_taskfile::{Capture, Console, Stream};

/// Takes the output of a run, both streams in one, and gives what it kept of it when the run is over.
pub(crate) trait RunCapture: Console {
    fn take(&self) -> String;
}

pub(super) struct LiveCapture {
    kept: Capture,
    live: Option<LiveOutput>,
}

impl LiveCapture {
    pub(super) fn new(live: Option<LiveOutput>) -> Self {
        Self { kept: Capture::combined(), live }
    }
}

impl RunCapture for LiveCapture {
    /// Everything that was printed.
    fn take(&self) -> String {
        if let Some(live) = &self.live {
            live.end_line();
        }
        self.kept.take().0
    }
}

impl Console for LiveCapture {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        self.kept.write(stream, bytes);
        if let Some(live) = &self.live {
            live.write(bytes);
        }
    }

    fn is_combined(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::*;

    #[test]
    fn what_is_kept_is_shown_meanwhile() {
        let live = LiveOutput::new(watch::Sender::new(0));
        let capture = LiveCapture::new(Some(live.clone()));
        capture.write(Stream::Out, b"one\ntw");
        capture.write(Stream::Err, b"o\nthree");
        assert_eq!(live.tail().text, "one\ntwo\n");
        assert_eq!(capture.take(), "one\ntwo\nthree");
        assert_eq!(live.tail().text, "one\ntwo\nthree\n");
    }
}
