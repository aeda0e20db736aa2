//! Pipelined statements: all are sent before the first reply is awaited.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::postgres::connect::connector::PgConnection;
use crate::postgres::connect::fault::PostgresFault;

type QueryResult = Result<Vec<Row>, PostgresFault>;
type PendingQuery<'a> = Pin<Box<dyn Future<Output = QueryResult> + Send + 'a>>;
pub(crate) type Param = Box<dyn ToSql + Sync + Send>;

/// Boxes parameters of different types for [`Pipeline::add`].
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$(Box::new($value) as $crate::postgres::connect::pipeline::Param),*] };
}
pub(crate) use params;

pub(crate) struct Pipeline<'a> {
    conn: &'a PgConnection,
    doing: &'static str,
    sending: Vec<PendingQuery<'a>>,
}

impl<'a> Pipeline<'a> {
    pub(crate) fn new(conn: &'a PgConnection, doing: &'static str) -> Self {
        Self { conn, doing, sending: Vec::new() }
    }

    /// Adds a statement and returns the index of its result.
    pub(crate) async fn add(
        &mut self,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<usize, PostgresFault> {
        // Preparing needs a round trip the first time; sending waits for `flush`.
        let statement = self.conn.statement(sql).await?;
        let (conn, doing) = (self.conn, self.doing);
        self.sending.push(Box::pin(async move {
            let params: Vec<&(dyn ToSql + Sync)> =
                params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect();
            conn.send(doing, &statement, &params).await
        }));
        Ok(self.sending.len() - 1)
    }

    /// Adds a statement without parameters or result, such as BEGIN.
    pub(crate) fn run(&mut self, sql: &'static str) {
        let (conn, doing) = (self.conn, self.doing);
        self.sending.push(Box::pin(async move { conn.run(doing, sql).await.map(|()| Vec::new()) }));
    }

    /// Sends all statements in order and awaits every result. Returns the first failure: all later ones only say that
    /// the transaction is aborted.
    pub(crate) async fn flush(self) -> Result<Vec<Vec<Row>>, PostgresFault> {
        let mut sending = self.sending;
        let mut answers: Vec<Option<QueryResult>> = sending.iter().map(|_| None).collect();
        poll_fn(|context| {
            let mut is_all = true;
            for (future, answer) in sending.iter_mut().zip(&mut answers) {
                if answer.is_none() {
                    match future.as_mut().poll(context) {
                        Poll::Ready(ready) => *answer = Some(ready),
                        Poll::Pending => is_all = false,
                    }
                }
            }
            if is_all { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        answers.into_iter().flatten().collect()
    }
}
