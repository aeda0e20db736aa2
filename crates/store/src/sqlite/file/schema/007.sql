-- Runs of recipes by session and by the time they started, for lists. Runs from before have no time and come first.
ALTER TABLE runs ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN started_ms INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET session = coalesce(json_extract(body, '$.session'), '');
CREATE INDEX runs_in_order ON runs (started_ms, id);
CREATE INDEX runs_of_session ON runs (session, started_ms, id);
