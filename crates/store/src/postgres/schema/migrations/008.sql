-- Routines are listed whenever something happens that may concern them.
CREATE INDEX records_routines ON records (place, key) WHERE kind = 'routine' AND is_open;
