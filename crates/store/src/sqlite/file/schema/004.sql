-- Who works on this store, as they describe themselves, and when they were last heard of.
CREATE TABLE workers (
    name    TEXT PRIMARY KEY,
    seen_ms INTEGER NOT NULL,
    body    TEXT NOT NULL
) WITHOUT ROWID;

-- What only one may do at a time, and until when its holder may be waited for.
CREATE TABLE locks (
    name       TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    expires_ms INTEGER NOT NULL
) WITHOUT ROWID;
