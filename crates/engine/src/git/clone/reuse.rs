//! Brings folders of the person's checkout into a clone: what package managers and compilers made, and an agent would make
//! again.
//!
//! By reflink where the file system can: both sides share blocks until one of them writes. Otherwise by copy or, only where
//! the person says so, by hard link: then a program that writes into a file in place changes the person's file, too.

use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Instant;

use baton_core::task::environment::{ReuseWay, ReusedFolder};

/// What was brought in so far, and what the file system turned out to be able to do.
struct Bringing {
    way: ReuseWay,
    may_link: bool,
    files: u64,
    bytes: u64,
}

/// Brings the folder in, unless there is none or something is in its place.
pub(crate) fn bring_folder(
    from: &Path,
    to: &Path,
    name: &Path,
    may_link: bool,
) -> io::Result<Option<ReusedFolder>> {
    if fs::symlink_metadata(to).is_ok() || !fs::metadata(from).is_ok_and(|found| found.is_dir()) {
        return Ok(None);
    }
    let started = Instant::now();
    let mut bringing = Bringing { way: ReuseWay::Reflink, may_link, files: 0, bytes: 0 };
    bringing.folder(from, to)?;
    Ok(Some(ReusedFolder {
        path: name.display().to_string(),
        way: bringing.way,
        files: bringing.files,
        bytes: bringing.bytes,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}

impl Bringing {
    fn folder(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.folder(&source, &target)?;
            } else if kind.is_symlink() {
                symlink(fs::read_link(&source)?, &target)?;
                self.files += 1;
            } else if kind.is_file() {
                self.file(&source, &target)?;
            }
            // Pipes, sockets and devices hold no bytes.
        }
        // Last, because nothing can be made in a folder that may not be written.
        fs::set_permissions(to, fs::metadata(from)?.permissions())
    }

    fn file(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.files += 1;
        self.bytes += fs::metadata(from)?.len();
        if self.way == ReuseWay::Reflink {
            if reflink(from, to)? {
                return keep_times(from, to);
            }
            self.way = if self.may_link { ReuseWay::HardLink } else { ReuseWay::Copy };
        }
        if self.way == ReuseWay::HardLink {
            match fs::hard_link(from, to) {
                Ok(()) => return Ok(()),
                // Another file system, or too many links to one file.
                Err(_) => self.way = ReuseWay::Copy,
            }
        }
        copy(from, to)?;
        keep_times(from, to)
    }
}

/// Holes stay holes: an image of many gigabytes may hold next to nothing.
#[cfg(target_os = "linux")]
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    use std::io::{Read, Seek, Write};
    use std::os::unix::fs::MetadataExt;

    let found = fs::metadata(from)?;
    if found.blocks() * 512 >= found.len() {
        fs::copy(from, to)?;
        return Ok(());
    }
    let (mut source, mut target) = (File::open(from)?, File::create_new(to)?);
    target.set_len(found.len())?;
    let mut at = 0;
    loop {
        let begin = match rustix::fs::seek(&source, rustix::fs::SeekFrom::Data(at)) {
            Ok(begin) => begin,
            // Nothing but a hole up to the end.
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        at = rustix::fs::seek(&source, rustix::fs::SeekFrom::Hole(begin))?;
        source.seek(io::SeekFrom::Start(begin))?;
        target.seek(io::SeekFrom::Start(begin))?;
        io::copy(&mut (&source).take(at - begin), &mut target)?;
    }
    target.flush()?;
    target.set_permissions(found.permissions())
}

#[cfg(not(target_os = "linux"))]
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(|_| ())
}

