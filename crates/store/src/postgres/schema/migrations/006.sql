-- Files that were sent with messages are read by session.
CREATE INDEX records_attached ON records (session, place, key) WHERE kind = 'attachment';
