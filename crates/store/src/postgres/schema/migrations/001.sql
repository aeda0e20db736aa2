-- The first schema. Bodies are what core wrote; the columns beside them are core's words about the body.

-- The numbers of the last event and the last effect. Every writer locks this one row last and until its
-- commit, so numbers follow the order of the commits and leave no gaps. The room on its page keeps the
-- row's versions together.
CREATE TABLE counter (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    seq     bigint NOT NULL,
    effect  bigint NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
INSERT INTO counter (seq, effect) VALUES (0, 0);

CREATE TABLE tasks (
    id             text COLLATE "C" PRIMARY KEY,
    version        bigint NOT NULL,
    body           text NOT NULL,
    session        text COLLATE "C" NOT NULL,
    project        text COLLATE "C",
    queue          text COLLATE "C" NOT NULL,
    status         text COLLATE "C" NOT NULL,
    -- In lower case, to be searched in.
    title          text NOT NULL,
    role           text COLLATE "C" NOT NULL,
    rank           bigint NOT NULL,
    created_ms     bigint NOT NULL,
    updated_ms     bigint NOT NULL,
    is_claimable   boolean NOT NULL,
    is_done        boolean NOT NULL,
    is_finished    boolean NOT NULL,
    is_provisional boolean NOT NULL,
    -- The ids of the tasks that stand in for it, with a space between.
    replaced_by    text COLLATE "C" NOT NULL,
    -- Unmet edges of this task, kept right by every write to `edges`.
    open_blockers  bigint NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX tasks_by_time ON tasks (created_ms, id);
CREATE INDEX tasks_by_session ON tasks (session, created_ms, id);
CREATE INDEX tasks_by_project ON tasks (project, created_ms, id) WHERE project IS NOT NULL;
-- What is over is most of the table in the end, and then the index by time finds it soon enough.
CREATE INDEX tasks_by_queue ON tasks (queue, created_ms, id) WHERE queue <> 'done';
CREATE INDEX tasks_by_status ON tasks (status, created_ms, id) WHERE status <> 'COMPLETE';
CREATE INDEX tasks_provisional ON tasks (id) WHERE is_provisional;

-- One row for each session that has tasks: where the list of task groups is read from.
CREATE TABLE groups (
    session    text COLLATE "C" PRIMARY KEY,
    created_ms bigint NOT NULL
);
CREATE INDEX groups_by_time ON groups (created_ms, session);

-- Exactly the tasks that could be claimed now. Narrow and short-lived: it is vacuumed by the store itself,
-- so that a claim never has to step over the dead entries of the claims before it.
CREATE TABLE ready (
    id         text COLLATE "C" PRIMARY KEY,
    role       text COLLATE "C" NOT NULL,
    rank       bigint NOT NULL,
    created_ms bigint NOT NULL
) WITH (fillfactor = 70, vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ready_by_role ON ready (role, rank, created_ms, id);
-- For the list over all roles alone: `rank + 0` keeps a claim from being planned with it, which would step over
-- every ready task of the other roles.
CREATE INDEX ready_in_order ON ready ((rank + 0), created_ms, id);

CREATE TABLE edges (
    task    text COLLATE "C" NOT NULL,
    blocker text COLLATE "C" NOT NULL,
    is_met  boolean NOT NULL,
    PRIMARY KEY (task, blocker)
) WITH (fillfactor = 80);
CREATE INDEX edges_by_blocker ON edges (blocker, task);

-- Tasks that are done and have more dependents than one transaction frees; worked off in batches.
CREATE TABLE unblocking (
    blocker text COLLATE "C" PRIMARY KEY
);

CREATE TABLE leases (
    attempt    text COLLATE "C" PRIMARY KEY,
    task       text COLLATE "C" NOT NULL,
    worker     text COLLATE "C" NOT NULL,
    role       text COLLATE "C" NOT NULL,
    agent      text COLLATE "C" NOT NULL,
    expires_ms bigint NOT NULL
) WITH (fillfactor = 70, vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Every record that is not a task: projects, sessions, messages, attempts, questions, plans, runs, loops.
CREATE TABLE records (
    kind     text COLLATE "C" NOT NULL,
    key      text COLLATE "C" NOT NULL,
    version  bigint NOT NULL,
    body     text NOT NULL,
    session  text COLLATE "C",
    task     text COLLATE "C",
    -- Its place among its like: a time in milliseconds, or a number counted from 1.
    place    bigint NOT NULL,
    -- A question nobody has answered, a run that has not exited.
    is_open  boolean NOT NULL,
    PRIMARY KEY (kind, key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX records_by_task ON records (kind, task, place, key) WHERE kind IN ('attempt', 'question');
CREATE INDEX records_by_session ON records (kind, session, place, key) WHERE kind IN ('message', 'question');
CREATE INDEX records_by_place ON records (kind, place, key) WHERE kind IN ('project', 'question');
CREATE INDEX records_open ON records (kind, place, key) WHERE is_open;

CREATE TABLE events (
    seq   bigint PRIMARY KEY,
    at_ms bigint NOT NULL,
    task  text COLLATE "C",
    body  text NOT NULL
);
CREATE INDEX events_by_task ON events (task, seq) WHERE task IS NOT NULL;

CREATE TABLE outbox (
    id   bigint PRIMARY KEY,
    body text NOT NULL
) WITH (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
