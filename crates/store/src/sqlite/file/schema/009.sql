-- Files that were sent with messages. Their bytes are in the body, as Base64.
CREATE TABLE attachments (
    id      TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    session TEXT NOT NULL,
    at_ms   INTEGER NOT NULL,
    body    TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX attachments_by_session ON attachments (session, at_ms);
