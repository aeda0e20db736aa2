//! The output of one command on its way to the console.

use crate::ast::OutputStyle;

use super::console::{Console, Stream};
use super::group::GroupedOutput;
use super::prefixed::PrefixedOutput;
use super::sink::CommandSink;

/// A known output style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OutputMode {
    Interleaved,
    Group { begin: String, end: String, error_only: bool },
    Prefixed,
}

impl OutputMode {
    /// The mode a style names; `None` for an unknown name.
    pub(crate) fn parse(style: &OutputStyle) -> Option<OutputMode> {
        match style.name.as_str() {
            "" | "interleaved" => Some(OutputMode::Interleaved),
            "group" => Some(OutputMode::Group {
                begin: style.group_begin.clone(),
                end: style.group_end.clone(),
                error_only: style.group_error_only,
            }),
            "prefixed" => Some(OutputMode::Prefixed),
            _ => None,
        }
    }
}

/// How the output of one command reaches the console.
pub(crate) enum CommandOutput {
    Interleaved,
    Group(GroupedOutput),
    Prefixed(PrefixedOutput),
}

impl CommandOutput {
    /// Runs a command with its output laid out.
    pub(crate) fn run<E>(
        self,
        console: &dyn Console,
        run: impl FnOnce(CommandSink<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            CommandOutput::Interleaved if console.is_terminal() => run(CommandSink::Inherit),
            CommandOutput::Interleaved => {
                let mut out = |bytes: &[u8]| console.write(Stream::Out, bytes);
                if console.is_combined() {
                    return run(CommandSink::Combined { all: &mut out });
                }
                let mut err = |bytes: &[u8]| console.write(Stream::Err, bytes);
                run(CommandSink::Separate { out: &mut out, err: &mut err })
            }
            CommandOutput::Group(mut group) => {
                let result = run(CommandSink::Combined { all: &mut |bytes| group.take(bytes) });
                group.finish(console, result.is_err());
                result
            }
            CommandOutput::Prefixed(mut prefixed) => {
                let result = run(CommandSink::Combined { all: &mut |bytes| prefixed.take(bytes, console) });
                prefixed.finish(console);
                result
            }
        }
    }
}
