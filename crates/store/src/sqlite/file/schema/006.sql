-- How many tasks of a project may run at once, for the projects that say so themselves.
CREATE TABLE project_limits (
    project INTEGER PRIMARY KEY,
    at_once INTEGER NOT NULL
);

-- Who asked for a task. Behind the body, since it is read only where people have limits.
ALTER TABLE tasks ADD COLUMN person TEXT;

-- Whose work runs.
ALTER TABLE leases ADD COLUMN project INTEGER;
ALTER TABLE leases ADD COLUMN person TEXT;
UPDATE leases SET project = (SELECT project FROM tasks WHERE id = leases.task);

-- The ready tasks once more, by whose they are: a project that is full is passed over in one step, however many of its
-- tasks are ready. -1 and '' stand for none. Filled by the first claim under a limit and kept from then on; until then
-- it is empty, and costs nothing.
CREATE TABLE ready_shares (
    task       INTEGER PRIMARY KEY,
    role       TEXT NOT NULL,
    project    INTEGER NOT NULL,
    person     TEXT NOT NULL,
    rank       INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
);
CREATE INDEX ready_shares_in_order ON ready_shares (role, project, person, rank, created_ms);
ALTER TABLE counters ADD COLUMN keeps_shares INTEGER NOT NULL DEFAULT 0;
