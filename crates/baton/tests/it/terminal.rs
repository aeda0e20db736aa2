//! A pseudo-terminal: a program in it, its output, and typed lines.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The user's end and the program's end.
pub(crate) fn pair() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    (File::from(person), OpenOptions::new().read(true).write(true).open(name).unwrap())
}

/// A program whose standard streams are the terminal.
pub(crate) struct TerminalProcess {
    person: File,
    child: Child,
    shown: Vec<u8>,
}

impl TerminalProcess {
    pub(crate) fn start(mut command: Command) -> Self {
        let (person, program) = pair();
        command.stdin(program.try_clone().unwrap()).stdout(program.try_clone().unwrap()).stderr(program);
        Self { person, child: command.spawn().unwrap(), shown: Vec::new() }
    }

    /// Waits until this is shown.
    pub(crate) fn until(&mut self, what: &str) {
        while !self.shown().contains(what) {
            assert!(self.read(), "\"{what}\" was never shown: {}", self.shown());
        }
    }

    /// Waits until it ends; returns its status and output.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        while self.read() {}
        (self.child.wait().unwrap(), self.shown())
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown).into_owned()
    }

    /// False once the program has closed its end.
    fn read(&mut self) -> bool {
        let mut piece = [0; 4096];
        let count = self.person.read(&mut piece).unwrap_or(0);
        self.shown.extend_from_slice(&piece[..count]);
        count > 0
    }
}

/// Types a line.
pub(crate) fn types(person: &mut File, line: &str) {
    writeln!(person, "{line}").unwrap();
}
