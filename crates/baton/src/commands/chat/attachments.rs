//! The files of a message.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use baton_core::records::attachment::{ATTACHED_BYTES_MAX, AttachedFile, AttachmentError, check_attachments};
use serde_json::{Value, json};

use crate::error::CliError;

/// As the API takes them.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Vec<Value>, CliError> {
    let files = paths.iter().map(|path| read_file(path)).collect::<Result<Vec<AttachedFile>, _>>()?;
    check_attachments(&files).map_err(|error| refused(&error))?;
    let as_json = |file: &AttachedFile| json!({ "name": file.name(), "media_type": file.media_type(), "data": file.data() });
    Ok(files.iter().map(as_json).collect())
}

fn read_file(path: &Path) -> Result<AttachedFile, CliError> {
    let unreadable = |error: std::io::Error| {
        CliError::usage(
            format!("cannot read {}: {error}", path.display()),
            "name an existing file after --attach",
        )
    };
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too large, without reading all of it.
    let limit = ATTACHED_BYTES_MAX as u64 + 1;
    File::open(path).map_err(unreadable)?.take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    AttachedFile::from_bytes(&name, &bytes).map_err(|error| refused(&error))
}

fn refused(error: &AttachmentError) -> CliError {
    CliError::usage(error.to_string(), "attach fewer or smaller files, or put them into the repository")
}
