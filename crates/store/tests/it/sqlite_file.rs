//! The SQLite file: what is refused, what survives, and sharing it between processes.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use baton_store::model::commit::Commit;
use baton_store::{Backend, SqliteOptions, SqliteStore, StoreError};

use crate::sqlite::Sqlite;
use crate::suite::make::{
    complete, create_all, created, finish_one, ready_ids, request, settled, task_id, write,
};
use crate::suite::{Fixture, run};

async fn filled(place: &Sqlite) -> SqliteStore {
    let store = place.open().await;
    create_all(&store, 0, &vec![Vec::new(); 500]).await;
    store
}

fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, SqliteOptions::default())
}

/// Opening fails and leaves the file unchanged.
fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let Err(error) = open(path) else { panic!("it was opened") };
    assert!(before == fs::read(path).unwrap(), "a refused file was changed");
    assert!(error.to_string().contains(&path.display().to_string()), "{error} does not name the file");
    assert!(!error.hint().is_empty());
    error
}

#[test]
fn a_file_that_is_not_a_store_is_refused() {
    let place = Sqlite::new();
    fs::write(place.path(), "Dear diary, today I wrote a scheduler.").unwrap();
    assert!(matches!(refused(&place.path()), StoreError::NotAStore { .. }));

    let other = place.folder.path().join("other.db");
    let conn = rusqlite::Connection::open(&other).unwrap();
    conn.execute_batch("CREATE TABLE diary (line TEXT)").unwrap();
    drop(conn);
    assert!(matches!(refused(&other), StoreError::NotAStore { .. }));
}

#[test]
fn a_newer_file_is_refused() {
    let place = Sqlite::new();
    run(async {
        place.open().await.close().await.unwrap();
        let conn = rusqlite::Connection::open(place.path()).unwrap();
        conn.pragma_update(None, "user_version", 1_000).unwrap();
        drop(conn);
        assert!(matches!(refused(&place.path()), StoreError::Newer { found: 1_000, .. }));
    });
}

#[test]
fn a_damaged_file_is_refused() {
    run(async {
        let place = Sqlite::new();
        filled(&place).await.close().await.unwrap();
        let whole = fs::read(place.path()).unwrap();

        fs::write(place.path(), "").unwrap();
        assert!(matches!(refused(&place.path()), StoreError::Damaged { .. }), "empty");
        fs::write(place.path(), &whole[..whole.len() / 2]).unwrap();
        assert!(matches!(refused(&place.path()), StoreError::Damaged { .. }), "cut off");
        fs::write(place.path(), &whole[..50]).unwrap();
        assert!(matches!(refused(&place.path()), StoreError::Damaged { .. }), "no header");
        fs::write(place.path(), &whole).unwrap();
        assert_eq!(place.open().await.ready_count().await.unwrap(), 500);
    });
}

#[test]
fn an_unclean_shutdown_triggers_a_full_check() {
    run(async {
        let place = Sqlite::new();
        let store = filled(&place).await;
        let wal = place.folder.path().join("baton.db-wal");
        // As after a power failure: the file with its log, not closed.
        let left_behind = |name: &str| {
            let path = place.folder.path().join(name);
            fs::copy(place.path(), &path).unwrap();
            fs::copy(&wal, place.folder.path().join(format!("{name}-wal"))).unwrap();
            path
        };
        let good = left_behind("good.db");
        assert_eq!(open(&good).unwrap().ready_count().await.unwrap(), 500);
        store.close().await.unwrap();

        let store = place.open().await;
        write(&store, created(1_000, &[])).await;
        let bad = left_behind("bad.db");
        let mut bytes = fs::read(&bad).unwrap();
        let middle = bytes.len() / 2 / 4096 * 4096;
        bytes[middle..middle + 4096].fill(0x5a);
        fs::write(&bad, bytes).unwrap();
        let Err(error) = open(&bad) else { panic!("a damaged file was opened") };
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    });
}

