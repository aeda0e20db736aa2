-- Who watches the log of an attempt that runs elsewhere, and the piece of it they were last given. A watch is over in
-- seconds and of no use after a crash, so nothing of it is flushed.
CREATE UNLOGGED TABLE log_watches (
    id          text COLLATE "C" PRIMARY KEY,
    attempt     text COLLATE "C" NOT NULL,
    -- The byte it is wanted from; none for the end of it.
    wanted_from bigint,
    expires_ms  bigint NOT NULL,
    -- Written by the machine that has the log.
    machine     text,
    piece_from  bigint,
    -- How long the whole log is there.
    log_len     bigint,
    piece       bytea
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
