-- Queued tasks that no agent may take are few among many, and people look for them.
CREATE INDEX tasks_kept ON tasks (created_ms, id) WHERE queue = 'incoming' AND NOT is_claimable;
