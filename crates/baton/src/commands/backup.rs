//! `baton backup`, `baton restore`: a copy of the store, made while work goes on, and put back.

use std::fs;

use baton_engine::base::error::EngineError;
use baton_engine::settings::store_address::StoreAddress;
use serde_json::json;

use crate::cli::Common;
use crate::cli::keeping::{Backup, Restore};
use crate::fault::{Fault, REFUSED};
use crate::office::{self, Office};
use crate::output::{self, Progress};

pub async fn backup(common: &Common, asked: &Backup) -> Result<String, Fault> {
    if asked.file.exists() {
        return Err(Fault {
            message: format!("{} is there already", asked.file.display()),
            hint: "choose another name, or remove it first".to_owned(),
            code: REFUSED,
        });
    }
    let office = Office::open(common).await?;
    let copied = office.tasks.store.backup(&asked.file).await.map_err(EngineError::from);
    office.progress.end();
    office.close().await?;
    copied?;
    let bytes = fs::metadata(&asked.file).map(|about| about.len()).unwrap_or_default();
    if common.json {
        return output::json(&json!({ "file": asked.file, "bytes": bytes }));
    }
    let file = asked.file.display();
    Ok(format!(
        "{file} holds everything up to this moment ({}).\nPut it back: baton restore {file} --replace\n",
        size(bytes)
    ))
}

pub async fn restore(common: &Common, asked: &Restore) -> Result<String, Fault> {
    let (place, _) = office::find(common)?;
    if matches!(place.store, StoreAddress::Postgres { .. }) {
        return Err(Fault {
            message: "a store on PostgreSQL is put back by PostgreSQL's own tools".to_owned(),
            hint: "use pg_restore, or restore into a file with --state-dir".to_owned(),
            code: REFUSED,
        });
    }
    let target = place.store_path();
    if target.exists() && !asked.replace {
        return Err(Fault {
            message: format!("there is a store at {}", target.display()),
            hint: "say --replace to put the copy in its place (it is kept beside it), or choose another --namespace".to_owned(),
            code: REFUSED,
        });
    }
    let progress = Progress::new(common.json);
    let restored = baton_engine::settings::place::restore(&asked.file, &target, &progress.onlooker());
    progress.end();
    let before = restored?;
    // Opened once, so that a copy of an older Baton is brought up to date and a bad one is found now.
    let office = Office::at(place.clone(), common.json).await?;
    let last = office.tasks.last_event().await?;
    office.close().await?;
    if common.json {
        return output::json(&json!({ "store": target, "before": before, "last_seq": last }));
    }
    let kept =
        before.map(|path| format!(" What was there before is {}.", path.display())).unwrap_or_default();
    Ok(format!("{} is as it was when the copy was made, up to event {last}.{kept}\n", target.display()))
}

fn size(bytes: u64) -> String {
    if bytes < 1024 * 1024 {
        format!("{} KiB", bytes.div_ceil(1024))
    } else {
        format!("{} MiB", bytes / (1024 * 1024))
    }
}
