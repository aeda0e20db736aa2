-- Ids are kept as the numbers they are; their order is the order of their texts. Bodies are JSON, last in
-- the row, so that reading a column never has to walk over one.

-- What is counted rather than searched for. One row; written once per commit.
CREATE TABLE counters (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    last_seq    INTEGER NOT NULL,
    last_effect INTEGER NOT NULL,
    ready       INTEGER NOT NULL,
    unaccepted  INTEGER NOT NULL
);
INSERT INTO counters VALUES (1, 0, 0, 0, 0);

CREATE TABLE tasks (
    id             INTEGER PRIMARY KEY,
    version        INTEGER NOT NULL,
    -- The number of its edges that are not met. Kept right by every write to edges.
    open_blockers  INTEGER NOT NULL,
    is_claimable   INTEGER NOT NULL,
    is_done        INTEGER NOT NULL,
    is_finished    INTEGER NOT NULL,
    is_provisional INTEGER NOT NULL,
    is_replaced    INTEGER NOT NULL,
    rank           INTEGER NOT NULL,
    created_ms     INTEGER NOT NULL,
    updated_ms     INTEGER NOT NULL,
    project        INTEGER,
    queue          TEXT NOT NULL,
    status         TEXT NOT NULL,
    role           TEXT NOT NULL,
    session        TEXT NOT NULL,
    title          TEXT NOT NULL,
    body           TEXT NOT NULL
);
-- Each ends in the task's id by itself, so each is a list in the order of the cursors.
CREATE INDEX tasks_by_age ON tasks (created_ms);
CREATE INDEX tasks_by_queue ON tasks (queue, created_ms);
CREATE INDEX tasks_by_status ON tasks (status, created_ms);
CREATE INDEX tasks_by_session ON tasks (session, created_ms);
CREATE INDEX tasks_by_project ON tasks (project, created_ms) WHERE project IS NOT NULL;

-- Exactly the tasks that could be claimed now, in claim order within each role. Narrow, so that a claim and
-- an empty poll touch a page or two however many tasks there are.
CREATE TABLE ready (
    role       TEXT NOT NULL,
    rank       INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    task       INTEGER NOT NULL,
    PRIMARY KEY (role, rank, created_ms, task)
) WITHOUT ROWID;

CREATE TABLE edges (
    task    INTEGER NOT NULL,
    blocker INTEGER NOT NULL,
    is_met  INTEGER NOT NULL,
    PRIMARY KEY (task, blocker)
) WITHOUT ROWID;
CREATE INDEX edges_by_blocker ON edges (blocker, task);

-- Blockers that are done and whose many dependents are still being told, in id order, up to and with told_to.
CREATE TABLE unblocking (
    blocker INTEGER PRIMARY KEY,
    told_to INTEGER NOT NULL
);

-- A session's first task, so that groups are listed by age without looking at every task.
CREATE TABLE task_groups (
    session    TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    first_task INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX task_groups_by_age ON task_groups (created_ms, session);

CREATE TABLE attempts (
    id      INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    task    INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    body    TEXT NOT NULL
);
CREATE INDEX attempts_by_task ON attempts (task, number);

CREATE TABLE leases (
    attempt    INTEGER PRIMARY KEY,
    task       INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    worker     TEXT NOT NULL,
    role       TEXT NOT NULL,
    agent      TEXT NOT NULL
);

-- How many leases there are of each, so that a claim does not count them.
CREATE TABLE running (
    role   TEXT NOT NULL,
    agent  TEXT NOT NULL,
    leases INTEGER NOT NULL,
    PRIMARY KEY (role, agent)
) WITHOUT ROWID;

CREATE TABLE questions (
    id         INTEGER PRIMARY KEY,
    version    INTEGER NOT NULL,
    is_pending INTEGER NOT NULL,
    asked_ms   INTEGER NOT NULL,
    task       INTEGER,
    session    TEXT NOT NULL,
    body       TEXT NOT NULL
);
CREATE INDEX questions_by_age ON questions (asked_ms);
CREATE INDEX questions_pending ON questions (asked_ms) WHERE is_pending = 1;
CREATE INDEX questions_by_task ON questions (task, asked_ms) WHERE task IS NOT NULL;
CREATE INDEX questions_by_session ON questions (session, asked_ms);

CREATE TABLE projects (
    id         INTEGER PRIMARY KEY,
    version    INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    body       TEXT NOT NULL
);
CREATE INDEX projects_by_age ON projects (created_ms);

CREATE TABLE sessions (
    id      TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL
);

CREATE TABLE messages (
    session TEXT NOT NULL,
    number  INTEGER NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (session, number)
);

CREATE TABLE plans (
    task    INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL
);

CREATE TABLE runs (
    id      INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    body    TEXT NOT NULL
);
CREATE INDEX runs_open ON runs (id) WHERE is_open = 1;

CREATE TABLE loops (
    session TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL
);

-- seq is given out by counters, never by SQLite: a change that is undone must not leave a gap.
CREATE TABLE events (
    seq   INTEGER PRIMARY KEY,
    task  INTEGER,
    at_ms INTEGER NOT NULL,
    body  TEXT NOT NULL
);
CREATE INDEX events_by_task ON events (task) WHERE task IS NOT NULL;

CREATE TABLE outbox (
    id   INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
