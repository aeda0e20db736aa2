-- Who works on this store, as they describe themselves, and when they were last heard of, by the server's clock.
CREATE TABLE workers (
    name    text COLLATE "C" PRIMARY KEY,
    seen_ms bigint NOT NULL,
    body    text NOT NULL
) WITH (fillfactor = 50);

-- What only one may do at a time, and until when its holder may be waited for.
CREATE TABLE locks (
    name       text COLLATE "C" PRIMARY KEY,
    holder     text COLLATE "C" NOT NULL,
    expires_ms bigint NOT NULL
) WITH (fillfactor = 50);

-- The labels a task's worker must have, with a space between.
ALTER TABLE tasks ADD COLUMN needs text COLLATE "C" NOT NULL DEFAULT '';
