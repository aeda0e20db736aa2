//! Connects the streams of one command.

use std::io::PipeReader;
use std::process::{Command, Stdio};

use super::console::{Console, ProcessConsole, Stream};

/// Where a command's output goes.
pub(crate) enum CommandSink<'s> {
    /// The process's own streams.
    Inherit,
    /// Stdout and stderr separately.
    Separate { out: &'s mut (dyn FnMut(&[u8]) + Send), err: &'s mut (dyn FnMut(&[u8]) + Send) },
    /// Both streams in one pipe.
    Combined { all: &'s mut (dyn FnMut(&[u8]) + Send) },
    /// Stdout is captured, stderr is inherited.
    OutOnly { out: &'s mut (dyn FnMut(&[u8]) + Send) },
}

/// One pipe and the callback for its output.
pub(crate) struct OutputPipe<'s> {
    pub reader: PipeReader,
    pub take: &'s mut (dyn FnMut(&[u8]) + Send),
}

impl<'s> CommandSink<'s> {
    /// Connects the command's streams and returns the pipes to read.
    pub(crate) fn connect(self, command: &mut Command) -> std::io::Result<Vec<OutputPipe<'s>>> {
        match self {
            CommandSink::Inherit => {
                command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
                Ok(Vec::new())
            }
            CommandSink::Separate { out, err } => {
                let (out_reader, out_writer) = std::io::pipe()?;
                let (err_reader, err_writer) = std::io::pipe()?;
                command.stdout(out_writer).stderr(err_writer);
                Ok(vec![
                    OutputPipe { reader: out_reader, take: out },
                    OutputPipe { reader: err_reader, take: err },
                ])
            }
            CommandSink::Combined { all } => {
                let (reader, writer) = std::io::pipe()?;
                command.stdout(writer.try_clone()?).stderr(writer);
                Ok(vec![OutputPipe { reader, take: all }])
            }
            CommandSink::OutOnly { out } => {
                let (reader, writer) = std::io::pipe()?;
                command.stdout(writer).stderr(Stdio::inherit());
                Ok(vec![OutputPipe { reader, take: out }])
            }
        }
    }

    pub(crate) fn print(&mut self, text: &str) {
        match self {
            CommandSink::Inherit => {
                ProcessConsole.write(Stream::Out, text.as_bytes());
            }
            CommandSink::Separate { out, .. } | CommandSink::OutOnly { out } => out(text.as_bytes()),
            CommandSink::Combined { all } => all(text.as_bytes()),
        }
    }

    pub(crate) fn write_error(&mut self, text: &str) {
        match self {
            CommandSink::Inherit | CommandSink::OutOnly { .. } => {
                ProcessConsole.write(Stream::Err, text.as_bytes());
            }
            CommandSink::Separate { err, .. } => err(text.as_bytes()),
            CommandSink::Combined { all } => all(text.as_bytes()),
        }
    }
}
