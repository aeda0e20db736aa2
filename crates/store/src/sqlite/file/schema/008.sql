-- What the checks said about a tree: the same tree is never checked twice.
CREATE TABLE verdicts (
    key        TEXT PRIMARY KEY,
    version    INTEGER NOT NULL,
    checked_ms INTEGER NOT NULL,
    body       TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX verdicts_by_time ON verdicts (checked_ms);
