-- Receipts of messages that carried a key of the sender's own: sent again, they do nothing twice.
CREATE TABLE receipts (
    key     TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL
) WITHOUT ROWID;
