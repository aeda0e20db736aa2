-- How many tasks of a project may run at once, for the projects that say so themselves.
CREATE TABLE project_limits (
    project text COLLATE "C" PRIMARY KEY,
    at_once bigint NOT NULL
);

-- Who asked for a task; empty for nobody, here and below.
ALTER TABLE tasks ADD COLUMN person text COLLATE "C" NOT NULL DEFAULT '';

-- Whose work runs.
ALTER TABLE leases ADD COLUMN project text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN person text COLLATE "C" NOT NULL DEFAULT '';
UPDATE leases l SET project = t.project FROM tasks t WHERE t.id = l.task AND t.project IS NOT NULL;

-- Whose work is ready: a project that is full is passed over in one step, however many of its tasks are.
ALTER TABLE ready ADD COLUMN project text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE ready ADD COLUMN person text COLLATE "C" NOT NULL DEFAULT '';
UPDATE ready r SET project = t.project FROM tasks t WHERE t.id = r.id AND t.project IS NOT NULL;
CREATE INDEX ready_by_share ON ready (role, project, person, rank, created_ms, id);
