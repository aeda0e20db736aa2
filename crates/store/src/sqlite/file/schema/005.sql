-- What people show to be let in: one row for each name at most, digests instead of secrets.
CREATE TABLE access_tokens (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL
) WITHOUT ROWID;
