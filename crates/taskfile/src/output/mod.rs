//! The styles of output: as it comes, grouped by command, or with the task's name on every line.

mod group;
mod prefixed;

use crate::ast::OutputStyle;
use crate::compile::Compiled;
use crate::load::LoadError;
use crate::run::{Engine, RunError};
use crate::shell::{Console, Failure, Sink, Stream};
use crate::vars::Renderer;

use group::Group;
use prefixed::Prefixed;

/// A style that is one of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Style {
    Interleaved,
    Group { begin: String, end: String, error_only: bool },
    Prefixed,
}

impl Style {
    pub fn of(style: &OutputStyle) -> Result<Style, LoadError> {
        match style.name.as_str() {
            "" | "interleaved" => Ok(Style::Interleaved),
            "group" => Ok(Style::Group {
                begin: style.group_begin.clone(),
                end: style.group_end.clone(),
                error_only: style.group_error_only,
            }),
            "prefixed" => Ok(Style::Prefixed),
            other => Err(LoadError::OutputStyle { name: other.to_owned() }),
        }
    }
}

/// How the output of one command reaches the console.
pub enum Wrapped {
    Interleaved,
    Group(Group),
    Prefixed(Prefixed),
}

impl Wrapped {
    pub fn new(engine: &Engine<'_>, compiled: &Compiled<'_>) -> Result<Wrapped, RunError> {
        Ok(match &engine.style {
            _ if compiled.task.interactive => Wrapped::Interleaved,
            Style::Interleaved => Wrapped::Interleaved,
            Style::Prefixed => Wrapped::Prefixed(Prefixed::new(&compiled.prefix)),
            Style::Group { begin, end, error_only } => {
                let mut render = Renderer::new(&compiled.variables.values, &engine.host);
                let (begin, end) = (render.text(begin), render.text(end));
                render.finish()?;
                Wrapped::Group(Group::new(begin, end, *error_only))
            }
        })
    }

    /// Runs a command with its output wrapped.
    pub fn run(
        self,
        console: &dyn Console,
        run: impl FnOnce(Sink<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Wrapped::Interleaved if console.is_terminal() => run(Sink::Inherit),
            Wrapped::Interleaved => {
                let mut out = |bytes: &[u8]| console.write(Stream::Out, bytes);
                if console.is_together() {
                    return run(Sink::Together { all: &mut out });
                }
                let mut err = |bytes: &[u8]| console.write(Stream::Err, bytes);
                run(Sink::Apart { out: &mut out, err: &mut err })
            }
            Wrapped::Group(mut group) => {
                let result = run(Sink::Together { all: &mut |bytes| group.take(bytes) });
                group.finish(console, result.is_err());
                result
            }
            Wrapped::Prefixed(mut prefixed) => {
                let result = run(Sink::Together { all: &mut |bytes| prefixed.take(bytes, console) });
                prefixed.finish(console);
                result
            }
        }
    }
}
