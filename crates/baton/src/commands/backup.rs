//! `baton backup`, `baton restore`

use std::fs;

use baton_engine::base::error::EngineError;
use baton_engine::settings::store_address::StoreAddress;
use serde_json::json;

use crate::cli::transfer::{BackupArgs, RestoreArgs};
use crate::context::{self, CliContext};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{self, ProgressBar};

pub(crate) async fn backup(options: &GlobalOptions, args: &BackupArgs) -> Result<String, CliError> {
    if args.file.exists() {
        return Err(CliError::refused(
            format!("{} already exists", args.file.display()),
            "choose another name, or remove the file",
        ));
    }
    let context = CliContext::open(options).await?;
    let copied = context.tasks.store.backup(&args.file).await.map_err(EngineError::from);
    context.progress.end();
    context.close().await?;
    copied?;
    let bytes = fs::metadata(&args.file).map(|about| about.len()).unwrap_or_default();
    if options.json {
        return output::json(&json!({ "file": args.file, "bytes": bytes }));
    }
    let file = args.file.display();
    Ok(format!("Backed up to {file} ({}).\nRestore it: baton restore {file} --replace\n", size(bytes)))
}

pub(crate) async fn restore(options: &GlobalOptions, args: &RestoreArgs) -> Result<String, CliError> {
    let (place, _) = context::find(options)?;
    context::attempt::check_is_person(&place)?;
    if matches!(place.store, StoreAddress::Postgres { .. }) {
        return Err(CliError::refused(
            "baton restore cannot restore a PostgreSQL store",
            "use pg_restore, or restore into a local store with --state-dir",
        ));
    }
    let target = place.store_path();
    if target.exists() && !args.replace {
        return Err(CliError::refused(
            format!("there is already a store at {}", target.display()),
            "replace it with --replace (a copy is kept), or choose another --namespace",
        ));
    }
    let progress = ProgressBar::new(options.json);
    let restored = baton_engine::settings::location::restore(&args.file, &target, &progress.onlooker());
    progress.end();
    let before = restored?;
    // Opening it upgrades a copy from an older version and finds a damaged one now.
    let context = CliContext::open_at(place.clone(), options.json).await?;
    let last = context.tasks.last_event().await?;
    context.close().await?;
    if options.json {
        return output::json(&json!({ "store": target, "before": before, "last_seq": last }));
    }
    let kept = before.map(|path| format!(" The previous store is {}.", path.display())).unwrap_or_default();
    Ok(format!("Restored {} up to event {last}.{kept}\n", target.display()))
}

fn size(bytes: u64) -> String {
    if bytes < 1024 * 1024 {
        format!("{} KiB", bytes.div_ceil(1024))
    } else {
        format!("{} MiB", bytes / (1024 * 1024))
    }
}
