-- When other processes were last told of commits, and up to which event: they are told of many at once.
ALTER TABLE counter ADD COLUMN told_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE counter ADD COLUMN told_seq bigint NOT NULL DEFAULT 0;