#[test]
fn a_read_only_store_is_refused() {
    run(async {
        let place = Sqlite::new();
        filled(&place).await.close().await.unwrap();
        let set_read_only = |path: &Path, is_read_only| {
            let mut permissions = fs::metadata(path).unwrap().permissions();
            permissions.set_readonly(is_read_only);
            fs::set_permissions(path, permissions).unwrap();
        };
        for path in [place.path(), place.folder.path().to_owned()] {
            set_read_only(&path, true);
            assert!(matches!(refused(&place.path()), StoreError::ReadOnly { .. }));
            set_read_only(&path, false);
        }
        let file_as_folder = place.path().join("baton.db");
        assert!(open(&file_as_folder).is_err());
        assert_eq!(place.open().await.ready_count().await.unwrap(), 500);
    });
}

#[test]
fn a_full_disk_keeps_existing_data() {
    run(async {
        let place = Sqlite::new();
        filled(&place).await.close().await.unwrap();
        let pages = u32::try_from(fs::metadata(place.path()).unwrap().len() / 4096).unwrap();
        let options = SqliteOptions { pages_max: Some(pages + 8), ..place.options() };
        let store = SqliteStore::open(&place.path(), options).unwrap();
        let mut written = 0;
        let error = loop {
            // Several at once, so that all who share the failed commit get the error.
            let mut answers = tokio::task::JoinSet::new();
            for _ in 0..4 {
                written += 1;
                let store = store.clone();
                answers.spawn(async move { (written, store.commit(created(1_000 + written, &[])).await) });
            }
            let answers = answers.join_all().await;
            for (number, answer) in &answers {
                let is_there = store.task(task_id(1_000 + number)).await.unwrap().is_some();
                assert_eq!(is_there, answer.is_ok(), "there exactly when it was acknowledged");
            }
            if let Some(error) = answers.into_iter().find_map(|(_, answer)| answer.err()) {
                break error;
            }
        };
        assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
        let before = store.ready_count().await.unwrap();
        assert!(before >= 500);
        store.close().await.unwrap();
        let store = place.open().await;
        assert_eq!(ready_ids(&store).await.len() as u64, before);
        write(&store, created(9_999, &[])).await;
    });
}

#[test]
fn a_backup_is_a_consistent_snapshot() {
    run(async {
        let place = Sqlite::new();
        let store = filled(&place).await;
        let is_over = Arc::new(AtomicBool::new(false));
        let busy = tokio::spawn({
            let (store, is_over) = (store.clone(), Arc::clone(&is_over));
            async move {
                while !is_over.load(Ordering::SeqCst) {
                    let claimed = store.claim(request("worker", 1)).await.unwrap().remove(0);
                    write(&store, settled(&claimed, complete(), 10)).await;
                }
            }
        });
        let copy = place.folder.path().join("backups").join("copy.db");
        for _ in 0..3 {
            store.backup(&copy).await.unwrap();
            let copied = open(&copy).unwrap();
            let events = copied.events_after(0, 100_000).await.unwrap();
            let last = events.last().unwrap().seq;
            assert_eq!(events.len() as u64, last, "no gap");
            let running = copied.leases().await.unwrap().len() as u64;
            let (claims, ends) = ((last - 500) / 3, (last - 500) % 3);
            assert_eq!(copied.ready_count().await.unwrap(), 500 - claims - running, "{ends}");
            copied.close().await.unwrap();
        }
        is_over.store(true, Ordering::SeqCst);
        busy.await.unwrap();
        let left: Vec<_> =
            fs::read_dir(copy.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().contains("making")), "{left:?}");
    });
}

#[test]
fn opening_creates_directories_and_closing_removes_the_log() {
    run(async {
        let place = Sqlite::new();
        let path = place.folder.path().join("a/b/baton.db");
        let store = SqliteStore::open(&path, place.options()).unwrap();
        assert!(matches!(store.commit(created(1, &[])).await.unwrap(), Commit::Written { last_seq: 1 }));
        finish_one(&store).await;
        store.close().await.unwrap();
        assert!(path.exists());
        assert!(!path.with_file_name("baton.db-wal").exists(), "put away by a clean stop");
    });
}
