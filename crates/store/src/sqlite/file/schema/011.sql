-- Routines: work that starts by time or by event.
CREATE TABLE routines (
    id         TEXT PRIMARY KEY,
    version    INTEGER NOT NULL,
    is_open    INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    body       TEXT NOT NULL
) WITHOUT ROWID;
