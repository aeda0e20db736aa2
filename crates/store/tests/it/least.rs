//! Runs the SQL that Baton prints on a real server: the roles it creates can do their work and nothing else.

use baton_core::base::time::Timestamp;
use baton_store::model::query::EventRetention;
use baton_store::postgres::{SetupNames, setup_sql};
use baton_store::{Backend, PostgresOptions, PostgresStore};

use crate::postgres::{Postgres, run};
use crate::server::{missing, psql, shared};
use crate::suite::make::{created, finish_one, request, task_id, write};

fn names(namespace: &str) -> SetupNames {
    SetupNames {
        database: format!("work_{namespace}"),
        owner: format!("owner_{namespace}"),
        role: format!("daily_{namespace}"),
        namespace: namespace.to_owned(),
    }
}

/// The shared server with another user and database.
fn address(user: &str, database: &str) -> String {
    let shared = shared().unwrap();
    let host = shared.split(' ').find(|word| word.starts_with("host=")).unwrap_or_default().to_owned();
    format!("{host} user={user} dbname={database}")
}

async fn denied(address: &str, sql: &str) -> String {
    let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let error = client.batch_execute(sql).await.expect_err(sql);
    error.as_db_error().unwrap_or_else(|| panic!("{sql}: {error}")).message().to_owned()
}

#[test]
fn the_daily_role_has_least_privileges() {
    if let Some(reason) = missing() {
        println!("SKIPPED: {reason}");
        return;
    }
    if std::env::var_os("BATON_TEST_POSTGRES").is_some() {
        println!("SKIPPED: makes roles, which a server that is not our own is spared");
        return;
    }
    run(async {
        let namespace = Postgres::new().options.namespace;
        let names = names(&namespace);
        let sql = setup_sql(&names).unwrap();
        psql(&sql);
        psql(&sql);

        let options = |user: &str| PostgresOptions::new(address(user, &names.database), namespace.clone());
        let error = PostgresStore::open(&options(&names.role)).await.map(drop).unwrap_err().to_string();
        assert!(error.contains("baton store init"), "before there are tables: {error}");
        let owner = PostgresStore::open(&options(&names.owner)).await.unwrap();
        owner.close().await.unwrap();

        let store = PostgresStore::open(&options(&names.role)).await.unwrap();
        let mut news = store.subscribe();
        write(&store, created(1, &[])).await;
        write(&store, created(2, &[1])).await;
        news.changed().await.unwrap();
        finish_one(&store).await;
        let claimed = store.claim(request("worker", 5)).await.unwrap();
        assert_eq!(claimed.iter().map(|one| one.task.value.id()).collect::<Vec<_>>(), [task_id(2)]);
        assert!(store.events_after(0, 100).await.unwrap().len() > 3);
        store.prune(&EventRetention { events_before: Timestamp::from_ms(1), rows_max: 10 }).await.unwrap();
        store.close().await.unwrap();

        let daily = address(&names.role, &names.database);
        for sql in [
            "CREATE DATABASE mine".to_owned(),
            "CREATE ROLE mine".to_owned(),
            "CREATE SCHEMA mine".to_owned(),
            "CREATE TABLE public.mine ()".to_owned(),
            format!("CREATE TABLE baton_{namespace}.mine ()"),
            format!("DROP TABLE baton_{namespace}.tasks"),
            format!("ALTER TABLE baton_{namespace}.tasks ADD COLUMN mine text"),
            format!("TRUNCATE baton_{namespace}.events"),
            "SELECT * FROM pg_authid".to_owned(),
            "COPY (SELECT 1) TO PROGRAM 'cat'".to_owned(),
            "CREATE TEMP TABLE mine ()".to_owned(),
        ] {
            let told = denied(&daily, &sql).await;
            assert!(told.contains("permission denied") || told.contains("must be"), "{sql}: {told}");
        }
        another_schema_stays_closed(&names, &daily).await;
        let elsewhere = address(&names.role, "postgres");
        let told = denied(&elsewhere, "CREATE SCHEMA mine").await;
        assert!(told.contains("permission denied"), "{told}");

        psql(&format!(
            "DROP DATABASE {} WITH (FORCE); DROP ROLE {}; DROP ROLE {};",
            names.database, names.owner, names.role
        ));
    });
}

async fn another_schema_stays_closed(names: &SetupNames, daily: &str) {
    psql(&format!(
        "\\connect {}\nCREATE SCHEMA another; CREATE TABLE another.secrets AS SELECT 42 AS answer;",
        names.database
    ));
    let told = denied(daily, "SELECT * FROM another.secrets").await;
    assert_eq!(told, "permission denied for schema another");
}