/// Build tools compare times, so a file that looks new would be made again.
fn keep_times(from: &Path, to: &Path) -> io::Result<()> {
    let found = fs::metadata(from)?;
    let times = FileTimes::new().set_modified(found.modified()?).set_accessed(found.accessed()?);
    match File::open(to).and_then(|file| file.set_times(times)) {
        // One that its owner may not read or write keeps the time it was made.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// False where the file system cannot.
#[cfg(target_os = "linux")]
fn reflink(from: &Path, to: &Path) -> io::Result<bool> {
    let source = File::open(from)?;
    let target = File::create_new(to)?;
    if rustix::fs::ioctl_ficlone(&target, &source).is_err() {
        drop(target);
        fs::remove_file(to)?;
        return Ok(false);
    }
    target.set_permissions(source.metadata()?.permissions())?;
    Ok(true)
}

/// Elsewhere a copy of the standard library shares blocks by itself where it can.
#[cfg(not(target_os = "linux"))]
fn reflink(_from: &Path, _to: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::{Duration, SystemTime};

    use super::*;

    fn checkout(home: &Path) -> std::path::PathBuf {
        let from = home.join("node_modules");
        fs::create_dir_all(from.join("left-pad/bin")).unwrap();
        fs::write(from.join("left-pad/index.js"), "pad").unwrap();
        fs::set_permissions(from.join("left-pad/index.js"), fs::Permissions::from_mode(0o755)).unwrap();
        let old = SystemTime::now() - Duration::from_hours(24);
        File::options().append(true).open(from.join("left-pad/index.js")).unwrap().set_modified(old).unwrap();
        symlink("../index.js", from.join("left-pad/bin/pad")).unwrap();
        from
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn holes_stay_holes() {
        use std::io::{Seek, Write};
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("image"), home.path().join("copy"));
        let mut image = File::create_new(&from).unwrap();
        image.set_len(64 << 20).unwrap();
        image.seek(io::SeekFrom::Start(32 << 20)).unwrap();
        image.write_all(b"data").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read(&from).unwrap(), fs::read(&to).unwrap());
        assert!(fs::metadata(&to).unwrap().blocks() * 512 < 8 << 20);
    }

    #[test]
    fn a_folder_comes_with_its_links_its_rights_and_its_times() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (checkout(home.path()), home.path().join("clone"));
        let brought = bring_folder(&from, &to, Path::new("node_modules"), false).unwrap().unwrap();
        assert_eq!((brought.path.as_str(), brought.files, brought.bytes), ("node_modules", 2, 3));
        assert_ne!(brought.way, ReuseWay::HardLink, "nobody has allowed it");
        assert_eq!(fs::read_to_string(to.join("left-pad/bin/pad")).unwrap(), "pad");
        let (was, is) = (from.join("left-pad/index.js"), to.join("left-pad/index.js"));
        let (was, is) = (fs::metadata(was).unwrap(), fs::metadata(is).unwrap());
        assert_eq!(was.modified().unwrap(), is.modified().unwrap());
        assert_eq!(was.permissions(), is.permissions());
        assert_ne!(was.ino(), is.ino(), "a write on one side is not seen on the other");
    }

    #[test]
    fn files_are_linked_only_where_the_person_says_so() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (checkout(home.path()), home.path().join("clone"));
        let brought = bring_folder(&from, &to, Path::new("node_modules"), true).unwrap().unwrap();
        let inode = |root: &Path| fs::metadata(root.join("left-pad/index.js")).unwrap().ino();
        assert_eq!(brought.way == ReuseWay::HardLink, inode(&from) == inode(&to), "{brought}");
        assert_ne!(brought.way, ReuseWay::Copy, "one of the faster ways works on one file system");
    }

    #[test]
    fn nothing_is_overwritten_and_nothing_missing_is_made() {
        let home = tempfile::tempdir().unwrap();
        let from = checkout(home.path());
        let name = Path::new("node_modules");
        assert_eq!(bring_folder(&from, &from, name, false).unwrap(), None);
        assert_eq!(
            bring_folder(&home.path().join("none"), &home.path().join("to"), name, false).unwrap(),
            None
        );
        assert!(!home.path().join("to").exists());
    }
}
