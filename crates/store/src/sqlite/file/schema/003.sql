-- Agents on which nothing is started for a while, or until a person has seen to it; one row for each at most.
CREATE TABLE holds (
    agent   TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    body    TEXT NOT NULL
) WITHOUT ROWID;

-- What was used, by project and by day.
CREATE TABLE spendings (
    account TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL
) WITHOUT ROWID;
