//! Reads files that people and agents write: regular ones only, and not more than a limit.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

/// Reads a regular file of at most `bytes_max` bytes. A device, a pipe or a folder is refused without being read, also
/// behind a symbolic link.
pub fn read_regular_file(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    // A pipe without a writer would block.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(open(path, flags, Mode::empty())?);
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let too_large =
        || Error::new(ErrorKind::FileTooLarge, format!("the file is larger than {bytes_max} bytes"));
    if about.len() > bytes_max {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(too_large()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(read_regular_file(&at("link"), 4).unwrap(), b"text");
        for (name, message) in [
            ("file", "the file is larger than 3 bytes"),
            ("zero", "not a regular file"),
            ("pipe", "not a regular file"),
            (".", "not a regular file"),
        ] {
            assert_eq!(read_regular_file(&at(name), 3).unwrap_err().to_string(), message, "{name}");
        }
    }
}
