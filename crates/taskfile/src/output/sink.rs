//! Where the output of one command goes, connected to its streams.

use std::io::PipeReader;
use std::process::{Command, Stdio};

use super::console::{Console, Stream, Terminal};

/// Where a command's output goes.
pub enum Sink<'s> {
    /// The process's own streams.
    Inherit,
    /// Taken apart.
    Apart { out: &'s mut (dyn FnMut(&[u8]) + Send), err: &'s mut (dyn FnMut(&[u8]) + Send) },
    /// Taken as one, in its order.
    Together { all: &'s mut (dyn FnMut(&[u8]) + Send) },
    /// Output is taken, errors go to the process's own stream.
    OutOnly { out: &'s mut (dyn FnMut(&[u8]) + Send) },
}

/// One pipe and what takes its output.
pub struct Pipe<'s> {
    pub reader: PipeReader,
    pub take: &'s mut (dyn FnMut(&[u8]) + Send),
}

impl<'s> Sink<'s> {
    /// Connects the command's streams; the pipes to read from.
    pub(crate) fn connect(self, command: &mut Command) -> std::io::Result<Vec<Pipe<'s>>> {
        match self {
            Sink::Inherit => {
                command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
                Ok(Vec::new())
            }
            Sink::Apart { out, err } => {
                let (out_reader, out_writer) = std::io::pipe()?;
                let (err_reader, err_writer) = std::io::pipe()?;
                command.stdout(out_writer).stderr(err_writer);
                Ok(vec![Pipe { reader: out_reader, take: out }, Pipe { reader: err_reader, take: err }])
            }
            Sink::Together { all } => {
                let (reader, writer) = std::io::pipe()?;
                command.stdout(writer.try_clone()?).stderr(writer);
                Ok(vec![Pipe { reader, take: all }])
            }
            Sink::OutOnly { out } => {
                let (reader, writer) = std::io::pipe()?;
                command.stdout(writer).stderr(Stdio::inherit());
                Ok(vec![Pipe { reader, take: out }])
            }
        }
    }

    pub(crate) fn print(&mut self, text: &str) {
        match self {
            Sink::Inherit => {
                Terminal.write(Stream::Out, text.as_bytes());
            }
            Sink::Apart { out, .. } | Sink::OutOnly { out } => out(text.as_bytes()),
            Sink::Together { all } => all(text.as_bytes()),
        }
    }

    pub(crate) fn complain(&mut self, text: &str) {
        match self {
            Sink::Inherit | Sink::OutOnly { .. } => {
                Terminal.write(Stream::Err, text.as_bytes());
            }
            Sink::Apart { err, .. } => err(text.as_bytes()),
            Sink::Together { all } => all(text.as_bytes()),
        }
    }
}
