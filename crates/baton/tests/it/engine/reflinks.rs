//! Reused folders on file systems that share blocks, each in a file that is mounted for the test.
//!
//! Where there is no such file system, or this user may not mount one, the tests say so and are skipped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::store_choice::report_skipped;
use super::test_repo::{TestRepo, read};

/// XFS needs 300 MB; the file has holes instead.
const DISK_BYTES: u64 = 512 << 20;

/// Unmounted when dropped.
struct LoopDisk(PathBuf);

impl LoopDisk {
    /// Why there is none, else.
    fn mount(kind: &str, home: &Path) -> Result<Self, String> {
        let (image, folder) = (home.join(format!("{kind}.img")), home.join(kind));
        File::create(&image).unwrap().set_len(DISK_BYTES).unwrap();
        fs::create_dir(&folder).unwrap();
        run(Command::new(format!("mkfs.{kind}")).arg("-q").arg(&image))?;
        run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&folder))?;
        Ok(Self(folder))
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        // Lazily: whatever still looks at it must not keep the test's folder from being removed.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

fn reuse_on(kind: &str) {
    let agent = "cat modules/7 > seen.txt; echo changed > modules/7; work";
    let mut repo = TestRepo::with_agent(
        agent,
        "[room]\ndisk_mb = 0\n[worktree]\nreuse = [\"modules\"]\nreuse_links = true",
    );
    let disk = match LoopDisk::mount(kind, &repo.home) {
        Ok(disk) => disk,
        Err(reason) => return report_skipped(&format!("no {kind} to try: {reason}")),
    };
    let folder = disk.0.join("repository");
    run(Command::new("cp").arg("-a").arg(&repo.folder).arg(&folder)).unwrap();
    repo.folder = folder;
    fs::create_dir(repo.folder.join("modules")).unwrap();
    for number in 0..20 {
        fs::write(repo.folder.join(format!("modules/{number}")), format!("{number}\n")).unwrap();
    }
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let reused = repo.show(&task)["environment"]["reused"][0].clone();
    assert_eq!((&reused["way"], &reused["files"]), (&"reflink".into(), &20.into()), "{reused}");
    assert_eq!(repo.git(&["show", &format!("baton/{task}:seen.txt")]), "7");
    assert_eq!(read(repo.folder.join("modules/7")), "7\n", "your checkout is as it was");
}

#[test]
fn folders_come_by_reflink_on_btrfs() {
    reuse_on("btrfs");
}

#[test]
fn folders_come_by_reflink_on_xfs() {
    reuse_on("xfs");
}
