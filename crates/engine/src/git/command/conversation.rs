//! A git process that answers one request after another.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::git::error::GitError;

/// For one answer.
const TIMEOUT: Duration = Duration::from_mins(2);

#[derive(Debug)]
pub(crate) struct GitConversation {
    tried: &'static str,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Dropping it ends the process.
    _child: Child,
}

impl GitConversation {
    pub(crate) fn new(tried: &'static str, mut child: Child) -> Result<Self, GitError> {
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(GitError::Garbled { tried, answer: "it has no pipes".to_owned() });
        };
        Ok(Self { tried, stdin, stdout: BufReader::new(stdout), _child: child })
    }

    /// One request, and the line it is answered with.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<String, GitError> {
        let mut line = String::new();
        let exchange = async {
            self.stdin.write_all(request).await?;
            self.stdin.flush().await?;
            self.stdout.read_line(&mut line).await
        };
        match tokio::time::timeout(TIMEOUT, exchange).await {
            Ok(Ok(0)) => Err(self.ended("it ended")),
            Ok(Ok(_)) => Ok(line.trim_end_matches('\n').to_owned()),
            Ok(Err(error)) => Err(self.ended(&error.to_string())),
            Err(_) => Err(GitError::TimedOut { tried: self.tried, after: TIMEOUT }),
        }
    }

    /// Bytes that follow an answer, into `sink`.
    pub(crate) async fn copy(
        &mut self,
        bytes: u64,
        sink: &mut (impl AsyncWriteExt + Unpin),
    ) -> Result<(), GitError> {
        let copied = tokio::io::copy(&mut (&mut self.stdout).take(bytes), sink).await;
        match copied {
            Ok(copied) if copied == bytes => Ok(()),
            Ok(_) => Err(self.ended("it ended early")),
            Err(error) => Err(self.ended(&error.to_string())),
        }
    }

    fn ended(&self, why: &str) -> GitError {
        GitError::Garbled { tried: self.tried, answer: why.to_owned() }
    }
}
