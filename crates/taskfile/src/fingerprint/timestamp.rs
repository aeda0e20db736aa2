//! Compares sources by modification time.

use std::fs::File;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::go::Value;

use super::{FingerprintError, FingerprintInput, file_name};

/// Up to date when no source is newer than the newest generated file or the last run.
pub(super) fn is_up_to_date(subject: &FingerprintInput<'_>) -> Result<bool, FingerprintError> {
    if subject.sources.is_empty() {
        return Ok(false);
    }
    let sources = subject.source_files()?;
    let mut made = subject.generated_files()?;
    let stamp = subject.state.join("timestamp").join(file_name(subject.task));
    let keep = |source| FingerprintError::Keep { path: stamp.clone(), source };
    if stamp.exists() {
        made.push(stamp.clone());
    } else if !subject.dry {
        stamp
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| File::create(&stamp).map(drop))
            .map_err(keep)?;
    }
    let now = SystemTime::now();
    let Some(newest) = newest(&made) else { return Ok(false) };
    let current = sources.iter().all(|s| modified_at(s).is_some_and(|at| at <= newest));
    if !subject.dry {
        File::options().write(true).open(&stamp).and_then(|f| f.set_modified(now)).map_err(keep)?;
    }
    Ok(current)
}

/// The modification time of the newest source.
pub(super) fn value(subject: &FingerprintInput<'_>) -> Result<(&'static str, Value), FingerprintError> {
    let newest = newest(&subject.source_files()?).unwrap_or(SystemTime::UNIX_EPOCH);
    let moment = jiff::Timestamp::try_from(newest).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Ok(("TIMESTAMP", Value::Time(Box::new(moment.to_zoned(jiff::tz::TimeZone::system())))))
}

fn newest(files: &[PathBuf]) -> Option<SystemTime> {
    files.iter().filter_map(modified_at).max()
}

fn modified_at(file: &PathBuf) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}
