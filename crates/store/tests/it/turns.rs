//! Concurrent processes on PostgreSQL: each learns what the others write, and none can block the others.

use std::future::poll_fn;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::Duration;

use baton_store::{Backend, PostgresOptions};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client, NoTls};

use crate::killed::start_writer;
use crate::postgres::{Postgres, run};
use crate::suite::Fixture;
use crate::suite::make::{created, request, write};

/// Only a hang takes this long. The server ends a transaction that idles while holding its slot after three seconds.
const PATIENCE: Duration = Duration::from_mins(3);

/// The notifications of a namespace, received without the store, which would also poll.
struct Announcements {
    _client: Client,
    seqs: UnboundedReceiver<u64>,
}

impl Announcements {
    async fn listen(options: &PostgresOptions) -> Self {
        let (client, mut connection) = tokio_postgres::connect(&options.url, NoTls).await.unwrap();
        let (sender, seqs) = unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(notification) = message
                    && let Ok(seq) = notification.payload().parse()
                {
                    let _ = sender.send(seq);
                }
            }
        });
        client.batch_execute(&format!("LISTEN \"baton_{}\"", options.namespace)).await.unwrap();
        Self { _client: client, seqs }
    }

    async fn until(&mut self, seq: u64) {
        let reach = async { while self.seqs.recv().await.unwrap() < seq {} };
        timeout(PATIENCE, reach).await.unwrap();
    }
}

#[test]
fn the_last_of_many_commits_is_announced() {
    run(async {
        let place = Postgres::new();
        let store = place.open().await;
        let mut announced = Announcements::listen(&place.options).await;
        for burst in 0..20 {
            let mut seq = 0;
            for number in 0..5 {
                seq = write(&store, created(burst * 10 + number, &[])).await;
            }
            announced.until(seq).await;
        }
    });
}

#[test]
fn closing_announces_the_last_commit() {
    run(async {
        let place = Postgres::new();
        place.open().await.close().await.unwrap();
        let mut announced = Announcements::listen(&place.options).await;
        for life in 0..5 {
            let store = place.open().await;
            write(&store, created(life * 10, &[])).await;
            let seq = write(&store, created(life * 10 + 1, &[])).await;
            store.close().await.unwrap();
            announced.until(seq).await;
        }
    });
}

#[test]
fn a_stalled_process_does_not_block_others_for_long() {
    const STOPS: u32 = 6;
    run(async {
        let place = Postgres::new();
        let store = place.open().await;
        let mut writer = start_writer(&place.options, 1);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines().map_while(Result::ok);
        for stop in 0..STOPS {
            // It is in the middle of its work, at an arbitrary moment.
            tokio::task::block_in_place(|| lines.find(|line| line.starts_with("pair "))).unwrap();
            signal("-STOP", writer.id());
            timeout(PATIENCE, write(&store, created(stop, &[]))).await.unwrap();
            let claimed = timeout(PATIENCE, store.claim(request("beside", 1))).await.unwrap().unwrap();
            assert_eq!(claimed.len(), 1);
            signal("-CONT", writer.id());
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
    });
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}
